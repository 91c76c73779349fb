"""Many formulas evaluated at one point in any precision: a list of operations in which each shared subexpression occurs once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import sympy as sp

Number = Any  # mpmath.mpf
Operation = Callable[..., Number]
# Functions that sympy and mpmath know under the same name.
_FUNCTIONS = (sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.acosh, sp.atanh, sp.exp)


class Tape:
    """The operations behind a list of expressions in the given symbols."""

    def __init__(self, symbols: Sequence[sp.Symbol], expressions: Sequence[sp.Expr]) -> None:
        """Write the operations down in an order in which each finds its operands done."""
        self._operations: list[tuple[Operation, tuple[int, ...]]] = []
        self._places: dict[sp.Basic, int] = {symbol: i for i, symbol in enumerate(symbols)}
        self._count = len(symbols)
        self._results = [self._place(expr) for expr in expressions]

    def __call__(self, values: Sequence[Number]) -> list[Number]:
        """Return the values of the expressions for these values of the symbols."""
        done = list(values)
        for operation, operands in self._operations:
            done.append(operation(*[done[i] for i in operands]))
        return [done[i] for i in self._results]

    def _place(self, expr: sp.Expr) -> int:
        if expr not in self._places:
            operation, operands = _operation(expr)
            places = tuple(self._place(operand) for operand in operands)
            self._operations.append((operation, places))
            self._places[expr] = self._count
            self._count += 1
        return self._places[expr]


def _operation(expr: sp.Expr) -> tuple[Operation, Sequence[sp.Expr]]:
    """Return what to do with the values of which subexpressions."""
    if expr.is_Add:
        return _sum, expr.args
    if expr.is_Mul:
        return _product, expr.args
    if expr.is_Rational:
        return (lambda: mpmath.mpf(expr.p) / expr.q), ()
    if expr.is_Float:
        return (lambda: mpmath.mp.make_mpf(expr._mpf_)), ()
    if expr.is_Atom:
        return (lambda: mpmath.mpmathify(str(sp.N(expr, mpmath.mp.dps + 5)))), ()
    if expr.is_Pow:
        return _power(expr)
    if isinstance(expr, _FUNCTIONS) and hasattr(mpmath, expr.func.__name__):
        return getattr(mpmath, expr.func.__name__), expr.args
    symbols = sorted(expr.free_symbols, key=str)
    return sp.lambdify(symbols, expr, modules="mpmath"), symbols


def _power(expr: sp.Expr) -> tuple[Operation, Sequence[sp.Expr]]:
    if expr.exp.is_Integer:
        whole = int(expr.exp)
        return (lambda base: base**whole), (expr.base,)
    if expr.exp.is_Rational and expr.exp.q == 2:
        odd = int(expr.exp.p)
        return (lambda base: mpmath.sqrt(base) ** odd), (expr.base,)
    return mpmath.power, (expr.base, expr.exp)


def _sum(*terms: Number) -> Number:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _product(*factors: Number) -> Number:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total
