"""Narrow peaks that a model shows as functions of the state: where they are, only the solution tells.

Each is known by a measure, a function of time and state that is smallest at the peak and smooth beside it
however narrow the peak is: the logarithm of the formula is -m, or -p ln m. Peaks of time alone are pulses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations, filled
from herk.core.dae import Array
from herk.model.humps import Depending, bends, linear, logarithm, products, steps

MOST = 500  # peaks in a model; of more none is looked at
HIGH = 20  # powers above this are narrow where their bases are at their largest
TINY, HUGE = 1e-300, 1e100
FAR, DRAWS = 1e40, 16  # where a sum of exponentials is one of them; random values for what is not known
PART = 1e-6  # of exponents: less is rounding
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
        np.clip(columns, -HUGE, HUGE, out=columns)
        k = self.many
        return columns[:, :k], columns[0, k : 2 * k], columns[:, 2 * k :]


def peaks(system: Equations) -> tuple[Peak, ...]:
    """Return the peaks of E and f that move with the state; none of a system with very many."""
    moving = {system.t, *system.states}
    where = Depending(moving)
    found: dict[sp.Expr, Peak] = {}
    for part in (*filled(system.E), *system.f):
        if part.has(sp.Function, sp.exp, sp.Pow):
            for measure, power in (*_peaks(part, where), *_steps(part, where)):
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


def _peaks(part: sp.Expr, where: Depending) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield measure and power of every product that may peak, or of its factors that may do so alone."""
    for factors in products(part, where, HIGH):
        steep = [factor for factor in factors if _steep(factor)]
        yield from _exponential(steep, where)
        for base, power in (factor.args for factor in factors if factor not in steep):
            slow = power.is_number and power > -1  # no peak: most of it is beside the highest point
            if power.is_number and power > 0:
                yield -power / 2 * sp.log(base**2 + TINY), 0
            elif power.could_extract_minus_sign() and isinstance(base, sp.Add) and not slow:
                yield base, -power


def _steep(factor: sp.Expr) -> bool:
    """Tell whether a factor falls exponentially."""
    return isinstance(factor, (sp.exp, sp.sech)) or factor.base.is_number or factor.base.has(sp.exp, sp.cosh)


def _exponential(factors: Sequence[sp.Expr], where: Depending) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield the measure of a product if it may have a smallest value: what is linear has none."""
    if len(factors) == 1:
        (only,) = factors
        round_one = only if isinstance(only, sp.sech) else getattr(only, "base", None)
        if isinstance(round_one, (sp.sech, sp.cosh)):
            yield round_one.args[0] ** 2, 0
            return
    measure = -sp.Add(*map(logarithm, factors))
    inner = [each.args[0] for factor in factors for each in factor.atoms(sp.exp, sp.cosh, sp.sech)]
    inner += [factor.exp for factor in factors if isinstance(factor, sp.Pow) and factor.exp in where]
    both = len(inner) > 1 or any(factor.has(sp.cosh, sp.sech) for factor in factors)
    if any(_bent(each, where) for each in inner) or (both and _rises(measure, inner, where)):
        yield measure, 0


def _bent(formula: sp.Expr, where: Depending) -> bool:
    """Tell whether a formula is not linear in time and state."""
    return any(sp.diff(formula, symbol) in where for symbol in formula.free_symbols & where.moving)


def _rises(measure: sp.Expr, inner: Sequence[sp.Expr], where: Depending) -> bool:
    """Tell whether a measure, about linear far away, rises on both sides, at least for some values.

    Units are unknown, so it is looked at very far away, and compared with what the exponents are there.
    """
    symbols = sorted(measure.free_symbols, key=sp.default_sort_key)
    values = sp.lambdify(symbols, [measure, *inner], ["numpy", "scipy"])
    chance = np.random.default_rng(1)
    at = chance.uniform(0.5, 2.0, (len(symbols), DRAWS)) * chance.choice([-1.0, 1.0], (len(symbols), DRAWS))
    with np.errstate(all="ignore"):
        for i in (i for i, symbol in enumerate(symbols) if symbol in where.moving):
            ends, sizes = [], np.zeros(DRAWS)
            for place in (-FAR, FAR):
                found, *exponents = values(*at[:i], place, *at[i + 1 :])
                ends.append(found)
                sizes = np.max([sizes, *(np.abs(each) + np.zeros(DRAWS) for each in exponents)], axis=0)
            if np.any(np.minimum(*ends) > PART * sizes):
                return True
    return False


def _steps(part: sp.Expr, where: Depending) -> Iterator[tuple[sp.Expr, Any]]:
    """Yield where smooth steps are in their middle; one in which the entry is linear leaves a trace.

    So there are two of them, one up and one down along the same way, or one that turns back.
    """
    found = list(steps(part, where).items())
    for i, (step, level) in enumerate(found):
        if _bent(level, where) or not linear(part, step):
            yield level**2, 0
        for _, other in found[:i]:
            if any(sp.expand(level + sign * other) not in where for sign in (-1, 1)):
                yield from ((level**2, 0), (other**2, 0))
    yield from ((inside**2, 0) for inside in bends(part, where) if _bent(inside, where))


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
