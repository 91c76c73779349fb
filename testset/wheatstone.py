"""Wheatstone bridge with a capacitor in one arm and a coil as detector: index 1, exact solution.

Driven by a sine. Modified nodal analysis: voltages of three nodes, the currents of detector and source.
"""

from __future__ import annotations

import cmath
import math
from functools import partial

import numpy as np

from herk.core import Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = ("index1", "circuit", "linear", "nonstiff", "oscillatory", "exact", "further")
SOURCE = "Textbook circuit (C. Wheatstone 1843) in modified nodal analysis; elements chosen for this set"


def exact(t: float, v: dict[str, float]) -> Array:
    """Return the solution from rest: a forced oscillation and the free motion that takes it off at t = 0.

    The state is (e3, iL); e2 follows from the currents at its node.
    """
    parallel = 1 / (1 / v["R1"] + 1 / v["R2"])
    A = np.array(
        [[-1 / (v["R3"] * v["C"]), 1 / v["C"]], [-1 / v["L"], -(v["Rg"] + parallel) / v["L"]]]
    )  # e2 = parallel (e1/R1 - iL)
    b = np.array([v["U"] / (v["R3"] * v["C"]), v["U"] * parallel / (v["R1"] * v["L"])])
    forced = np.linalg.solve(1j * v["omega"] * np.eye(2) - A, b)
    values, vectors = np.linalg.eig(A.astype(complex))
    weights = np.linalg.solve(vectors, -forced.imag.astype(complex))
    free = (vectors @ (weights * np.exp(values * t))).real
    e3, current = (forced * cmath.exp(1j * v["omega"] * t)).imag + free
    e1 = v["U"] * math.sin(v["omega"] * t)
    e2 = parallel * (e1 / v["R1"] - current)
    return np.array([e1, e2, e3, current, -(e1 - e2) / v["R1"] - (e1 - e3) / v["R3"]])


def problem(
    t_end: float = 20.0, R1: float = 1.0, R2: float = 2.0, R3: float = 1.0, Rg: float = 0.5, C: float = 1.0,
    L: float = 1.0, U: float = 1.0, omega: float = 2.0,
) -> Problem:  # fmt: skip
    """Return the bridge: resistors R1 and R2, R3 and the capacitor C, the detector with L and Rg between."""
    values = {"R1": R1, "R2": R2, "R3": R3, "Rg": Rg, "C": C, "L": L, "U": U, "omega": omega}
    solution = partial(exact, v=values)
    model = Model(
        "wheatstone",
        ["e1", "e2", "e3", "iL", "iV"],
        [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, "C", 0, 0], [0, 0, 0, "L", 0], [0, 0, 0, 0, 0]],
        [
            "(e1 - e2)/R1 + (e1 - e3)/R3 + iV",
            "(e1 - e2)/R1 - e2/R2 - iL",
            "(e1 - e3)/R3 + iL",
            "e2 - e3 - Rg*iL",
            "e1 - U*sin(omega*t)",
        ],
        parameters=values,
        t_span=(0.0, t_end),
        y0=(0.0, 0.0, 0.0, 0.0, 0.0),
    )
    return Problem(
        name="wheatstone",
        title="Wheatstone bridge",
        t_span=model.t_span,
        y0=np.zeros(5),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 14.0, "exact solution", solution),
        groups={"voltages": (0, 1, 2), "currents": (3, 4)},
        tags=frozenset(TAGS),
    )
