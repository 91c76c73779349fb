"""Knife edge that slides down an inclined plane while it turns.

A non-holonomic constraint, index 2, exact cycloid.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import sympy as sp

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = (
    "index2",
    "mechanical",
    "nonstiff",
    "nonholonomic",
    "autonomous",
    "conservative",
    "exact",
    "hessenberg",
)
SOURCE = (
    "A. M. Bloch, Nonholonomic Mechanics and Control, 2nd edition 2015, Section 1.6; benchmark of scipy_dae"
)


def exact(t: float, m: float, g: float, alpha: float, Omega: float) -> Array:
    """Return the solution: the turning blade lets the edge return to its height.

    And so it drifts sideways.
    """
    pull, phi = g * math.sin(alpha), Omega * t
    s, c = math.sin(phi), math.cos(phi)
    x, y = pull * s**2 / (2 * Omega**2), pull * (phi - s * c) / (2 * Omega**2)
    return np.array([x, y, phi, pull * s * c / Omega, pull * s**2 / Omega, Omega, -2 * m * pull * s])


def energy(t: float, y: Array, m: float, g: float, alpha: float, Theta: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy; the blade's force does no work."""
    return float(m * (y[3] ** 2 + y[4] ** 2) / 2 + Theta * y[5] ** 2 / 2 - m * g * math.sin(alpha) * y[0])


def problem(
    t_end: float = 5.0,
    m: float = 1.25,
    Theta: float = 0.13,
    g: float = 9.81,
    alpha: float = math.pi / 4,
    Omega: float = math.pi / 3,
) -> Problem:
    """Return the edge, at rest at the origin and turning with Omega.

    At 2 pi/Omega most components vanish, so the span ends before.
    """
    solution = partial(exact, m=m, g=g, alpha=alpha, Omega=Omega)
    start = tuple(float(value) for value in solution(0.0) + 0.0)
    model = Model(
        "knife_edge",
        ["x", "y", "phi", "u", "v", "omega", "lam"],
        sp.diag(1, 1, 1, *sp.symbols("m m Theta"), 0),
        ["u", "v", "omega", "m*g*sin(alpha) + sin(phi)*lam", "-cos(phi)*lam", "0", "u*sin(phi) - v*cos(phi)"],
        parameters={"m": m, "Theta": Theta, "g": g, "alpha": alpha},
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="knife_edge",
        title="Knife edge on an inclined plane",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=Reference(
            t_end,
            solution(t_end),
            14.0,
            "exact solution",
            solution,
            how="formula, substituted into the equations",
        ),
        invariants=(Invariant("energy", partial(energy, m=m, g=g, alpha=alpha, Theta=Theta)),),
        groups={"positions": (0, 1, 2), "velocities": (3, 4, 5), "multipliers": (6,)},
        tags=frozenset(TAGS),
    )
