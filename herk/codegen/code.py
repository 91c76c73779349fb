"""From sympy expressions to lines of plain Python over floats, which numba compiles well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import sympy as sp
from sympy.simplify.cse_main import tree_cse

from herk.codegen.equations import Equations
from herk.codegen.special import elementary
from herk.core import InputError

_CIRCULAR = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")
_SAME = (*_CIRCULAR, "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log", "erf", "erfc", "gamma")
_CALLS = {name: name for name in _SAME} | {"Abs": "abs", "Max": "max", "Min": "min", "loggamma": "lgamma"}
_RECIPROCALS = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh"}
_JUMPS = (sp.sign, sp.Heaviside)  # their argument is written more than once
MANY = 50  # expressions in which looking for common parts of sums takes longer than it saves
_LONGEST_PRODUCT = 16  # integer powers up to this one are written as products

# How tightly a piece of text binds: sum, product with a leading minus, product, atom or call.
_SUM, _MINUS, _PRODUCT, _ATOM = range(4)


def lines(assignments: Sequence[tuple[str, Any]], names: Mapping[sp.Symbol, str], prefix: str) -> list[str]:
    """Return statements that evaluate every `(target, expression)`.

    Common parts come first, in variables that start with `prefix`.

    No target may be a name that an expression uses: all expressions see the values before the first
    statement.
    """
    texts = dict(names)
    statements: list[str] = []
    fresh = (f"{prefix}{i}" for i in count())

    def put(target: str, expression: sp.Expr) -> None:
        statements.append(f"{target} = {_Printer(texts).text(expression)}")

    def name(expression: sp.Expr, symbol: sp.Symbol) -> None:
        target = next(fresh)
        put(target, expression)
        texts[symbol] = target

    expressions = [elementary(sp.sympify(expression)) for _, expression in assignments]
    # Branches stay together: a part taken out of a branch would be evaluated where its condition does not
    # hold.
    standing = {branch: sp.Dummy(real=True) for branch in _branches(expressions)}
    expressions = [e.xreplace(standing) for e in expressions]
    used = set().union(*(e.free_symbols for e in expressions))
    for branch, symbol in standing.items():
        if symbol in used:  # the others sit inside a branch
            name(branch, symbol)
    parts, results = _shared(tuple(expressions))
    for symbol, expression in parts:
        name(_named_repeats(expression, name), symbol)
    for (target, _), expression in zip(assignments, results, strict=True):
        put(target, _named_repeats(expression, name))
    return statements


@lru_cache(maxsize=1 << 10)  # stages for different selections have many formulas in common
def _shared(expressions: tuple[sp.Expr, ...]) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
    """Return common parts and what is left; of many expressions only equal parts, not parts of sums."""
    if len(expressions) <= MANY:
        return sp.cse(expressions, symbols=_dummies())  # type: ignore[no-any-return]
    return tree_cse(expressions, _dummies(), order="none")  # type: ignore[no-any-return]


@lru_cache(maxsize=8)  # a system has several texts, made one after another
def prepared(equations: Equations) -> tuple[Equations, Mapping[sp.Symbol, str]]:
    """Return the equations over real symbols with exact numbers, and the text of every symbol.

    `t`, `y0`, `y1`, ..., `par_0`, ...
    """
    given = [equations.t, *equations.states, *equations.parameters]
    real: dict[sp.Basic, sp.Basic] = {s: sp.Symbol(s.name, real=True) for s in given}
    matrices = (equations.E, equations.f, equations.g)
    foreign = sorted(str(s) for s in set().union(*(m.free_symbols for m in matrices)) - set(given))
    if foreign:
        raise InputError(
            f"The equations contain {', '.join(foreign)}, which is neither the time nor a state and has no"
            " value."
        )
    E, f, g = (m.xreplace(real | _exact(m)) for m in matrices)
    symbols = [real[s] for s in given]
    n, count = equations.n, len(equations.parameters)
    texts = ["t", *(f"y{j}" for j in range(n)), *(f"par_{k}" for k in range(count))]
    names = dict(zip(symbols, texts, strict=True))
    return Equations(symbols[0], tuple(symbols[1 : n + 1]), E, f, g, tuple(symbols[n + 1 :])), names


def literal(value: sp.Expr) -> str:
    """Return the double nearest to a number, as text that reads back exactly."""
    try:
        number = value.p / value.q if isinstance(value, sp.Rational) else float(value.evalf(30))
    except OverflowError:
        raise InputError(f"The number {value} is too large for a double.") from None
    except TypeError:
        raise InputError(
            f"The expression {value} has no real value, so no code can be made from it."
        ) from None
    return repr(number)


def power(base: str, exponent: int) -> str:
    """Return base**exponent, exponent >= 1, as a product that shares its squares."""
    if exponent == 1:
        return base
    if exponent % 2:
        return f"{power(base, exponent - 1)}*{base}"
    half = power(base, exponent // 2)
    return f"{half}*{half}" if exponent == 2 else f"({half})*({half})"


def _exact(matrix: sp.ImmutableDenseMatrix) -> dict[sp.Basic, sp.Basic]:
    """Return fractions for the floating-point numbers.

    Constants are then combined exactly and x**0.5 is seen to be a root.
    """
    kept = {
        e.exp for e in matrix.atoms(sp.Pow) if isinstance(e.exp, sp.Float) and sp.Rational(2 * e.exp).q > 1
    }
    return {x: sp.Rational(x) for x in matrix.atoms(sp.Float) - kept}


def _dummies() -> Iterator[sp.Dummy]:
    while True:
        yield sp.Dummy(real=True)


def _branches(expressions: Iterable[sp.Expr]) -> list[sp.Basic]:
    parts = (part for e in expressions for part in sp.preorder_traversal(e))
    return list(dict.fromkeys(part for part in parts if isinstance(part, sp.Piecewise)))


def _is_repeated(e: sp.Basic) -> bool:
    """Tell whether the text of e contains its first argument more than once."""
    if isinstance(e, sp.Pow):
        return (
            isinstance(e.exp, sp.Rational)
            and e.exp.q <= 2
            and 1 < abs(e.exp) <= _LONGEST_PRODUCT
            and not e.base.is_number
        )
    return isinstance(e, _JUMPS)


def _named_repeats(expression: sp.Expr, name: Any) -> sp.Expr:
    """Give a variable to every argument that would otherwise be written, and evaluated, several times."""
    while True:
        found = [
            e.args[0]
            for e in sp.preorder_traversal(expression)
            if _is_repeated(e) and not e.args[0].is_Symbol
        ]
        if not found:
            return expression
        innermost = found[-1]
        symbol = sp.Dummy(real=True)
        name(innermost, symbol)
        expression = expression.xreplace({innermost: symbol})


class _Printer:
    """Prints one expression; methods return the text and how tightly it binds."""

    def __init__(self, names: Mapping[sp.Symbol, str]) -> None:
        self.names = names

    def text(self, e: sp.Basic, level: int = _SUM) -> str:
        """Return the text of e, in parentheses if it binds less tightly than `level`."""
        text, own = self._any(e)
        return text if own >= level else f"({text})"

    def _any(self, e: sp.Basic) -> tuple[str, int]:
        if isinstance(e, sp.Expr) and e.is_number:
            return self._number(e)
        for kind in type(e).__mro__:
            method = getattr(self, f"_print_{kind.__name__}", None)
            if method is not None:
                return method(e)  # type: ignore[no-any-return]
        name = type(e).__name__
        if name in _CALLS:
            return f"{_CALLS[name]}({', '.join(self.text(a) for a in e.args)})", _ATOM
        if name in _RECIPROCALS:
            return f"1.0/{_RECIPROCALS[name]}({self.text(e.args[0])})", _PRODUCT
        raise InputError(
            f"No code can be made from {name}, which appears as {e}; write it with elementary functions."
        )

    def _number(self, e: sp.Expr) -> tuple[str, int]:
        text = literal(e)
        return text, _MINUS if text.startswith("-") else _ATOM

    def _print_Symbol(self, e: sp.Symbol) -> tuple[str, int]:  # noqa: N802 - named after sympy's classes
        if e not in self.names:
            raise InputError(f"The symbol {e} is neither the time nor a state and has no value.")
        return self.names[e], _ATOM

    def _print_Add(self, e: sp.Add) -> tuple[str, int]:  # noqa: N802
        terms = [self.text(a, _MINUS) for a in e.args if not a.is_number]
        constant = sp.Add(*(a for a in e.args if a.is_number))
        if constant != 0:
            terms.append(literal(constant))
        signed = [f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in terms]
        return "".join([terms[0], *signed[1:]]), _SUM

    def _print_Mul(self, e: sp.Mul) -> tuple[str, int]:  # noqa: N802
        numbers = [a for a in e.args if a.is_number]
        others = [a for a in e.args if not a.is_number]
        below = [1 / a for a in others if _is_reciprocal(a)]
        above = [self.text(a, _PRODUCT) for a in others if not _is_reciprocal(a)]
        factor = literal(sp.Mul(*numbers)) if numbers else "1.0"
        sign = "-" if factor.startswith("-") else ""
        factor = factor.removeprefix("-")
        if factor != "1.0" or not above:
            above.insert(0, factor)
        text = sign + "*".join(above)
        if below:
            under = "*".join(self.text(a, _PRODUCT if len(below) > 1 else _ATOM) for a in below)
            text += f"/({under})" if len(below) > 1 else f"/{under}"
        return text, _MINUS if sign else _PRODUCT

    def _print_Pow(self, e: sp.Pow) -> tuple[str, int]:  # noqa: N802
        if _is_reciprocal(e):
            return f"1.0/{self.text(1 / e, _ATOM)}", _PRODUCT
        if not (isinstance(e.exp, sp.Rational) and e.exp.q <= 2 and e.exp <= _LONGEST_PRODUCT):
            return f"pow({self.text(e.base)}, {self.text(e.exp)})", _ATOM
        whole, half = divmod(e.exp.p, e.exp.q)
        if not whole:
            return f"sqrt({self.text(e.base)})", _ATOM
        base = self.text(e.base, _ATOM)
        return power(base, int(whole)) + (f"*sqrt({base})" if half else ""), _PRODUCT

    def _print_sign(self, e: sp.Expr) -> tuple[str, int]:
        x = self.text(e.args[0], _ATOM)
        return f"(1.0 if {x} > 0.0 else -1.0 if {x} < 0.0 else 0.0)", _ATOM

    def _print_Heaviside(self, e: sp.Expr) -> tuple[str, int]:  # noqa: N802
        x = self.text(e.args[0], _ATOM)
        return f"(1.0 if {x} > 0.0 else 0.0 if {x} < 0.0 else {self.text(e.args[1])})", _ATOM

    def _print_DiracDelta(self, _: sp.Expr) -> tuple[str, int]:  # noqa: N802
        return "0.0", _ATOM  # the derivative of a jump, right almost everywhere

    def _print_floor(self, e: sp.Expr) -> tuple[str, int]:
        return f"round_down({self.text(e.args[0])})", _ATOM

    def _print_ceiling(self, e: sp.Expr) -> tuple[str, int]:
        return f"round_up({self.text(e.args[0])})", _ATOM

    def _print_Mod(self, e: sp.Expr) -> tuple[str, int]:  # noqa: N802
        return f"modulo({self.text(e.args[0])}, {self.text(e.args[1])})", _ATOM

    def _print_Derivative(self, e: sp.Expr) -> tuple[str, int]:  # noqa: N802
        if isinstance(e.args[0], (sp.floor, sp.ceiling)):
            return "0.0", _ATOM
        raise InputError(f"The derivative {e} is not known, so no code can be made from it.")

    def _print_Subs(self, e: sp.Subs) -> tuple[str, int]:  # noqa: N802
        return self._print_Derivative(e.expr)

    def _print_Piecewise(self, e: sp.Piecewise) -> tuple[str, int]:  # noqa: N802
        text = ""
        for value, condition in e.args:
            if condition == sp.true:
                return f"({text}{self.text(value)})", _ATOM
            text += f"{self.text(value)} if {self.text(condition)} else "
        return f"({text}nan)", _ATOM

    def _print_Relational(self, e: sp.core.relational.Relational) -> tuple[str, int]:  # noqa: N802
        return f"({self.text(e.lhs)} {e.rel_op} {self.text(e.rhs)})", _ATOM

    def _print_And(self, e: sp.And) -> tuple[str, int]:  # noqa: N802
        return f"({' and '.join(self.text(a) for a in e.args)})", _ATOM

    def _print_Or(self, e: sp.Or) -> tuple[str, int]:  # noqa: N802
        return f"({' or '.join(self.text(a) for a in e.args)})", _ATOM

    def _print_Not(self, e: sp.Not) -> tuple[str, int]:  # noqa: N802
        return f"(not {self.text(e.args[0])})", _ATOM

    def _print_ITE(self, e: sp.ITE) -> tuple[str, int]:  # noqa: N802
        condition, first, second = (self.text(a) for a in e.args)
        return f"({first} if {condition} else {second})", _ATOM

    def _print_BooleanAtom(self, e: sp.Basic) -> tuple[str, int]:  # noqa: N802
        return str(bool(e)), _ATOM


def _is_reciprocal(e: sp.Expr) -> bool:
    return isinstance(e, sp.Pow) and isinstance(e.exp, sp.Rational) and e.exp < 0
