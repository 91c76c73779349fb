"""A particle on a circular track, driven along it: index 3, y = (sin t^2, cos t^2), faster and faster."""

from __future__ import annotations

import math

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index3", "mechanical", "nonstiff", "holonomic", "autonomous", "second_order", "exact", "hessenberg")
SOURCE = (
    "L. Wunderlich, Semi-explicit Systems of Second Order Differential-Algebraic Equations (2005), Example"
    " 1.3 (7); C. Arévalo, 1995"
)


def exact(t: float) -> Array:
    """Return the solution."""
    s, c = math.sin(t**2), math.cos(t**2)
    return np.array([s, c, 2 * t * c, -2 * t * s, -4 * t**2])


def problem(t_end: float = 5.0) -> Problem:
    """Return the particle from t = 1 on, where the tables of the source begin."""
    model = Model(
        "circular_track",
        ["y1", "y2", "z1", "z2", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]],
        ["z1", "z2", "2*y2 + lam*y1", "-2*y1 + lam*y2", "y1**2 + y2**2 - 1"],
        t_span=(1.0, t_end),
        y0=tuple(exact(1.0)),
    )
    return Problem(
        name="circular_track",
        title="Particle on a circular track",
        t_span=model.t_span,
        y0=exact(1.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, exact(t_end), 14.0, "exact solution", exact),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
