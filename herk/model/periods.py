"""Functions of time that return: their periods, and all times at which a sine has a value."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import sympy as sp

from herk.codegen.numbers import PRECISION, without_floats
from herk.core.dae import Array

TURNING = (sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc)
LONGEST = 1000  # periods of a part in one of the whole
SHIFTS = (0.1234, 1.7321, -2.6458)  # values with which it is seen whether a function returns
NONE = np.zeros(0)


class TooOften(Exception):  # noqa: N818 - no error: what is to be done about it, others know
    """A function changes its sign more often than can be met one by one."""

    def __init__(self, many: float, least: float) -> None:
        """Note about how often, and the shortest time between two of these."""
        super().__init__(many, least)
        self.many, self.least = many, least


def affine(function: sp.Expr, t: sp.Symbol) -> tuple[sp.Expr, sp.Expr] | None:
    """Return slope and value at zero of a linear function; None if it is none."""
    if function.has(sp.floor, sp.ceiling, sp.Heaviside, sp.sign, sp.Abs, sp.Piecewise, sp.Max, sp.Min):
        return None
    slope = sp.diff(function, t)
    if t in slope.free_symbols:
        slope = sp.expand(slope)
    if t in slope.free_symbols or slope.is_zero:
        return None
    return slope, function.xreplace({t: sp.S.Zero})


def family(
    turning: sp.Expr, value: sp.Expr, t: sp.Symbol, span: tuple[float, float], most: int
) -> Array | None:
    """Return when a sine or cosine of a linear function has a value in the span; None of others."""
    line = affine(turning.args[0], t)
    if line is None:
        return None
    rate, start = (float((each / (2 * sp.pi)).evalf(PRECISION)) for each in line)
    number = value.evalf(PRECISION)
    if not number.is_real or not abs(number) <= 1:
        return NONE
    if not math.isfinite(rate) or rate == 0.0:
        return NONE
    angle = (sp.asin if isinstance(turning, sp.sin) else sp.acos)(value) / (2 * sp.pi)
    first = float(angle.evalf(PRECISION))
    second = 0.5 - first if isinstance(turning, sp.sin) else -first
    low, high = sorted(rate * end + start for end in span)
    if not 2 * (high - low) < most:
        apart = sorted({(second - first) % 1.0, (first - second) % 1.0} - {0.0}) or [1.0]
        raise TooOften(2 * (high - low), apart[0] / abs(rate))
    turns = np.arange(math.floor(low) - 1, math.ceil(high) + 2)
    if value == 0:  # whole and half turns, each of them a number that rounding leaves alone
        phases = np.concatenate([turns, turns + 0.5]) + (0.25 if isinstance(turning, sp.cos) else 0.0)
    else:
        phases = np.concatenate([turns + first, turns + second])
    phases = phases[(phases > low) & (phases < high)]
    return np.sort((phases - start) / rate)


def period(function: sp.Expr, t: sp.Symbol) -> float | None:
    """Return after what time a function returns; None if it does not, or not so soon."""
    exact = without_floats(function)
    parts = [each for each in exact.atoms(*TURNING, sp.floor, sp.ceiling) if t in each.free_symbols]
    rates = {each: line[0] for each in parts if (line := affine(each.args[0], t)) is not None}
    if not rates:
        return None
    alone = {each: 2 * sp.pi / abs(rate) if isinstance(each, TURNING) else 1 / abs(rate)
             for each, rate in rates.items()}  # fmt: skip
    first = next(iter(alone.values()))
    ratios = [each / first for each in alone.values()]
    if not all(ratio.is_Rational and max(ratio.p, ratio.q) <= LONGEST for ratio in ratios):
        return None
    times = reduce(math.lcm, (int(ratio.p) for ratio in ratios))
    share = reduce(math.gcd, (int(ratio.q) for ratio in ratios))
    whole = first * sp.Rational(times, share)
    if times > LONGEST:
        return None
    return float(whole.evalf(PRECISION)) if _returns(exact, t, rates, whole) else None


def _returns(function: sp.Expr, t: sp.Symbol, rates: dict[sp.Expr, sp.Expr], length: sp.Expr) -> bool:
    """Tell whether a function is the same after a time, in which its parts turn, or step, so often."""
    known = {each: sp.Dummy() for each in rates}
    inside = function.xreplace(known)
    steps = {
        dummy: dummy + rates[each] * length for each, dummy in known.items() if not isinstance(each, TURNING)
    }
    later = inside.xreplace({t: t + length} | steps)
    here = {
        symbol: sp.Float(shift)
        for symbol, shift in zip((t, *known.values()), SHIFTS * len(known), strict=False)
    }
    try:
        gap, size = (abs(complex(each.xreplace(here).evalf(PRECISION))) for each in (later - inside, inside))
    except (TypeError, ValueError):
        return False
    return gap <= 1e-14 * max(size, 1.0)
