"""A pendulum that is pulled up while a changing wind blows: index 3, the constraint depends on time."""

from __future__ import annotations

import numpy as np

from herk.core import Problem
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index3", "mechanical", "nonstiff", "holonomic", "rheonomic", "thesis", "hessenberg")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section 4.4,"
    " system (4.7)"
)


def problem(
    t_end: float = 50.0,
    m: float = 2.0,
    g: float = 9.78,
    l0: float = 2.0,
    pull: float = 0.03,
    wind: float = 1.0,
    calm: float = 0.04,
) -> Problem:
    """Return the pendulum of length l0 - pull t in a wind of acceleration wind - calm t.

    Its start is w(0) = pull, not 0 as printed: the velocity constraint reads x v + y w = l l'.
    """
    start = (0.0, -l0, 0.0, pull, m * g / (2 * l0))
    model = Model(
        "wind_pendulum",
        ["x", "y", "v", "w", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "m", 0], [0, 0, 0, 0, 0]],
        ["v", "w", "-2*x*lam + m*(wind - calm*t)", "-2*y*lam - m*g", "x**2 + y**2 - (l0 - pull*t)**2"],
        parameters={"m": m, "g": g, "l0": l0, "pull": pull, "wind": wind, "calm": calm},
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="wind_pendulum",
        title="Pendulum of variable length in the wind",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=stored("wind_pendulum", t_end, m=m, g=g, l0=l0, pull=pull, wind=wind, calm=calm),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
