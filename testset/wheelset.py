"""A wheelset rolls along a straight track.

Index 2, contact points as algebraic unknowns, multipliers inside the creep forces.

Friction saturates, so the right-hand side is continuous but not smooth. Everything is written once for real
and complex numbers: Jacobians come from complex steps, which are exact to rounding. The left side has sign 1
(xi > 0), the right side -1 (xi < 0).

In 10 s friction changes its formula 400 times. Between most of these changes lie microseconds, which a step
can pass over unseen: rtol from 1e-10 to 1e-11 leaves about 7 digits, 1e-13 (atol 1e-15) gives 8.
It is no matter of doubles, which are enough for 10: 1e-12 of the start is 1e-11 of the end.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import Dae, Invariant, Problem
from herk.core.dae import Array
from herk.jit.compiled import compiled
from herk.model.forms.callable_forms import GivenForm, given_form
from herk.model.start import consistent_start
from testset.stored import stored
from testset.wheelset_contact import (
    CX,
    CZ,
    GRAVITY,
    I1,
    I2,
    MASS,
    OMEGA,
    SCALE,
    XL,
    bend,
    contact,
    gradient,
    moments,
    rail,
)

TAGS = ("index2", "mechanical", "nonstiff", "oscillatory", "nonsmooth", "autonomous", "callables")
SOURCE = (
    "Test Set for IVP Solvers (CWI/Bari), problem wheel; B. Simeon, C. Führer, P. Rentrop, Surveys on"
    " Mathematics for Industry 1, 1991"
)
NAMES = (
    "x",
    "y",
    "z",
    "theta",
    "phi",
    "vx",
    "vy",
    "vz",
    "vtheta",
    "vphi",
    "beta",
    "psiR",
    "xiR",
    "psiL",
    "xiL",
    "lam1",
    "lam2",
)
START = (
    0.14941e-2,
    0.40089e-6,
    0.11241e-5,
    -0.28573e-3,
    0.26459e-3,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    -7.4122380357667139e-6,
    -0.1521364296121248,
    7.5634406395172940e-6,
    0.1490635714733819,
    -8.3593e-3,
    -7.4144e-3,
)


@compiled(_nrt=True)
def equations(y):  # type: ignore[no-untyped-def]
    """Return f (17), then the second derivatives of the two constraints."""
    cp, sp, turn, t1, f1 = np.cos(y[4]), np.sin(y[4]), OMEGA + y[10], y[8], y[9]
    QL, QR = gradient(y, 1.0)[0], gradient(y, -1.0)[0]
    load, spring = moments(y, 1.0) + moments(y, -1.0), -2 * XL**2 * CZ * y[3]
    load[:5] += SCALE * (QL * y[15] + QR * y[16])
    out = np.zeros(19, dtype=y.dtype)
    out[:5] = y[5:10]
    out[5], out[6], out[7] = (
        (load[0] - 2 * CX * y[0]) / MASS,
        load[1] / MASS - GRAVITY,
        (load[2] - 2 * CZ * y[2]) / MASS,
    )
    out[8] = (I2 * t1 * f1 * sp - I1 * turn * f1 - (I1 - I2) * t1 * f1 * sp + load[3] + cp * spring) / (
        I2 * cp
    )
    out[9] = (I1 * turn * t1 * cp + (I1 - I2) * t1**2 * sp * cp + load[4]) / I2
    out[10] = (-I1 * t1 * f1 * cp + load[5] + sp * spring) / I1 - sp * out[8]
    out[11], out[12] = contact(y, -1.0)[:2]
    out[13], out[14] = contact(y, 1.0)[:2]
    for k in range(5):
        out[15] += QL[k] * y[5 + k]
        out[16] += QR[k] * y[5 + k]
        out[17] += QL[k] * out[5 + k]
        out[18] += QR[k] * out[5 + k]
    out[17] += bend(y, 1.0)
    out[18] += bend(y, -1.0)
    return out


@compiled(_nrt=True)
def slopes(y):  # type: ignore[no-untyped-def]
    """Return the derivative of `equations` by complex steps."""
    out, point = np.zeros((19, 17)), y.astype(np.complex128)
    for j in range(17):
        point[j] = complex(y[j], 1e-30)
        out[:, j] = equations(point).imag / 1e-30
        point[j] = complex(y[j], 0.0)
    return out


@compiled(_nrt=True)
def f(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return the right-hand side."""
    return equations(y)[:17].copy()


@compiled(_nrt=True)
def jac_f(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return df/dy."""
    return slopes(y)[:17].copy()


@compiled(_nrt=True)
def g(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return contact conditions (4), constraints of the velocities (2) and of the accelerations (2)."""
    return equations(y)[11:].copy()


@compiled(_nrt=True)
def jac_g(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return dg/dy."""
    return slopes(y)[11:].copy()


@compiled(_nrt=True)
def nothing(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return dg/dt."""
    return np.zeros(8)


def gap(t: float, y: Array, side: float) -> float:  # noqa: ARG001
    """Return the distance of wheel and rail, the integral of the constraint.

    What it is at the start it stays.
    """
    psi, xi, r, s, _, _ = rail(y, side)
    return float(s - y[1] - xi * math.sin(y[4]) + r * math.cos(y[4]) * math.cos(psi))


def forms(dae: Dae, t_span: tuple[float, float], y0: Array) -> dict[str, GivenForm]:
    """Return the system as stated (index 2) and with its constraints differentiated (index 1)."""
    flat, stated = (1,) * 17, (1,) * 15 + (2,) * 2
    made = (
        given_form(dae, "index1", 1, flat, [[0, 1, 2, 3, 6, 7]], (1.0,), jac_f, t_span, y0),
        given_form(dae, "index2", 2, stated, [range(6)], (1.0,), jac_f, t_span, y0),
    )
    return {form.form: form for form in made}


def problem(t_end: float = 10.0) -> Problem:
    """Return the wheelset; its published multipliers have five digits.

    The start here satisfies the constraints to rounding.
    """
    E = np.diag([1.0] * 11 + [0.0] * 6)
    dae = Dae(E=E, f=f, g=g, n=17, m=8, jac_g=jac_g, g_t=nothing, names=NAMES)
    y0 = consistent_start(dae, 0.0, START, fixed=range(11))
    places = {"positions": (0, 5), "velocities": (5, 11), "contact": (11, 15), "multipliers": (15, 17)}
    return Problem(
        name="wheelset",
        title="Wheelset on a straight track",
        t_span=(0.0, t_end),
        y0=y0,
        source=SOURCE,
        given_dae=dae,
        given_forms=forms(dae, (0.0, t_end), y0),
        reference=stored("wheelset", t_end),
        invariants=tuple(
            Invariant(f"gap {name}", partial(gap, side=side))
            for name, side in (("left", 1.0), ("right", -1.0))
        ),
        groups={name: tuple(range(*ends)) for name, ends in places.items()},
        tags=frozenset(TAGS),
    )
