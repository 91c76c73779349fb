"""Three masses in a row, the middle one on a prescribed path, the force on the outer ones unknown.

Index 5, exact solution.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index5", "mechanical", "linear", "nonstiff", "rheonomic", "control", "thesis", "exact")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section 4.5,"
    " system (4.8)"
)


def exact(t: float, m: float, c: float) -> Array:
    """Return the symmetric solution: p1 = p3 = (1 - m/(2c)) sin t, p2 = sin t.

    -2 sin t and sin t for the data of the source.
    """
    a = 1 - m / (2 * c)
    s, k = math.sin(t), math.cos(t)
    return np.array([a * s, s, a * s, a * k, k, a * k, (m**2 / (2 * c) - 1.5 * m) * s])


def problem(t_end: float = 400.0, m: float = 1.0, c: float = 1 / 6) -> Problem:
    """Return the chain of three masses m and two springs of stiffness c."""
    solution = partial(exact, m=m, c=c)
    model = Model(
        "spring_chain",
        ["p1", "p2", "p3", "v1", "v2", "v3", "F"],
        [["1" if i == j < 3 else "m" if i == j < 6 else 0 for j in range(7)] for i in range(7)],
        ["v1", "v2", "v3", "F - c*(p1 - p2)", "c*(p1 - p2) - c*(p2 - p3)", "F + c*(p2 - p3)", "p2 - sin(t)"],
        parameters={"m": m, "c": c},
        t_span=(0.0, t_end),
        y0=tuple(solution(0.0)),
    )
    return Problem(
        name="spring_chain",
        title="Spring-mass chain with a prescribed path",
        t_span=model.t_span,
        y0=solution(0.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 15.0, "exact solution", solution),
        groups={"positions": (0, 1, 2), "velocities": (3, 4, 5), "multipliers": (6,)},
        tags=frozenset(TAGS),
    )
