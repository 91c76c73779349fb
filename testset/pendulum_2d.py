"""Planar pendulum of Hairer and Wanner.

Index 3, exact solution by elliptic functions, the classical first example of index reduction.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model
from testset import pendulum

TAGS = ("index3", "mechanical", "nonstiff", "holonomic", "autonomous", "conservative", "exact", "hessenberg")
SOURCE = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Chapter VII; example of scipy_dae"
MIRROR = np.array(
    [-1.0, 1.0, -1.0, 1.0, -1.0]
)  # the other pendulum starts on the other side and has a multiplier of opposite sign


def exact(t: float, g: float) -> Array:
    """Return the solution, sin(theta/2) = k cd(sqrt(g) t) with k^2 = 1/2."""
    return MIRROR * pendulum.exact(t, 1.0, 1.0, g) + 0.0


def problem(t_end: float = 10.0, g: float = 10.0) -> Problem:
    """Return the pendulum of unit mass and length, released horizontally under gravity g."""
    start = (1.0, 0.0, 0.0, 0.0, 0.0)
    model = Model(
        "pendulum_2d",
        ["x", "y", "u", "v", "lam"],
        np.diag([1, 1, 1, 1, 0]),
        ["u", "v", "2*x*lam", "2*y*lam - g", "x**2 + y**2 - 1"],
        parameters={"g": g},
        t_span=(0.0, t_end),
        y0=start,
    )
    solution = partial(exact, g=g)
    return Problem(
        name="pendulum_2d",
        title="Planar pendulum",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=Reference(
            t_end, solution(t_end), 14.0, "exact solution", solution, how="Jacobi elliptic functions"
        ),
        invariants=(Invariant("energy", partial(pendulum.energy, m=1.0, g=g)),),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
