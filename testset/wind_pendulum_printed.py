"""The wind pendulum with the hidden constraints the thesis prints.

L' and l'' are missing, so g contradicts E y' = f (an erratum).
"""

from __future__ import annotations

import numpy as np

from herk.core import Dae, Problem
from herk.core.dae import Array

TAGS = ("mechanical", "nonstiff", "rheonomic", "thesis", "erratum", "contradictory")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section 4.4,"
    " as printed"
)
M, G = 2.0, 9.78


def f(t: float, y: Array) -> Array:
    """Return the right-hand side, which is right."""
    length = 0.5 + 0.03 * (50.0 - t)
    return np.array(
        [
            y[2],
            y[3],
            -2 * y[0] * y[4] + M * (1 - 0.04 * t),
            -2 * y[1] * y[4] - M * G,
            y[0] ** 2 + y[1] ** 2 - length**2,
        ]
    )


def g(t: float, y: Array) -> Array:
    """Return the constraints as printed; the true second one has -2 l l', the third -2 l'^2 - 2 l l''."""
    length = 0.5 + 0.03 * (50.0 - t)
    third = (
        2 * y[2] ** 2 + 2 * y[3] ** 2 + 2 * y[0] * (1 - 0.04 * t) - 4 / M * length**2 * y[4] - 2 * G * y[1]
    )
    return np.array([y[0] ** 2 + y[1] ** 2 - length**2, 2 * y[0] * y[2] + 2 * y[1] * y[3], third])


def problem(t_end: float = 50.0) -> Problem:
    """Return the problem; it has no solution, and herk.check_constraints says why.

    Solve it with consistent="trust".
    """
    return Problem(
        name="wind_pendulum_printed",
        title="Pendulum of variable length in the wind, constraints as printed",
        t_span=(0.0, t_end),
        y0=np.array([0.0, -2.0, 0.0, 0.0, M * G / 4]),
        source=SOURCE,
        given_dae=Dae(
            E=np.diag([1.0, 1.0, M, M, 0.0]), f=f, g=g, n=5, m=3, names=("x", "y", "v", "w", "lam")
        ),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
