"""Linear circuit with a loop of capacitors and a voltage source: index 2, exact solution."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index2", "circuit", "linear", "nonstiff", "oscillatory", "thesis", "exact")
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Example 2.7"
    " and Section 4.6"
)


def exact(t: float, omega: float) -> Array:
    """Return the solution from 2 e2' = e1' - e2 with e1 = sin(omega t)."""
    s, c, decay = math.sin(omega * t), math.cos(omega * t), math.exp(-t / 2)
    a = omega / (4 * omega**2 + 1)
    e2 = a * (c + 2 * omega * s - decay)
    rate = a * (-omega * s + 2 * omega**2 * c + decay / 2)
    return np.array([s - e2, e2, s, e2, rate - omega * c - s])


def problem(t_end: float = 1.0, omega: float = 100.0) -> Problem:
    """Return the circuit, all capacities and resistances 1, driven by sin(omega t)."""
    solution = partial(exact, omega=omega)
    model = Model(
        "cv_circuit",
        ["q1", "q2", "e1", "e2", "iV"],
        [[-1, 0, 0, 0, 0], [1, -1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
        ["e1 + iV", "e2", "e1 - sin(omega*t)", "q1 - e1 + e2", "q2 - e2"],
        parameters={"omega": omega},
        t_span=(0.0, t_end),
        y0=(0.0, 0.0, 0.0, 0.0, -omega / 2),
    )
    return Problem(
        name="cv_circuit",
        title="Linear circuit with one CV loop",
        t_span=model.t_span,
        y0=np.array([0.0, 0.0, 0.0, 0.0, -omega / 2]),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 14.0, "exact solution", solution),
        groups={"charges": (0, 1), "potentials": (2, 3), "currents": (4,)},
        tags=frozenset(TAGS),
    )
