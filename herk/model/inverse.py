"""Functions taken back: which values an argument may have where a function has a given one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from herk.codegen.numbers import PRECISION

Numbers = Sequence[sp.Expr]
MOST_WHOLE = 10_000  # exponents
LARGEST = 700  # the exponential beyond is no double


def values_of(outer: sp.Expr, value: sp.Expr, t: sp.Symbol) -> list[tuple[sp.Expr, sp.Expr]] | None:
    """Return arguments and their values where a function of one argument has a value; None if unknown.

    Where a function jumps (sign, Heaviside), its argument is zero.
    """
    number = sp.sympify(value)
    if not number.is_Rational:
        number = number.evalf(PRECISION)
    if not number.is_real:
        return [] if number.is_number and number.is_real is False else None
    if isinstance(outer, sp.Mul):
        return [(each, sp.S.Zero) for each in outer.args if t in each.free_symbols] if not number else None
    if isinstance(outer, sp.Pow):
        return _of_power(outer, number, t)
    if len(outer.args) != 1 and not isinstance(outer, sp.Heaviside):
        return None
    for kinds, back in BACK:
        if isinstance(outer, kinds):
            return [(outer.args[0], each) for each in back(number)]
    return None


def _of_power(outer: sp.Pow, value: sp.Expr, t: sp.Symbol) -> list[tuple[sp.Expr, sp.Expr]] | None:
    base, exponent = outer.args
    if t not in base.free_symbols:
        if not base.is_positive or base == 1:
            return None
        return [(exponent, sp.log(value) / sp.log(base))] if value > 0 else []
    if (
        t in exponent.free_symbols
        or not exponent.is_Rational
        or max(exponent.q, abs(exponent.p)) > MOST_WHOLE
    ):
        return None
    if value == 0:
        return [(base, sp.S.Zero)]
    root = abs(value) ** (1 / exponent)
    both = exponent.q == 1 and exponent.p % 2 == 0
    if value < 0 and (both or exponent.q != 1):
        return []
    return [(base, sign * root) for sign in ((1, -1) if both else (1 if value > 0 else -1,))]


def _within(low: float, high: float, back: Callable[[sp.Expr], sp.Expr]) -> Callable[[sp.Expr], Numbers]:
    return lambda value: [back(value)] if low < value < high else []


def _even(least: int, back: Callable[[sp.Expr], sp.Expr]) -> Callable[[sp.Expr], Numbers]:
    return lambda value: [sign * back(value) for sign in (1, -1)] if value > least else []


def _where_it_jumps(value: sp.Expr) -> Numbers:
    return [sp.S.Zero] if abs(value) <= 1 else []


BACK: tuple[tuple[tuple[Any, ...], Callable[[sp.Expr], Numbers]], ...] = (
    ((sp.sign, sp.Heaviside), _where_it_jumps),
    ((sp.Abs,), lambda value: [value, -value] if value >= 0 else []),
    ((sp.exp,), lambda value: [sp.log(value)] if value > 0 else []),
    ((sp.log,), _within(-LARGEST, LARGEST, sp.exp)),
    ((sp.sinh,), lambda value: [sp.asinh(value)]),
    ((sp.asinh,), _within(-LARGEST, LARGEST, sp.sinh)),
    ((sp.tanh,), _within(-1, 1, sp.atanh)),
    ((sp.atan,), _within(-1.57079632679, 1.57079632679, sp.tan)),
    ((sp.erf,), _within(-1, 1, sp.erfinv)),
    ((sp.erfc,), _within(0, 2, sp.erfcinv)),
    ((sp.cosh,), _even(1, sp.acosh)),
    ((sp.sech,), lambda value: [s * sp.acosh(1 / value) for s in (1, -1)] if 0 < value < 1 else []),
)
