"""Narrow pulses that a model shows: functions of time that rise and fall within a small part of the span.

No step meets such a pulse but by chance, and no error estimate misses what it did not meet. So steps end at
its peak and on both of its sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations, filled
from herk.codegen.numbers import inserted, readable
from herk.core.dae import Array
from herk.model.breakpoints import too_often
from herk.model.crossings import Values, compiled
from herk.model.humps import Depending, bends, linear, logarithm, products, steps
from herk.model.periods import TooOften
from herk.model.zeros import Span, slope_of, zeros

NARROW = 0.1  # part of the span: steps may become as long as that where nothing happens
ALONE = 8.0  # widths between neighbours: what comes more often is an oscillation, which steps meet
HIGH = 4  # powers above this are narrow where their bases are at their largest
NARROWEST = 2.0**-70  # of the span
REFINED = 4  # halvings by which a width is found more closely
SOME = 1000  # of very many pulses are looked at, whether they are any
NONE = np.zeros(0)


class Pulse(NamedTuple):
    """A function of time that is zero at pulses, and the one that changes by one within a width.

    It falls on both sides of a peak if it is a logarithm; a step may rise as well.
    """

    zero: sp.Expr
    level: sp.Expr
    falls: bool


def pulses(system: Equations) -> tuple[Pulse, ...]:
    """Return where pulses of E and f may be, as functions of time and parameters."""
    t, where = system.t, Depending([system.t], system.states)
    found: dict[tuple[sp.Expr, sp.Expr], Pulse] = {}
    for part in (*filled(system.E), *system.f):
        if t in part.free_symbols:
            for pulse in (*_peaks(part, t, where), *_bends(part, t, where), *_steps(part, where)):
                found.setdefault((pulse.zero, pulse.level), pulse)
    return tuple(sorted(found.values(), key=lambda pulse: tuple(map(sp.default_sort_key, pulse[:2]))))


def _peaks(part: sp.Basic, t: sp.Symbol, where: Depending) -> Iterator[Pulse]:
    """Yield where products of exponentials and powers are largest; there the logarithm is level."""
    for factors in products(part, where, HIGH):
        slope = sp.Add(*(_slope(factor, t) for factor in factors))
        if slope.has(t):
            yield Pulse(slope, sp.Add(*map(logarithm, factors)), falls=True)


def _slope(factor: sp.Expr, t: sp.Symbol) -> sp.Expr:
    """Return the slope of the logarithm; its zeros are found in it as it is written here."""
    if isinstance(factor, sp.exp):
        return _derivative(factor.args[0], t)
    if isinstance(factor, sp.sech):
        return -sp.tanh(factor.args[0]) * _derivative(factor.args[0], t)
    base, exponent = factor.args
    if isinstance(base, sp.cosh) and t not in exponent.free_symbols:
        return exponent * sp.tanh(base.args[0]) * _derivative(base.args[0], t)
    moving = sp.log(base) * _derivative(exponent, t)
    return moving + exponent * _derivative(base, t) / base


def _derivative(function: sp.Expr, t: sp.Symbol) -> sp.Expr:
    found = slope_of(function, t)
    return sp.S.Zero if found is None else found


def _bends(part: sp.Basic, t: sp.Symbol, where: Depending) -> Iterator[Pulse]:
    """Yield where arguments of smooth steps are level: 1 - tanh(u**2) is a pulse."""
    for inside in bends(part, where):
        slope = _derivative(inside, t)
        if slope.has(t):
            yield Pulse(slope, inside, falls=False)


def _steps(part: sp.Basic, where: Depending) -> Iterator[Pulse]:
    """Yield where smooth steps are; one in which the entry is linear is seen by what it leaves behind."""
    found = steps(part, where)
    if len(found) == 1 and linear(part, *found):
        return
    yield from (Pulse(level, level, falls=False) for level in found.values())


@lru_cache(maxsize=64)
def times(
    found: tuple[Pulse, ...],
    t: sp.Symbol,
    parameters: tuple[tuple[sp.Symbol, float], ...],
    span: tuple[float, float],
    max_step: float = math.inf,
) -> tuple[float, ...]:
    """Return the peaks of narrow pulses in the span and the times a width before and behind them.

    Those that come too often to be met one by one are refused, unless steps are limited.
    """
    everywhere: set[float] = set()
    for each in found:
        zero, level = (inserted(formula, dict(parameters)) for formula in each[:2])
        pulse = Pulse(zero, level, each.falls)
        try:
            everywhere |= set(_around(pulse, t, span, span).tolist())
        except TooOften as too:
            if _any(pulse, t, span, too.many) and not max_step <= too.least:
                raise too_often(f"A narrow pulse, by {readable(level)}, comes", too, span) from None
    return tuple(sorted(everywhere))


def _any(pulse: Pulse, t: sp.Symbol, span: Span, many: float) -> bool:
    """Tell whether any of very many places is a narrow pulse: an oscillation has none."""
    part = span[0], span[0] + (span[1] - span[0]) * SOME / many
    return bool(_around(pulse, t, part, span).size)


def _around(pulse: Pulse, t: sp.Symbol, part: Span, span: Span) -> Array:
    """Return the times of narrow pulses in a part of the span, three for each.

    Some that are near each other stand together; where they are everywhere it is an oscillation.
    """
    low, high = sorted(part)
    places = zeros(pulse.zero, t, part, depth=1)
    places = places[(places >= low) & (places <= high)]
    before, behind = _widths(pulse, t, places, abs(span[1] - span[0]))
    wide = np.maximum(before, behind)
    reach = np.where(np.isfinite(wide), wide, 0.0)
    apart = np.diff(places) > ALONE * np.maximum(reach[:-1], reach[1:])
    group = np.concatenate([[0], np.cumsum(apart)])[: places.size]
    ends = [np.full(places.size + 1, sign * np.inf) for sign in (1, -1)]
    np.minimum.at(ends[0], group, places)
    np.maximum.at(ends[1], group, places)
    together = (ends[1] - ends[0])[group] < NARROW * (high - low)
    narrow = together & (wide < NARROW * abs(span[1] - span[0]))
    peak = places[narrow]
    return np.concatenate([peak - before[narrow], peak, peak + behind[narrow]])


def _widths(pulse: Pulse, t: sp.Symbol, places: Array, span: float) -> tuple[Array, Array]:
    """Return how far from each place the level has changed by one; infinity where there is no peak."""
    if not places.size:
        return NONE, NONE
    value = compiled(pulse.level, t)
    (before, fell), (behind, fell_too) = (_width(value, places, sign * span) for sign in (-1.0, 1.0))
    peak = np.logical_and(fell, fell_too) if pulse.falls else np.ones(places.size, dtype=bool)
    return np.where(peak, before, np.inf), np.where(peak, behind, np.inf)


def _width(value: Values, places: Array, span: float) -> tuple[Array, Array]:
    """Return how far from these places a level has changed by one, and whether it has fallen.

    It is looked at from near to far: where a peak is flat its curvature says nothing.
    """
    top, far, fell = value(places), np.full(places.size, np.inf), np.zeros(places.size, dtype=bool)
    share = NARROWEST
    while share < 1.0 and np.isinf(far).any():
        with np.errstate(invalid="ignore"):
            change = value(places + share * span) - top
        met = np.isinf(far) & ~(np.abs(change) < 1.0)
        far[met], fell[met] = share * abs(span), change[met] < 0.0
        share *= 2.0
    low, high = 0.5 * far, far
    for _ in range(REFINED):
        middle = 0.5 * (low + high)
        with np.errstate(invalid="ignore"):
            inside = np.abs(value(places + np.copysign(middle, span)) - top) < 1.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high, fell
