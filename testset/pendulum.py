"""Mathematical pendulum released horizontally.

Index 3, exact solution by elliptic functions, back at the start every 2 s.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = (
    "index3",
    "mechanical",
    "nonstiff",
    "holonomic",
    "autonomous",
    "conservative",
    "thesis",
    "exact",
    "hessenberg",
)
PERIOD = 2.0
# K, the complete elliptic integral for k^2 = 1/2
QUARTER = 1.854074677301371918433850347195260046217598823521766905585928045
EXACT_G = 13.75037163604074565  # (4 K / PERIOD)^2: a period of 2 s to all digits
PRINTED_G = 13.7503716373294544  # as printed in the thesis, off in the tenth digit
SOURCE = (
    "S. M. Bäse, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, Section 4.3,"
    " system (4.5)"
)


def exact(t: float, m: float, l: float, g: float) -> Array:  # noqa: E741 - the length is called l in the source
    """Return the solution: sin(theta/2) = -k cd(u), theta' = 2 k k' omega sd(u), u = omega t.

    K^2 = k'^2 = 1/2.
    """
    omega = math.sqrt(g / l)
    phase = math.remainder(t, PERIOD if (g, l) == (EXACT_G, 1.0) else 4 * QUARTER / omega)
    if phase == 0:
        return np.array([-l, 0.0, 0.0, 0.0, 0.0])
    from scipy.special import ellipj  # late, because it takes a tenth of a second

    sn, cn, dn, _ = ellipj(omega * phase, 0.5)
    half, rate = -math.sqrt(0.5) * cn / dn, omega * sn / dn  # sin(theta/2), theta'
    sine, cosine = 2 * half * math.sqrt(0.5) / dn, 1 - 2 * half**2
    v, w = l * rate * cosine, l * rate * sine
    return np.array([l * sine, -l * cosine, v, w, m * (v**2 + w**2 + g * l * cosine) / (2 * l**2)])


def energy(t: float, y: Array, m: float, g: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy."""
    return float(m * (y[2] ** 2 + y[3] ** 2) / 2 + m * g * y[1])


def problem(t_end: float = 20.0, m: float = 1.0, l: float = 1.0, g: float = EXACT_G) -> Problem:  # noqa: E741
    """Return the pendulum of mass m and length l under gravity g."""
    model = Model(
        "pendulum",
        ["x", "y", "v", "w", "lam"],
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "m", 0], [0, 0, 0, 0, 0]],
        ["v", "w", "-2*x*lam", "-2*y*lam - m*g", "x**2 + y**2 - l**2"],
        parameters={"m": m, "l": l, "g": g},
        t_span=(0.0, t_end),
        y0=(-l, 0.0, 0.0, 0.0, 0.0),
    )
    solution = partial(exact, m=m, l=l, g=g)
    return Problem(
        name="pendulum",
        title="Mathematical pendulum",
        t_span=model.t_span,
        y0=np.array([-l, 0.0, 0.0, 0.0, 0.0]),
        source=SOURCE,
        model=model,
        reference=Reference(
            t_end,
            solution(t_end),
            14.0,
            "Jacobi elliptic functions; the exact g gives a period of 2 s",
            solution,
        ),
        invariants=(Invariant("energy", partial(energy, m=m, g=g)),),
        groups={"positions": (0, 1), "velocities": (2, 3), "multipliers": (4,)},
        tags=frozenset(TAGS),
    )
