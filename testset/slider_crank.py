"""Planar slider crank with an elastic connecting rod.

24 unknowns with the accelerations, fast vibrations, index 2 as stated.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import sympy as sp
from sympy import Rational, cos, sin

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model
from testset.stored import stored

TAGS = ("mechanical", "nonstiff", "oscillatory", "holonomic", "large", "inconsistent_print", "index2")
SOURCE = (
    "B. Simeon 1996; Test Set for IVP Solvers (CWI/Bari), problem crank, without damping, with linear"
    " stiffness"
)

# Mechanical data as printed; pi as in the original program, because it counts in the eighth digit.
PI = Rational("3.1415927")
M2, M3, L1, L2 = Rational("0.151104"), Rational("0.075552"), Rational("0.15"), Rational("0.30")
J1, J2, WIDTH, HEIGHT = Rational("0.002727"), Rational("0.0045339259"), Rational("0.008"), Rational("0.008")
RHO, ELASTIC, OMEGA = 7870, 2 * 10**11, 150
FB = WIDTH * HEIGHT * L2  # volume of the rod
FM, FK = RHO * FB, ELASTIC * WIDTH * HEIGHT / L2

MQ = FM * sp.Matrix([[Rational(1, 2), 0, 0, 0], [0, Rational(1, 2), 0, 0], [0, 0, 8, 1], [0, 0, 1, 2]])
BENDING = FK * PI**4 / 24 * (HEIGHT / L2) ** 2
KQ = sp.diag(BENDING, 16 * BENDING, FK / 3 * sp.Matrix([[16, -8], [-8, 7]]))
BQ = FB * sp.Matrix(
    [
        [0, 0, -16 / PI**3, 8 / PI**3 - 1 / PI],
        [0, 0, 0, 1 / (2 * PI)],
        [16 / PI**3, 0, 0, 0],
        [1 / PI - 8 / PI**3, -1 / (2 * PI), 0, 0],
    ]
)
C1 = FB * sp.Matrix([0, 0, Rational(2, 3), Rational(1, 6)])
C2 = FB * sp.Matrix([2 / PI, 0, 0, 0])
C12 = L2 * FB * sp.Matrix([0, 0, Rational(1, 3), Rational(1, 6)])
C21 = L2 * FB * sp.Matrix([1 / PI, -1 / (2 * PI), 0, 0])

P = sp.symbols("phi1 phi2 x3 q1 q2 q3 q4", real=True)
V, W = (sp.symbols(f"{name}1:8", real=True) for name in "vw")
LAM = sp.symbols("lam1:4", real=True)

# The printed velocities violate their constraint by 1.2e-8. These are their projection, orthogonal in the
# mass matrix: that is where an index-2 solver gets to in its first step, and where the reference starts.
# Accelerations and multipliers belong to them.
P0 = (0.0, 0.0, 0.450016933, 0.0, 0.0, 0.103339863e-4, 0.169327969e-4)
V0 = (
    150.0,
    -74.995767039694527512,
    -0.268938672e-5,
    0.4448961125815998896,
    0.0046343393192383019324,
    -0.178591076e-5,
    -0.268938672e-5,
)
W0 = (
    0.0,
    -1.3445415767203138692e-3,
    -5062.1949247603614562,
    -6.8297253631324879912e-5,
    0.0,
    -4.2684630422778924084,
    0.20983363276549643538,
)
LAM0 = (-6.5527465619868626323e-8, 382.45895095549482874, -4.6359378247723981663e-9)
# Positions and velocities in their units; accelerations and multipliers follow from them and are not to steer
# the steps.
SIZES = (1.0, 1.0, 1.0, 1e-3, 1e-4, 1e-5, 1e-5, 1e2, 1e2, 1e1, 1.0, 0.1, 0.1, 0.1, *(1e6,) * 10)


def mass() -> sp.Matrix:
    """Return the mass matrix, rigid and elastic motions coupled."""
    q, S, C = sp.Matrix(P[3:]), sin(P[0] - P[1]), cos(P[0] - P[1])
    A = sp.zeros(7)
    A[0, 0] = J1 + M2 * L1**2
    A[0, 1] = A[1, 0] = L1 * L2 * M2 * C / 2 + RHO * L1 * (S * C2.dot(q) + C * C1.dot(q))
    A[1, 1] = J2 + (q.T * MQ * q)[0] + 2 * RHO * C12.dot(q)
    A[2, 2] = M3
    coupling = (RHO * L1 * (C * C2 - S * C1), RHO * (C21 + (q.T * BQ).T))
    for i, column in enumerate(coupling):
        A[3:, i], A[i, 3:] = column, column.T
    A[3:, 3:] = MQ
    return A


def forces() -> sp.Matrix:
    """Return centrifugal, Coriolis and elastic terms."""
    q, qd, S, C = sp.Matrix(P[3:]), sp.Matrix(V[3:]), sin(P[0] - P[1]), cos(P[0] - P[1])
    v1, v2 = V[:2]
    crank = -L1 * L2 * M2 * v2**2 * S / 2 + RHO * L1 * v2**2 * (C * C2.dot(q) - S * C1.dot(q))
    crank -= 2 * RHO * L1 * v2 * (C * C1.dot(qd) + S * C2.dot(qd))
    rod = (
        L1 * L2 * M2 * v1**2 * S / 2
        + RHO * L1 * v1**2 * (S * C1.dot(q) - C * C2.dot(q))
        - 2 * RHO * v2 * C12.dot(qd)
    )
    rod -= 2 * v2 * (qd.T * MQ * q)[0] + RHO * (qd.T * BQ * qd)[0]
    elastic = (
        v2**2 * MQ * q + RHO * (v2**2 * C12 + L1 * v1**2 * (C * C1 + S * C2) + 2 * v2 * BQ * qd) - KQ * q
    )
    return sp.Matrix([crank, rod, 0, *elastic])


def closure() -> sp.Matrix:
    """Return the conditions on the positions: the rod ends in the slider, the crank turns with OMEGA."""
    phi1, phi2, x3, q4 = P[0], P[1], P[2], P[6]
    rod = L2 + q4
    return sp.Matrix(
        [L1 * sin(phi1) + rod * sin(phi2), x3 - L1 * cos(phi1) - rod * cos(phi2), phi1 - OMEGA * t]
    )


def gap(t: float, y: Array, row: int) -> float:
    """Return a condition on the positions, which only its derivative keeps constant.

    The second is 2.03e-10 in the printed start.
    """
    return float(_gaps()(t, *y[:7])[row])


@cache
def _gaps() -> Any:
    return sp.lambdify([t, *P], list(closure()), "math")


def problem(t_end: float = 0.1, positions: bool = False) -> Problem:
    """Return the mechanism; `positions`.

    Constraints on the positions (index 3), for which x3 is corrected by 2e-10 at the start.
    """
    g = closure()
    G = g.jacobian(P)
    motion = mass() * sp.Matrix(W) - forces() + G.T * sp.Matrix(LAM)
    constraints = g if positions else G * sp.Matrix(V) + g.diff(t)
    shift = float(L1 + L2) + P0[6] - P0[2] if positions else 0.0
    start = [*P0[:2], P0[2] + shift, *P0[3:], *V0, *W0, *LAM0]
    E = np.diag([1] * 14 + [0] * 10)
    model = Model(
        "slider_crank",
        [*P, *V, *W, *LAM],
        E,
        [*V, *W, *motion, *constraints],
        t=t,
        t_span=(0.0, t_end),
        y0=start,
    )
    return Problem(
        name="slider_crank",
        title="Slider crank with an elastic rod",
        t_span=model.t_span,
        y0=np.array(start),
        source=SOURCE,
        model=model,
        reference=_reference(t_end, shift),
        invariants=tuple(
            Invariant(name, partial(gap, row=i))
            for i, name in enumerate(("rod height", "rod length", "crank angle"))
        ),
        groups={
            "positions": tuple(range(7)),
            "velocities": tuple(range(7, 14)),
            "accelerations": tuple(range(14, 21)),
            "multipliers": (21, 22, 23),
        },
        sizes=SIZES,
        tags=frozenset({*TAGS, "index3"} - {"index2"} if positions else TAGS),
    )


def _reference(t_end: float, shift: float) -> Reference | None:
    """Return the stored reference.

    X3 enters no other equation, so correcting it at the start moves it by as much at the end.
    """
    found = stored("slider_crank", t_end)
    if found is None or not shift:
        return found
    return Reference(
        found.t, found.y + shift * (np.arange(24) == 2), found.digits, found.source, how=found.how
    )
