"""Andrews' squeezing mechanism: seven bodies, 27 unknowns with the accelerations, index 3."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import sympy as sp
from sympy import cos, sin

from herk.core import Invariant, Problem
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index3", "mechanical", "nonstiff", "holonomic", "autonomous", "conservative", "large", "hessenberg")
SOURCE = (
    "Test Set for IVP Solvers (CWI/Bari), problem andrews; E. Hairer, G. Wanner, Solving ODEs II, VII.7; J."
    " Schropp, Example 2"
)
DATA = """m1=.04325 m2=.00365 m3=.02373 m4=.00706 m5=.07050 m6=.00706 m7=.05498 I1=2.194e-6 I2=4.410e-7
I3=5.255e-6 I4=5.667e-7 I5=1.169e-5 I6=5.667e-7 I7=1.912e-5 xa=-.06934 ya=-.00227 xb=-.03635
yb=.03273 xc=.014 yc=.072 d=.028 da=.0115 e=.02 ea=.01421 rr=.007 ra=.00092 ss=.035 sa=.01874
sb=.01043 sc=.018 sd=.02 ta=.02308 tb=.00916 u=.04 ua=.01228 ub=.00449 zf=.02 zt=.04 fa=.01421"""
P = {key: sp.Rational(value) for key, value in (item.split("=") for item in DATA.split())}
Q0 = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)
W0 = (14222.4439199541138705911625887, -10666.8329399655854029433719415, 0.0, 0.0, 0.0, 0.0, 0.0)
L0 = (98.5668703962410896057654982170, -6.12268834425566265503114393122, 0.0, 0.0, 0.0, 0.0)
Q = sp.symbols("beta Theta gamma Phi delta Omega epsilon", real=True)
V, W = (sp.symbols(f"{name}1:8", real=True) for name in "vw")
LAM = sp.symbols("lam1:7", real=True)
C0, REST, MOM = sp.symbols("c0 l0 mom", real=True)


def constraints() -> sp.Matrix:
    """Return the closing conditions of the three loops."""
    p, (be, th, ga, ph, de, om, ep) = P, Q
    a, b = p["rr"] * cos(be) - p["d"] * cos(be + th), p["rr"] * sin(be) - p["d"] * sin(be + th)
    first = [a - p["ss"] * sin(ga) - p["xb"], b + p["ss"] * cos(ga) - p["yb"]]
    second = [
        a - p["e"] * sin(ph + de) - p["zt"] * cos(de) - p["xa"],
        b + p["e"] * cos(ph + de) - p["zt"] * sin(de) - p["ya"],
    ]
    third = [
        a - p["zf"] * cos(om + ep) - p["u"] * sin(ep) - p["xa"],
        b - p["zf"] * sin(om + ep) + p["u"] * cos(ep) - p["ya"],
    ]
    return sp.Matrix([*first, *second, *third])


def mass() -> sp.Matrix:
    """Return the symmetric mass matrix."""
    p, (_, th, _, ph, _, om, _) = P, Q
    x, z, zt, u, da, rr = p["e"] - p["ea"], p["zf"] - p["fa"], p["zt"], p["u"], p["da"], p["rr"]
    M = sp.zeros(7)
    M[0, 0] = p["m1"] * p["ra"] ** 2 + p["m2"] * (rr**2 - 2 * da * rr * cos(th) + da**2) + p["I1"] + p["I2"]
    M[0, 1] = M[1, 0] = p["m2"] * (da**2 - da * rr * cos(th)) + p["I2"]
    M[1, 1] = p["m2"] * da**2 + p["I2"]
    M[2, 2] = p["m3"] * (p["sa"] ** 2 + p["sb"] ** 2) + p["I3"]
    M[3, 3] = p["m4"] * x**2 + p["I4"]
    M[3, 4] = M[4, 3] = p["m4"] * (x**2 + zt * x * sin(ph)) + p["I4"]
    M[4, 4] = (
        p["m4"] * (zt**2 + 2 * zt * x * sin(ph) + x**2)
        + p["m5"] * (p["ta"] ** 2 + p["tb"] ** 2)
        + p["I4"]
        + p["I5"]
    )
    M[5, 5] = p["m6"] * z**2 + p["I6"]
    M[5, 6] = M[6, 5] = p["m6"] * (z**2 - u * z * sin(om)) + p["I6"]
    M[6, 6] = (
        p["m6"] * (z**2 - 2 * u * z * sin(om) + u**2)
        + p["m7"] * (p["ua"] ** 2 + p["ub"] ** 2)
        + p["I6"]
        + p["I7"]
    )
    return M


def spring() -> tuple[Any, Any, Any]:
    """Return the vector from the fixed end of the spring to the moving one, and its length."""
    p, ga = P, Q[2]
    x, y = (
        p["sd"] * cos(ga) + p["sc"] * sin(ga) + p["xb"] - p["xc"],
        p["sd"] * sin(ga) - p["sc"] * cos(ga) + p["yb"] - p["yc"],
    )
    return x, y, sp.sqrt(x**2 + y**2)


def forces() -> sp.Matrix:
    """Return drive, spring and velocity terms."""
    p, (_, th, ga, ph, _, om, _), (vb, vt, _, vp, vd, vo, ve) = P, Q, V
    x, z, zt, u, da, rr = p["e"] - p["ea"], p["zf"] - p["fa"], p["zt"], p["u"], p["da"], p["rr"]
    dx, dy, length = spring()
    pull = -C0 * (length - REST) / length
    lever = dx * (p["sc"] * cos(ga) - p["sd"] * sin(ga)) + dy * (p["sd"] * cos(ga) + p["sc"] * sin(ga))
    return sp.Matrix(
        [
            MOM - p["m2"] * da * rr * vt * (vt + 2 * vb) * sin(th),
            p["m2"] * da * rr * vb**2 * sin(th),
            pull * lever,
            p["m4"] * zt * x * vd**2 * cos(ph),
            -p["m4"] * zt * x * vp * (vp + 2 * vd) * cos(ph),
            -p["m6"] * u * z * ve**2 * cos(om),
            p["m6"] * u * z * vo * (vo + 2 * ve) * cos(om),
        ]
    )


@cache
def _energy() -> Any:
    v = sp.Matrix(V)
    formula = (v.T * mass() * v)[0] / 2 + C0 * (spring()[2] - REST) ** 2 / 2 - MOM * Q[0]
    return sp.lambdify([*Q, *V, C0, REST, MOM], formula, "math")


def energy(t: float, y: Array, c0: float, l0: float, mom: float) -> float:  # noqa: ARG001
    """Return kinetic energy plus that of the spring minus the work of the drive."""
    return float(_energy()(*y[:14], c0, l0, mom))


def problem(t_end: float = 0.03, c0: float = 4530.0, l0: float = 0.07785, mom: float = 0.033) -> Problem:
    """Return the mechanism with stiffness c0 and rest length l0 of the spring and driving torque mom."""
    g, start = constraints(), (*Q0, *[0.0] * 7, *W0, *L0)
    motion = mass() * sp.Matrix(W) - forces() + g.jacobian(Q).T * sp.Matrix(LAM)
    parameters = {C0: c0, REST: l0, MOM: mom}
    f = [*V, *W, *motion, *g]
    E = np.diag([1] * 14 + [0] * 13)
    as_published = (c0, l0, mom) == (4530.0, 0.07785, 0.033)
    y0 = start if as_published else (*Q0, *[0.0] * 7, *[None] * 13)
    model = Model("andrews", [*Q, *V, *W, *LAM], E, f, t=t, parameters=parameters, t_span=(0.0, t_end), y0=y0)
    return Problem(
        name="andrews",
        title="Andrews' squeezing mechanism",
        t_span=model.t_span,
        y0=np.array(start) if as_published else model.form().start()[0],
        source=SOURCE,
        model=model,
        reference=stored("andrews", t_end, c0=c0, l0=l0, mom=mom),
        invariants=(Invariant("energy", partial(energy, c0=c0, l0=l0, mom=mom)),),
        groups={
            "positions": tuple(range(7)),
            "velocities": tuple(range(7, 14)),
            "accelerations": tuple(range(14, 21)),
            "multipliers": tuple(range(21, 27)),
        },
        tags=frozenset(TAGS),
    )
