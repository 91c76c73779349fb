"""All partial derivatives of a formula in one pass, shared subexpressions differentiated once."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

Gradient = dict[sp.Symbol, sp.Expr]


@lru_cache(maxsize=1 << 14)
def gradient(expr: sp.Expr) -> Gradient:
    """Return the partial derivatives that are not zero, by symbol."""
    return {symbol: value for symbol, value in _gradient(expr, {}).items() if value != 0}


def _gradient(expr: sp.Expr, done: dict[sp.Expr, Gradient]) -> Gradient:
    if expr.is_Symbol:
        return {expr: sp.S.One}
    if expr.is_number:
        return {}
    if expr not in done:
        done[expr] = (
            _sum(expr, done) if expr.is_Add else _product(expr, done) if expr.is_Mul else _chain(expr, done)
        )
    return done[expr]


def _collected(parts: list[tuple[sp.Symbol, sp.Expr]]) -> Gradient:
    terms: dict[sp.Symbol, list[sp.Expr]] = {}
    for symbol, value in parts:
        terms.setdefault(symbol, []).append(value)
    return {symbol: sp.Add(*values) for symbol, values in terms.items()}


def _sum(expr: sp.Expr, done: dict[sp.Expr, Gradient]) -> Gradient:
    return _collected([part for term in expr.args for part in _gradient(term, done).items()])


def _product(expr: sp.Expr, done: dict[sp.Expr, Gradient]) -> Gradient:
    parts = []
    for i, factor in enumerate(expr.args):
        inner = _gradient(factor, done)
        if inner:
            others = sp.Mul(*expr.args[:i], *expr.args[i + 1 :])
            parts += [(symbol, others * value) for symbol, value in inner.items()]
    return _collected(parts)


def _chain(expr: sp.Expr, done: dict[sp.Expr, Gradient]) -> Gradient:
    if expr.is_Pow and expr.exp.is_number:
        slopes = _of_logarithm(expr.base, done) if expr.exp.is_negative else None
        if slopes is not None:
            return {symbol: expr.exp * expr * slope for symbol, slope in slopes.items()}
        outer = expr.exp * expr.base ** (expr.exp - 1)
        return {symbol: outer * value for symbol, value in _gradient(expr.base, done).items()}
    if isinstance(expr, (sp.sin, sp.cos, sp.exp, sp.log, sp.tanh)):
        outer = expr.fdiff(1)
        return {symbol: outer * value for symbol, value in _gradient(expr.args[0], done).items()}
    if isinstance(expr, sp.Piecewise):
        return _pieces(expr, done)
    if isinstance(expr, (sp.floor, sp.ceiling)):  # constant between its jumps
        return {}
    if isinstance(expr, sp.frac):
        return _gradient(expr.args[0], done)
    if isinstance(expr, sp.Mod):
        number, modulus = expr.args
        return _gradient(number - modulus * sp.floor(number / modulus), done)
    return {symbol: sp.diff(expr, symbol) for symbol in sorted(expr.free_symbols, key=str)}


def _of_logarithm(base: sp.Expr, done: dict[sp.Expr, Gradient]) -> Gradient | None:
    """Return the derivatives of log(base), where base is cosh(u) or c + a exp(u).

    What grows like exp(u) and has a negative power is zero where it exceeds all doubles; its derivative would
    be infinite over infinite there.
    """
    if isinstance(base, sp.cosh):
        return {s: sp.tanh(base.args[0]) * value for s, value in _gradient(base.args[0], done).items()}
    grown = [term for term in sp.Add.make_args(base) if term.has(sp.exp)]
    if not base.is_Add or len(grown) != 1:
        return None
    rest, (factor, power) = base - grown[0], grown[0].as_independent(sp.exp, as_Add=False)
    if not isinstance(power, sp.exp):
        return None
    share = 1 / (1 + rest / factor * sp.exp(-power.args[0])) if rest.is_number and factor.is_number else None
    if share is None:  # a may be a parameter that is zero
        share = factor / (factor + rest * sp.exp(-power.args[0]))
    parts = [(s, share * value) for s, value in _gradient(power.args[0], done).items()]
    parts += [(s, value / base) for s, value in _gradient(rest, done).items()]
    parts += [(s, share / factor * value) for s, value in _gradient(factor, done).items()]
    return _collected(parts)


def _pieces(expr: sp.Piecewise, done: dict[sp.Expr, Gradient]) -> Gradient:
    """Differentiate branch by branch; not evaluated, because sympy would compare all conditions anew."""
    branches = [(_gradient(value, done), condition) for value, condition in expr.args]
    symbols = sorted({symbol for entries, _ in branches for symbol in entries}, key=str)
    return {
        symbol: sp.Piecewise(
            *((entries.get(symbol, sp.S.Zero), c) for entries, c in branches), evaluate=False
        )
        for symbol in symbols
    }
