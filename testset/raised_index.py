"""A second-order system whose index grows when every derivative becomes an unknown.

No freedom left, the solution is its input.
"""

from __future__ import annotations

import math

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index4", "academic", "linear", "nonstiff", "second_order", "exact")
SOURCE = (
    "L. Wunderlich, Semi-explicit Systems of Second Order Differential-Algebraic Equations (2005), Example"
    " 1.2, system (4)"
)


def exact(t: float) -> Array:
    """Return v1 = f2', v2 = f1' - f2'' - f2''', x1 = f2, x2 = f1 - f2' - f2'' for f1 = e^-t, f2 = sin t."""
    s, c, e = math.sin(t), math.cos(t), math.exp(-t)
    return np.array([c, -e + s + c, s, e - c + s])


def partly(t: float) -> Array:
    """Return the solution without v2."""
    return exact(t)[[0, 2, 3]]


def problem(t_end: float = 5.0, full: bool = True) -> Problem:
    """Return the system with both derivatives as unknowns.

    Or with x1' alone (full=False), which does not raise the index.

    The source leaves f1 and f2 open; e^-t and sin t are our choice.
    """
    if full:
        states, E = ["v1", "v2", "x1", "x2"], [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        f, solution = ["exp(-t) - v1 - x2", "x1 - sin(t)", "v1", "v2"], exact
    else:
        states, E = ["v1", "x1", "x2"], [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
        f, solution = ["exp(-t) - v1 - x2", "x1 - sin(t)", "v1"], partly
    model = Model("raised_index", states, E, f, t_span=(0.0, t_end), y0=tuple(solution(0.0)))
    return Problem(
        name="raised_index",
        title="Index raised by the reduction of order",
        t_span=model.t_span,
        y0=solution(0.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 15.0, "exact solution", solution),
        groups=(
            {"velocities": (0, 1), "positions": (2, 3)} if full else {"velocities": (0,), "positions": (1, 2)}
        ),
        tags=frozenset(TAGS) if full else frozenset({*TAGS, "index3"} - {"index4"}),
    )
