"""Series circuit of resistor, inductor and capacitor, second order in the capacitor's voltage.

Index 1, exponential solution.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import InputError, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index1", "circuit", "linear", "nonstiff", "autonomous", "second_order", "exact")
SOURCE = (
    "L. Wunderlich, Semi-explicit Systems of Second Order Differential-Algebraic Equations (2005), Section 3,"
    " system (67)"
)


def exact(t: float, RC: float, LC: float) -> Array:
    """Return the slowly decaying solution v_C = e^(r t) of LC v_C'' + RC v_C' + v_C = 0."""
    r = (-RC + math.sqrt(RC**2 - 4 * LC)) / (2 * LC)
    v = math.exp(r * t)
    return np.array([LC * r**2 * v, v, RC * r * v, r * v])


def problem(t_end: float = 7.0, RC: float = 3.0, LC: float = 0.5) -> Problem:
    """Return the circuit without a source.

    RC = 3 and LC = 1/2 are not printed, but follow from the start values that are.
    """
    if RC**2 < 4 * LC or not LC > 0:
        raise InputError("The circuit must be overdamped: RC^2 >= 4 LC > 0 is needed.")
    solution = partial(exact, RC=RC, LC=LC)
    model = Model(
        "rlc",
        ["vL", "vC", "vR", "rate"],
        [[0, 0, 0, "LC"], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]],
        ["vL", "vR - RC*rate", "vL + vC + vR", "rate"],
        parameters={"RC": RC, "LC": LC},
        t_span=(0.0, t_end),
        y0=tuple(solution(0.0)),
    )
    return Problem(
        name="rlc",
        title="RLC circuit",
        t_span=model.t_span,
        y0=solution(0.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 15.0, "exact solution", solution),
        groups={"voltages": (0, 1, 2), "rates": (3,)},
        tags=frozenset(TAGS),
    )
