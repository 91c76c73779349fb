"""The normalised pendulum, everything equal to one: index 3, exact solution by elliptic functions."""

from __future__ import annotations

from functools import partial

import numpy as np

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model
from testset.pendulum import energy
from testset.pendulum import exact as released_left

TAGS = ("index3", "mechanical", "nonstiff", "holonomic", "autonomous", "conservative", "exact", "hessenberg")
SOURCE = (
    "J. Schropp, Projected Runge-Kutta methods for differential algebraic equations of index 3, Section 4,"
    " Example 1, system (4.1)"
)


def exact(t: float) -> Array:
    """Return the solution: the thesis' pendulum seen in a mirror."""
    return released_left(t, m=1.0, l=1.0, g=1.0) * np.array([-1.0, 1.0, -1.0, 1.0, 1.0])


def problem(t_end: float = 20.0) -> Problem:
    """Return the pendulum released at (1, 0)."""
    start = (1.0, 0.0, 0.0, 0.0, 0.0)
    model = Model(
        "pendulum_unit",
        ["u1", "u2", "v1", "v2", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]],
        ["v1", "v2", "-2*u1*lam", "-1 - 2*u2*lam", "u1**2 + u2**2 - 1"],
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="pendulum_unit",
        title="Normalised pendulum",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, exact(t_end), 14.0, "Jacobi elliptic functions", exact),
        invariants=(Invariant("energy", partial(energy, m=1.0, g=1.0)),),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
