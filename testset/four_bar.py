"""Four-bar linkage: crank, coupler and rocker, three links that close a loop with the ground. Index 3.

Angles as unknowns: the mass matrix depends on them, and the loop gives two constraints. Energy is constant.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np
import sympy as sp

from herk.core import Invariant, Problem
from herk.core.dae import Array
from herk.model.model import Model
from testset.stored import stored

TAGS = (
    "index3",
    "mechanical",
    "nonstiff",
    "holonomic",
    "autonomous",
    "conservative",
    "closed_loop",
    "further",
)
SOURCE = (
    "Textbook mechanism of three uniform rods on a ground link, a crank-rocker by F. Grashof's rule (1883);"
    " lengths and start chosen for this set"
)
CRANK, COUPLER, ROCKER, GROUND = (sp.Rational(k, 5) for k in (2, 5, 5, 4))
START = (
    math.pi / 2,
    math.atan2(3.0, 4.0),
    math.pi / 2,
)  # crank and rocker upright: a triangle of sides 3, 4, 5

P = sp.symbols("phi1:4", real=True)
V = sp.symbols("omega1:4", real=True)
LAM = sp.symbols("lam1:3", real=True)
GRAVITY = sp.Symbol("g", real=True)


@cache
def system() -> dict[str, Any]:
    """Return M, forces and constraints; a rod has as much mass as length."""
    a, b, c = CRANK, COUPLER, ROCKER
    kinetic = a**3 / 6 * V[0] ** 2 + c**3 / 6 * V[2] ** 2
    kinetic += b / 2 * (a**2 * V[0] ** 2 + b**2 / 3 * V[1] ** 2 + a * b * sp.cos(P[0] - P[1]) * V[0] * V[1])
    height = a**2 / 2 * sp.sin(P[0]) + b * (a * sp.sin(P[0]) + b / 2 * sp.sin(P[1])) + c**2 / 2 * sp.sin(P[2])
    potential = GRAVITY * height
    momentum = sp.Matrix([kinetic.diff(v) for v in V])
    forces = [
        kinetic.diff(p) - potential.diff(p) - (momentum[i].diff(P[0]) * V[0] + momentum[i].diff(P[1]) * V[1])
        for i, p in enumerate(P)
    ]
    loop = sp.Matrix(
        [
            a * sp.cos(P[0]) + b * sp.cos(P[1]) - c * sp.cos(P[2]) - GROUND,
            a * sp.sin(P[0]) + b * sp.sin(P[1]) - c * sp.sin(P[2]),
        ]
    )
    return {"M": momentum.jacobian(V), "force": sp.Matrix(forces), "g": loop, "energy": kinetic + potential}


def energy(t: float, y: Array, g: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy."""
    return float(_energy()(g, *y[:6]))


@cache
def _energy() -> Any:
    return sp.lambdify([GRAVITY, *P, *V], system()["energy"], "math")


def problem(t_end: float = 3.0, g: float = 9.81, speed: float = 3.0) -> Problem:
    """Return the linkage; it starts with crank and rocker upright, the crank turning with this speed.

    Both ends of the coupler then move horizontally, so it does not turn: the rocker has 2/5 of the speed.
    """
    parts = system()
    G = parts["g"].jacobian(P)
    motion = parts["force"] - G.T * sp.Matrix(LAM)
    E = sp.diag(sp.eye(3), parts["M"], sp.zeros(2))
    moving = (speed, 0.0, float(CRANK / ROCKER) * speed)
    start = np.array([*START, *moving, *_multipliers(g, moving)])
    model = Model(
        "four_bar", [*P, *V, *LAM], E, [*V, *motion, *parts["g"]], parameters={GRAVITY: g},
        t_span=(0.0, t_end), y0=tuple(start),
    )  # fmt: skip
    return Problem(
        name="four_bar",
        title="Four-bar linkage",
        t_span=model.t_span,
        y0=start,
        source=SOURCE,
        model=model,
        reference=stored("four_bar", t_end, g=g, speed=speed),
        invariants=(Invariant("energy", partial(energy, g=g)),),
        groups={"positions": (0, 1, 2), "velocities": (3, 4, 5), "multipliers": (6, 7)},
        tags=frozenset(TAGS),
    )


def _multipliers(g: float, moving: tuple[float, ...]) -> Array:
    """Return the forces in the loop at the start, from M p'' + G' lam = force, G p'' = -(G v)_p v."""
    at = dict(zip((*P, *V), (*START, *moving), strict=True)) | {GRAVITY: g}
    parts = system()
    G = parts["g"].jacobian(P)
    turning = -(G * sp.Matrix(V)).jacobian(P) * sp.Matrix(V)
    formulas = (parts["M"], G, parts["force"], turning)
    M, G0, force, right = (np.array(each.subs(at).evalf(30), dtype=float) for each in formulas)
    whole = np.block([[M, G0.T], [G0, np.zeros((2, 2))]])
    return np.asarray(np.linalg.solve(whole, np.concatenate([force, right]).ravel())[3:])
