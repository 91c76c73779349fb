"""Car axis on a bumpy road: two wheels, springs and a massless link, the road's motion in the constraints.

Index 3.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from herk.core import Problem
from herk.model.entries import t
from herk.model.model import Model
from testset.stored import stored

TAGS = ("index3", "mechanical", "nonstiff", "oscillatory", "holonomic", "rheonomic", "hessenberg")
SOURCE = "S. Schneider; Test Set for IVP Solvers (CWI/Bari), problem caraxis"
GROUPS = {"positions": (0, 1, 2, 3), "velocities": (4, 5, 6, 7), "multipliers": (8, 9)}


def problem(
    t_end: float = 3.0,
    M: float = 10.0,
    eps: float = 0.01,
    L: float = 1.0,
    L0: float = 0.5,
    r: float = 0.1,
    omega: float = 10.0,
    g: float = 1.0,
) -> Problem:
    """Return the axis of length L and mass M on springs of rest length L0 and stiffness 1/eps^2.

    Its right wheel going up and down by r.
    """
    K, length, rest, height, speed, gravity = sp.symbols("K L L0 r omega g", real=True)
    xl, yl, xr, yr, *velocities, lam1, lam2 = sp.symbols("xl yl xr yr ul vl ur vr lam1 lam2", real=True)
    yb = height * sp.sin(speed * t)
    xb = sp.sqrt(length**2 - yb**2)
    left, right = sp.sqrt(xl**2 + yl**2), sp.sqrt((xr - xb) ** 2 + (yr - yb) ** 2)
    forces = [
        (rest - left) * xl / left + lam1 * xb + 2 * lam2 * (xl - xr),
        (rest - left) * yl / left + lam1 * yb + 2 * lam2 * (yl - yr) - K * gravity,
        (rest - right) * (xr - xb) / right - 2 * lam2 * (xl - xr),
        (rest - right) * (yr - yb) / right - 2 * lam2 * (yl - yr) - K * gravity,
    ]
    constraints = [xb * xl + yb * yl, (xl - xr) ** 2 + (yl - yr) ** 2 - length**2]
    bump = r * omega / L * L0  # the left wheel gives way as the road begins to rise
    start = (0.0, L0, L, L0, -bump, 0.0, -bump, 0.0, 0.0, 0.0)
    model = Model(
        "car_axis",
        [xl, yl, xr, yr, *velocities, lam1, lam2],
        sp.diag(*[1] * 4, *[K] * 4, 0, 0),
        [*velocities, *forces, *constraints],
        t=t,
        parameters={K: M * eps**2 / 2, length: L, rest: L0, height: r, speed: omega, gravity: g},
        t_span=(0.0, t_end),
        y0=start,
    )
    known = stored("car_axis", t_end, M=M, eps=eps, L=L, L0=L0, r=r, omega=omega, g=g)
    what = {"reference": known, "groups": GROUPS, "tags": frozenset(TAGS)}
    return Problem("car_axis", "Car axis", model.t_span, np.array(start), SOURCE, model, **what)
