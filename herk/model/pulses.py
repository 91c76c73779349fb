"""Narrow pulses that a model shows: functions of time that rise and fall within a small part of the span.

No step meets such a pulse but by chance, and no error estimate misses what it did not meet. So steps end at
its peak and on both of its sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations, filled
from herk.model.breakpoints import zeros

NARROW = 0.1  # part of the span: steps may become as long as that where nothing happens
ALONE = 8.0  # widths between neighbours: what comes more often is an oscillation, which steps meet
HIGH = 4  # powers above this are narrow where their bases are at their largest
MOST = 200  # pulses in a span that are met one by one
STEEP = (sp.tanh, sp.erf, sp.erfc, sp.atan)  # smooth steps: two of them make a pulse


class Pulse(NamedTuple):
    """A function of time that is zero at pulses, and the inverse of their width squared."""

    zero: sp.Expr
    curvature: sp.Expr


def pulses(system: Equations) -> tuple[Pulse, ...]:
    """Return where pulses of E and f may be, as functions of time and parameters.

    One smooth step in an entry is seen by what it leaves behind.
    """
    t, known = system.t, {system.t, *system.parameters}
    found: dict[sp.Expr, Pulse] = {}
    for part in (*filled(system.E), *system.f):
        if t in part.free_symbols:
            steps = list(_steps(part, t, known))
            for pulse in (*_peaks(part, t, known), *(steps if len(steps) > 1 else ())):
                found.setdefault(pulse.zero, pulse)
    return tuple(pulse for _, pulse in sorted(found.items(), key=lambda each: sp.default_sort_key(each[0])))


def _in_time(expr: sp.Basic, t: sp.Symbol, known: set[sp.Symbol]) -> bool:
    symbols = expr.free_symbols
    return t in symbols and symbols <= known


def _peaked(factor: sp.Basic) -> bool:
    """Tell whether a factor can be a peak: an exponential, or a power that is negative or high."""
    if not isinstance(factor, sp.Pow):
        return isinstance(factor, (sp.exp, sp.sech))
    return bool(factor.base.is_number or (factor.exp.is_number and (factor.exp < 0 or factor.exp > HIGH)))


def _peaks(part: sp.Basic, t: sp.Symbol, known: set[sp.Symbol]) -> Iterator[Pulse]:
    """Yield where products of exponentials and powers are largest; there the logarithm is level."""
    inside: set[sp.Basic] = set()
    for term in sp.preorder_traversal(part):
        factors = [f for f in sp.Mul.make_args(term) if _peaked(f) and _in_time(f, t, known)]
        if factors and not (len(factors) == 1 and factors[0] in inside):
            inside |= set(factors)  # met again as terms of their own
            slope = sp.Add(*(_slope(factor, t) for factor in factors))
            bend = sp.diff(slope, t)
            if slope.has(t):
                yield Pulse(slope, -bend / 2)


def _slope(factor: sp.Expr, t: sp.Symbol) -> sp.Expr:
    """Return the slope of the logarithm, which exists where the factor itself is less than any double."""
    if isinstance(factor, sp.exp):
        return sp.diff(factor.args[0], t)
    if isinstance(factor, sp.sech):
        return -sp.tanh(factor.args[0]) * sp.diff(factor.args[0], t)
    base = factor.base
    if base.is_number:
        return sp.log(base) * sp.diff(factor.exp, t)
    if isinstance(base, sp.cosh):
        return factor.exp * sp.tanh(base.args[0]) * sp.diff(base.args[0], t)
    return factor.exp * sp.diff(base, t) / base


def _steps(part: sp.Basic, t: sp.Symbol, known: set[sp.Symbol]) -> Iterator[Pulse]:
    """Yield where smooth steps are: arguments of zero, and 1 / (c + exp(u)) where both terms are equal."""
    for step in part.atoms(*STEEP):
        if _in_time(step, t, known):
            inside = step.args[0]
            yield Pulse(inside, sp.diff(inside, t) ** 2)
    for quotient in part.atoms(sp.Pow):
        if quotient.exp.is_negative and _in_time(quotient, t, known) and isinstance(quotient.base, sp.Add):
            fixed, moving = quotient.base.as_independent(t)
            grows = _slope_of_product(moving, t)
            if fixed.is_positive and grows is not None:
                yield Pulse(sp.log(moving) - sp.log(fixed), grows**2)


def _slope_of_product(product: sp.Expr, t: sp.Symbol) -> sp.Expr | None:
    exponents = [f for f in sp.Mul.make_args(product) if f.has(t)]
    return (
        sp.diff(exponents[0].args[0], t) if len(exponents) == 1 and isinstance(exponents[0], sp.exp) else None
    )


@lru_cache(maxsize=64)
def times(
    found: tuple[Pulse, ...],
    t: sp.Symbol,
    parameters: tuple[tuple[sp.Symbol, float], ...],
    span: tuple[float, float],
) -> tuple[float, ...]:
    """Return the peaks of narrow pulses in the span and the times a width before and behind them."""
    values = {p: sp.Float(v) for p, v in parameters}
    everywhere: set[float] = set()
    for pulse in found:
        everywhere |= set(_around(pulse, t, values, span))
    return tuple(sorted(everywhere))


def _around(
    pulse: Pulse, t: sp.Symbol, values: Mapping[sp.Symbol, sp.Float], span: tuple[float, float]
) -> Iterator[float]:
    """Yield the times of narrow pulses that stand alone, a few for each."""
    low, high = sorted(span)
    places = sorted(time for time in zeros(pulse.zero.xreplace(values), t, span) if low <= time <= high)
    widths = _widths(pulse.curvature.xreplace(values), t, places)
    if len(places) > MOST:
        return
    for i, (time, width) in enumerate(zip(places, widths, strict=True)):
        nearest = min((abs(time - other) for j, other in enumerate(places) if j != i), default=np.inf)
        if 0.0 < width < NARROW * (high - low) and nearest > ALONE * width:
            yield from (time - width, time, time + width)


def _widths(curvature: sp.Expr, t: sp.Symbol, places: list[float]) -> list[float]:
    """Return the widths of pulses at their peaks; 0 where there is a trough, or a pole."""
    value = sp.lambdify(t, curvature, "math")
    found = []
    for time in places:
        try:
            found.append(1.0 / math.sqrt(value(time)))
        except (ArithmeticError, ValueError, TypeError):  # ValueError: a trough, TypeError: no real number
            found.append(0.0)
    return found
