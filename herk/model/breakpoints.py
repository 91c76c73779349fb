"""Times at which a model shows that it is not smooth: where a condition on time alone changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations, filled
from herk.core.dae import Array

MOST_STEPS = 10_000  # of floor and ceiling in a span, that are met one by one
SAMPLES = 4001  # of the span, between which a condition is taken to change at most once
HALVINGS = 80
BESIDE = 4 * float(np.finfo(float).eps)  # of a time at which a function jumps: both sides are looked at

DECIDING = (
    sp.core.relational.Relational, sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.floor, sp.ceiling,
)  # fmt: skip


def switching_functions(system: Equations) -> tuple[sp.Expr, ...]:
    """Return the functions of time and parameters whose changes of sign switch E or f."""
    known = {system.t, *system.parameters}
    found = [
        distance
        for part in (filled(system.E), system.f)
        for distance in distances(part)
        if system.t in distance.free_symbols and distance.free_symbols <= known
    ]
    return tuple(dict.fromkeys(sorted(found, key=sp.default_sort_key)))


def conditions(system: Equations, states: Sequence[sp.Symbol]) -> tuple[sp.Expr, ...]:
    """Return the functions of the state whose signs decide on E or f, each once whatever its sign."""
    found: list[sp.Expr] = []
    for function in sorted(
        {each for part in (filled(system.E), system.f) for each in distances(part)}, key=sp.default_sort_key
    ):
        if function.free_symbols & set(states) and not {function, -function} & set(found):
            found.append(function)
    return tuple(found)


def distances(part: sp.Basic) -> Iterator[sp.Expr]:
    """Yield the functions whose signs decide which branch of a formula holds."""
    for atom in part.atoms(*DECIDING):  # once: a large model is gone through
        if isinstance(atom, sp.core.relational.Relational):
            yield atom.lhs - atom.rhs
        elif isinstance(atom, (sp.floor, sp.ceiling)):
            yield _step(atom)
        elif isinstance(atom, (sp.Max, sp.Min)):
            yield from (first - second for i, first in enumerate(atom.args) for second in atom.args[:i])
        else:
            yield atom.args[0]


def _step(step: sp.Expr) -> sp.Expr:
    """Return a function that is zero where floor or ceiling jumps."""
    return sp.sin(sp.pi * step.args[0])


@lru_cache(maxsize=64)
def breakpoints(
    functions: tuple[sp.Expr, ...],
    t: sp.Symbol,
    parameters: tuple[tuple[sp.Symbol, float], ...],
    span: tuple[float, float],
) -> tuple[float, ...]:
    """Return the zeros of these functions: all of linear ones, of others those in the span."""
    found: set[float] = set()
    values = {p: sp.Float(v) for p, v in parameters}
    for function in functions:
        known = function.xreplace(values)
        steps = _whole(known, t, span)
        found |= set(zeros(known, t, span)) if steps is None else steps
    return tuple(sorted(found))


def zeros(function: sp.Expr, t: sp.Symbol, span: tuple[float, float]) -> Iterator[float]:
    """Yield the zeros of a function of time: of a linear one wherever it is, of others those in the span."""
    slope, steps = sp.diff(function, t), function.atoms(sp.floor, sp.ceiling)
    if steps or t in slope.free_symbols:
        cuts = (time for step in steps for time in _whole(_step(step), t, span) or ())
        beside = (time + side * abs(time) for time in cuts for side in (-BESIDE, BESIDE))
        yield from _crossings(function, t, np.union1d(np.linspace(*span, SAMPLES), list(beside)))
    elif not slope.is_zero:
        number = complex((-function.xreplace({t: sp.S.Zero}) / slope).evalf())
        if not number.imag and abs(number.real) < 1e300:
            yield number.real


def _whole(function: sp.Expr, t: sp.Symbol, span: tuple[float, float]) -> set[float] | None:
    """Return the times in the span at which a linear function, the argument of a sine, is a whole number."""
    if not isinstance(function, sp.sin):
        return None
    inside = function.args[0] / sp.pi
    slope = sp.diff(inside, t)
    if not slope.is_number or slope == 0:
        return None
    rate, start = float(slope), float(inside.xreplace({t: sp.S.Zero}))
    low, high = sorted(rate * end + start for end in span)
    if not high - low < MOST_STEPS:
        return None
    return {(number - start) / rate for number in range(math.floor(low) + 1, math.ceil(high))}


def _crossings(function: sp.Expr, t: sp.Symbol, times: Array) -> Iterator[float]:
    """Yield the times at which a function of time changes its sign, at most once between two of the given."""
    value = sp.lambdify(t, function, "numpy")
    with np.errstate(all="ignore"):
        signs = np.sign([float(np.real(value(time))) for time in times])
        for i in np.flatnonzero(signs[:-1] * signs[1:] < 0):
            low, high = times[i], times[i + 1]
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)  # numpy's number: division by zero is no error
                if np.sign(float(np.real(value(middle)))) == signs[i]:
                    low = middle
                else:
                    high = middle
            yield float(high)
        for i in np.flatnonzero(signs[1:-1] == 0) + 1:
            if signs[i - 1] * signs[i + 1] < 0:
                yield float(times[i])
