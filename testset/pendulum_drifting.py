"""The pendulum with its constraint replaced by the second derivative.

Index 1, the same solution, and numerical solutions drift away.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model
from testset.pendulum import EXACT_G, energy, exact

TAGS = ("index1", "mechanical", "nonstiff", "autonomous", "conservative", "thesis", "exact", "drifting")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section 4.3,"
    " system (4.6)"
)


def length_squared(t: float, y: Array) -> float:  # noqa: ARG001
    """Return x^2 + y^2, constant only for the exact solution."""
    return float(y[0] ** 2 + y[1] ** 2)


def problem(t_end: float = 20.0, m: float = 1.0, l: float = 1.0, g: float = EXACT_G) -> Problem:  # noqa: E741
    """Return system (4.6), its constraint divided by two as in the program the thesis describes."""
    start = (-l, 0.0, 0.0, 0.0, 0.0)
    model = Model(
        "pendulum_drifting",
        ["x", "y", "v", "w", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "m", 0], [0, 0, 0, 0, 0]],
        ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "v**2 + w**2 - 2/m*(x**2 + y**2)*lam - g*y"],
        parameters={"m": m, "g": g},
        t_span=(0.0, t_end),
        y0=start,
    )
    solution = partial(exact, m=m, l=l, g=g)
    return Problem(
        name="pendulum_drifting",
        title="Mathematical pendulum without position and velocity constraint",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=Reference(
            t_end,
            solution(t_end),
            14.0,
            "Jacobi elliptic functions; the exact g gives a period of 2 s",
            solution,
        ),
        invariants=(
            Invariant("energy", partial(energy, m=m, g=g)),
            Invariant("length squared", length_squared),
        ),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
