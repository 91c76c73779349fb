"""Spherical pendulum: index 3, energy and angular momentum are constant."""

from __future__ import annotations

from functools import partial

import numpy as np

from herk.core import Invariant, Problem
from herk.core.dae import Array
from herk.model.model import Model
from testset.stored import stored

TAGS = (
    "index3",
    "mechanical",
    "nonstiff",
    "holonomic",
    "autonomous",
    "conservative",
    "lecture",
    "hessenberg",
)
SOURCE = (
    "M. Diehl, A. Nurkanović, lecture on differential-algebraic equations: three-dimensional pendulum; data"
    " chosen for this set"
)


def energy(t: float, y: Array, g: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy."""
    return float(y[3:6] @ y[3:6] / 2 + g * y[2])


def angular_momentum(t: float, y: Array) -> float:  # noqa: ARG001
    """Return the vertical angular momentum."""
    return float(y[0] * y[4] - y[1] * y[3])


def problem(t_end: float = 10.0, g: float = 9.81) -> Problem:
    """Return the pendulum of unit mass and length."""
    start = (0.6, 0.0, -0.8, 0.0, 1.5, 0.0, (1.5**2 + 0.8 * g) / 2)
    model = Model(
        "pendulum_3d",
        ["x", "y", "z", "vx", "vy", "vz", "lam"],
        np.diag([1, 1, 1, 1, 1, 1, 0]),
        ["vx", "vy", "vz", "-2*lam*x", "-2*lam*y", "-2*lam*z - g", "x**2 + y**2 + z**2 - 1"],
        parameters={"g": g},
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="pendulum_3d",
        title="Spherical pendulum",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("pendulum_3d", t_end, g=g),
        invariants=(
            Invariant("energy", partial(energy, g=g)),
            Invariant("angular momentum", angular_momentum),
        ),
        groups={"positions": (0, 1, 2), "velocities": (3, 4, 5), "multipliers": (6,)},
        tags=frozenset(TAGS),
    )
