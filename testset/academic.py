"""The smallest DAE: x' = x, 0 = x - y. Index 1, solution e^t."""

from __future__ import annotations

import math

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index1", "academic", "linear", "nonstiff", "autonomous", "thesis", "exact")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section 4.2.3"
)


def exact(t: float) -> Array:
    """Return the solution."""
    return np.array([math.exp(t), math.exp(t)])


def problem(t_end: float = 1.0) -> Problem:
    """Return the academic example."""
    model = Model(
        "academic", ["x", "y"], [[1, 0], [0, 0]], ["x", "x - y"], t_span=(0.0, t_end), y0=(1.0, 1.0)
    )
    return Problem(
        name="academic",
        title="Academic example",
        t_span=model.t_span,
        y0=exact(0.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, exact(t_end), 15.0, "exact solution", exact),
        groups={"differential": (0,), "algebraic": (1,)},
        tags=frozenset(TAGS),
    )
