"""Narrow peaks that a model shows as functions of the state: where they are, only the solution tells.

Each is known by a measure, a function of time and state that is smallest at the peak and smooth beside it
however narrow the peak is: the logarithm of the formula is -m, or -p ln m. Peaks of time alone are pulses.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations, filled
from herk.core.dae import Array
from herk.model.pulses import STEEP

MOST = 500  # peaks in a model; of more none is looked at
HIGH = 20  # powers above this are narrow where their bases are at their largest
TINY = 1e-300
TURNING = (sp.sin, sp.cos, sp.tan, sp.Mod)  # of a state that grows: peak follows peak


class Peak(NamedTuple):
    """A measure, the power with which the formula falls (0: exponentially), and what makes peaks return."""

    measure: sp.Expr
    power: sp.Expr
    phases: tuple[sp.Expr, ...]


class Peaks(NamedTuple):
    """The peaks of a model as numbers: f(t, y by columns, parameters) -> measures, powers, phases."""

    function: Any
    many: int
    owner: tuple[int, ...]  # which peak a phase belongs to

    def at(self, t: Array, y: Array, values: Array) -> tuple[Array, Array, Array]:
        """Return measures (times x peaks), powers (peaks) and phases (times x phases) at states by rows."""
        with np.errstate(all="ignore"):
            found = self.function(t, *y.T, *values)
        columns = np.empty((len(t), len(found)))
        for i, each in enumerate(found):
            columns[:, i] = each
        k = self.many
        return columns[:, :k], columns[0, k : 2 * k], columns[:, 2 * k :]


def peaks(system: Equations) -> tuple[Peak, ...]:
    """Return the peaks of E and f that move with the state; none of a system with very many."""
    moving = {system.t, *system.states}
    found: dict[sp.Expr, Peak] = {}
    for part in (*filled(system.E), *system.f):
        if part.has(sp.Function, sp.exp, sp.Pow):
            for measure, power in (*_peaks(part, moving), *_bumps(part, moving)):
                if measure.free_symbols & set(system.states):
                    found.setdefault(
                        measure, Peak(measure, sp.sympify(power), _phases(measure, power, moving))
                    )
    if len(found) > MOST:
        return ()
    return tuple(peak for _, peak in sorted(found.items(), key=lambda each: sp.default_sort_key(each[0])))


def _phases(measure: sp.Expr, power: Any, moving: set[sp.Symbol]) -> tuple[sp.Expr, ...]:
    """Return what is turned round in a measure; denominators fall too slowly for peaks that return."""
    turned = {each.args[0] for each in measure.atoms(*TURNING)} if power == 0 else set()
    return tuple(sorted((each for each in turned if each.free_symbols & moving), key=sp.default_sort_key))


def _peaks(part: sp.Expr, moving: set[sp.Symbol]) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield measure and power of every factor that may peak."""
    for term in part.atoms(sp.exp, sp.sech, sp.Pow):
        if isinstance(term, sp.exp):
            yield from _exponential(-term.args[0], moving)
        elif isinstance(term, sp.sech):
            yield term.args[0] ** 2, 0
        elif term.base.is_number:
            yield from _exponential(-sp.log(term.base) * term.exp, moving)
        elif term.exp.is_number and term.exp > HIGH:
            yield -term.exp / 2 * sp.log(term.base**2 + TINY), 0
        elif term.exp.could_extract_minus_sign():
            yield from _reciprocal(term.base, -term.exp, moving)


def _reciprocal(base: sp.Expr, power: sp.Expr, moving: set[sp.Symbol]) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield where a denominator is smallest; where exponentials overflow in it, their arguments are."""
    steep = base.atoms(sp.exp, sp.cosh)
    for each in steep:
        if isinstance(each, sp.cosh):
            yield each.args[0] ** 2, 0
        else:
            yield from _exponential(each.args[0], moving)
    slow = power.is_number and power < 1  # no peak: most of it is beside the highest point
    if isinstance(base, sp.Add) and not steep and not slow:
        yield base, power


def _exponential(measure: sp.Expr, moving: set[sp.Symbol]) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield the measure if it may have a smallest value: what is linear has none."""
    if any(sp.diff(measure, symbol).free_symbols & moving for symbol in measure.free_symbols & moving):
        yield measure, 0


def _bumps(part: sp.Expr, moving: set[sp.Symbol]) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield both smooth steps of a pair, one up and one down along the same way; one alone leaves a trace."""
    places = [step.args[0] for step in part.atoms(*STEEP)]
    for quotient in part.atoms(sp.Pow):
        if quotient.exp.could_extract_minus_sign() and isinstance(quotient.base, sp.Add):
            places += [each.args[0] for each in quotient.base.args if isinstance(each, sp.exp)]
    for i, one in enumerate(places):
        for other in places[:i]:
            if not all(sp.expand(one + sign * other).free_symbols & moving for sign in (-1, 1)):
                yield from ((one**2, 0), (other**2, 0))


@lru_cache(maxsize=64)
def compiled(
    found: tuple[Peak, ...], t: sp.Symbol, states: tuple[sp.Symbol, ...], parameters: tuple[sp.Symbol, ...]
) -> Peaks:
    """Return peaks as numbers."""
    phases = [phase for peak in found for phase in peak.phases]
    owner = tuple(i for i, peak in enumerate(found) for _ in peak.phases)
    formulas = [*(peak.measure for peak in found), *(peak.power for peak in found), *phases]
    function = sp.lambdify([t, *states, *parameters], formulas, ["numpy", "scipy"], cse=True)
    return Peaks(function, len(found), owner)
