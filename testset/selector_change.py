"""A point on the unit circle whose algebraic component must change from y to x at t = pi/4.

Index 2, trigonometric solution.
"""

from __future__ import annotations

import math

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index2", "academic", "nonlinear", "nonstiff", "thesis", "exact")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section"
    " 4.2.4, system (4.1)"
)


def exact(t: float) -> Array:
    """Return the solution."""
    return np.array([math.sin(t), math.cos(t), 1.0])


def problem(t_end: float = 0.375 * math.pi) -> Problem:
    """Return the example; the span must stay inside (0, pi/2), where the hidden constraint determines z."""
    start = 0.125 * math.pi
    model = Model(
        "selector_change",
        ["x", "y", "z"],
        [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
        ["y", "-sin(t)*z", "x**2 + y**2 - 1"],
        t_span=(start, t_end),
        y0=tuple(exact(start)),
    )
    return Problem(
        name="selector_change",
        title="Selector change",
        t_span=model.t_span,
        y0=exact(start),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, exact(t_end), 15.0, "exact solution", exact),
        groups={"positions": (0, 1), "multipliers": (2,)},
        tags=frozenset(TAGS),
    )
