"""Sensitivities where a run begins: at its start, and behind breakpoints and resets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.codegen.generated import build_text
from herk.codegen.tangents import parameters_text
from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.integrate.sensitivity.directions import Directions
from herk.jit.native import Native
from herk.linalg.balance import sizes
from herk.model.correction import correction
from herk.model.evaluate import jacobian, matrix
from herk.model.start import free_columns

OFF, ROUNDING = 1e-8, 1e-14  # of its terms: how far a differentiated constraint may be from zero


def by_parameters(dae: Dae, directions: Directions) -> dict[str, Native]:
    """Return g_p(t, y, par, out) and residual_p(t, y, v, par, out) of the model."""
    code: Any = dae.generated.code  # type: ignore[union-attr]
    key = "by_parameters", directions.parameters
    if key not in code.natives:
        text = parameters_text(code.equations, directions.parameters)
        code.natives[key] = build_text(text, ("g_p", "residual_p"))
    found: dict[str, Native] = code.natives[key]
    return found


def constraints_by_parameters(dae: Dae, t: float, y: Array, directions: Directions) -> Array:
    """Return g_p, m x directions."""
    out = np.zeros(dae.m * directions.many)
    parameters: Array = dae.generated.parameters  # type: ignore[union-attr]
    if dae.m:
        by_parameters(dae, directions)["g_p"](t, np.ascontiguousarray(y), parameters, out)
    return out.reshape(dae.m, directions.many)


def first(dae: Dae, t: float, y: Array, directions: Directions) -> Array:
    """Return S at the start: what a change of a parameter or of a start value does to the consistent start.

    Start values that are varied themselves stay. Components that were left open and those whose derivative
    does not occur move first, others only if they must and as little as possible, as in consistent_start.
    """
    moved, given = np.zeros((dae.n, directions.many)), directions.given
    for q, (name, j) in enumerate(zip(directions.names, directions.states, strict=True)):
        if j >= 0:
            if given[j] is None:
                raise InputError(f"The start value of {name} is computed, not given: nothing depends on it.")
            moved[j, q] = 1.0
    # A zero that was given is no rounding, which would be taken for a size.
    near = np.array([y[i] if value is None else value for i, value in enumerate(given)])
    offset = constraints_by_parameters(dae, t, y, directions)
    held = {*directions.states, *directions.modes}  # what is varied does not follow
    free = {i for i, value in enumerate(given) if value is None} - held
    return onto_constraints(Place(dae, t, y, near, free, held), moved, offset, directions.names)


@dataclass(frozen=True)
class Place:
    """A point on the constraints, sizes of its unknowns, which of them move first and which do not."""

    dae: Dae
    t: float
    y: Array
    near: Array
    free: Collection[int]
    held: Collection[int]


def onto_constraints(place: Place, moved: Array, offset: Array, names: Sequence[str]) -> Array:
    """Return `moved` corrected so that g_y S + offset = 0, by the rule that makes starts consistent."""
    dae, t, y = place.dae, place.t, place.y
    if not dae.m:
        return moved
    jac = jacobian(dae, t, y)
    off = jac @ moved + offset
    if not off.any():
        return moved
    scale, found = sizes(jac, place.near), moved
    early = sorted({*place.free, *free_columns(matrix(dae, t, y))} - {*place.held})
    late = sorted({*range(dae.n)} - {*early, *place.held})
    for _ in range(3):
        found = found + correction(off, jac, scale, early, late)
        off = jac @ found + offset
        wrong = _beside(off, jac, found, offset)
        if (wrong <= ROUNDING).all():
            return found
    stuck = np.flatnonzero(~(wrong <= OFF).all(axis=0))
    if stuck.size:
        name = names[int(stuck[0])]
        raise InputError(f"The constraints leave no room for a change of {name} at t = {t!r}.")
    return found


def _beside(off: Array, jac: Array, found: Array, offset: Array) -> Array:
    """Return how far every differentiated constraint is from zero, beside its terms."""
    largest = np.abs(found)
    size = np.abs(jac) @ (largest + largest.max(axis=0)) + np.abs(offset)
    return np.asarray(np.abs(off) / (size + 1e-300))
