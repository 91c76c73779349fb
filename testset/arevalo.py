"""Particle on a circular track in stabilised form.

Both position and velocity constraint, a second multiplier that is zero. Index 2.
"""

from __future__ import annotations

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model
from testset import circular_track

TAGS = ("index2", "mechanical", "nonstiff", "holonomic", "autonomous", "exact", "hessenberg", "stabilised")
SOURCE = (
    "C. Arévalo, 1995; benchmark of scipy_dae. The unstabilised problem of index 3 is the same as"
    " circular_track"
)


def exact(t: float) -> Array:
    """Return the solution of the unstabilised problem with mu = 0."""
    return np.append(circular_track.exact(t), 0.0)


def problem(t_end: float = 5.0) -> Problem:
    """Return the particle from t = 1 on."""
    model = Model(
        "arevalo",
        ["x", "y", "u", "v", "lam", "mu"],
        np.diag([1, 1, 1, 1, 0, 0]),
        ["u + x*mu", "v + y*mu", "2*y + x*lam", "-2*x + y*lam", "x*u + y*v", "x**2 + y**2 - 1"],
        t_span=(1.0, t_end),
        y0=tuple(exact(1.0)),
    )
    return Problem(
        name="arevalo",
        title="Arévalo's particle, stabilised",
        t_span=model.t_span,
        y0=exact(1.0),
        source=SOURCE,
        model=model,
        reference=Reference(
            t_end, exact(t_end), 14.0, "exact solution", exact, how="formula, substituted into the equations"
        ),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4, 5)},
        tags=frozenset(TAGS),
    )
