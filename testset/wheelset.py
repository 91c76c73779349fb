"""A wheelset rolls along a straight track.

Index 2, contact points as algebraic unknowns, multipliers inside the creep forces.

Friction saturates, so the right-hand side is continuous but not smooth. Everything is written once for real
and complex numbers: Jacobians come from complex steps, which are exact to rounding. The left side has sign 1
(xi > 0), the right side -1 (xi < 0).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from herk.core import Dae, Invariant, Problem
from herk.core.dae import Array
from herk.jit.compiled import compiled
from herk.model.callable_forms import GivenForm, given_form
from herk.model.start import consistent_start
from testset.stored import stored

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
MASS, GRAVITY, V, R0, I1, I2, MU = 16.08, 9.81, 30.0, 0.1, 0.0605, 0.366, 0.12
XL, CX, CZ, ELLIPSE, GG, SIGMA, GM = 0.19, 6400.0, 6400.0, 1.3537956, 0.7115218, 0.28, 7.92e10
C11, C22, C23, CONE, AR, RS, PI, SCALE = (
    4.72772197,
    4.27526987,
    1.97203505,
    0.0262,
    0.1506,
    0.06,
    3.1415926,
    1e4,
)
SLOPE, SINE, COSINE, OMEGA = math.tan(CONE), math.sin(CONE), math.cos(CONE), V / R0
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
def rail(y, side):  # type: ignore[no-untyped-def]
    """Return psi, xi, the radius r of the wheel and height s of the rail at the contact.

    The latter with two derivatives.
    """
    psi, xi = (y[13], y[14]) if side > 0 else (y[11], y[12])
    r = R0 + SLOPE * (AR - side * xi)
    cross = np.cos(y[3]) * np.sin(y[4]) * np.cos(psi) - np.sin(y[3]) * np.sin(psi)
    X = y[0] + xi * np.cos(y[3]) * np.cos(y[4]) + r * cross
    D = np.sqrt(RS**2 - (side * X - AR - RS * SINE) ** 2)
    return psi, xi, r, D - R0 - RS * COSINE, side * (AR + RS * SINE - side * X) / D, -(RS**2) / D**3


@compiled(_nrt=True)
def gradient(y, side):  # type: ignore[no-untyped-def]
    """Return Q = (s', -1, 0, s' X_theta, b + s' X_phi), and X_theta, X_phi, b."""
    psi, xi, r, _, s1, _ = rail(y, side)
    ct, st, cp, sp = np.cos(y[3]), np.sin(y[3]), np.cos(y[4]), np.sin(y[4])
    a4 = -r * (ct * np.sin(psi) + np.cos(psi) * sp * st) - xi * cp * st
    a5 = r * cp * np.cos(psi) * ct - xi * ct * sp
    b5 = -r * np.cos(psi) * sp - xi * cp
    Q = np.zeros_like(y[:5])
    Q[0], Q[1], Q[3], Q[4] = s1, -1.0, s1 * a4, b5 + s1 * a5
    return Q, a4, a5


@compiled(_nrt=True)
def contact(y, side):  # type: ignore[no-untyped-def]
    """Return the two contact conditions and the rates (psi', xi') at which the contact point wanders."""
    psi, _, r, _, s1, s2 = rail(y, side)
    r1 = -side * SLOPE
    ct, st, cp, sp, ci, si = np.cos(y[3]), np.sin(y[3]), np.cos(y[4]), np.sin(y[4]), np.cos(psi), np.sin(psi)
    first = s1 * (r1 * sp + cp * ci) + r1 * ct * cp - ct * sp * ci + st * si
    second = r1 * st * cp - st * sp * ci - ct * si
    _, a4, a5 = gradient(y, side)
    psi1 = -((r1 * ct * cp - ct * sp * ci + st * si) * y[8] + (-r1 * st * sp - st * cp * ci) * y[9]) / (
        st * sp * si - ct * ci
    )
    across, along = -r * (ct * sp * si + st * ci), ct * cp + r1 * (ct * sp * ci - st * si)  # X_psi, X_xi
    known = s2 * (y[5] + a4 * y[8] + a5 * y[9] + across * psi1) * (r1 * sp + cp * ci)
    known += (-r1 * st * cp + st * sp * ci + ct * si) * y[8] + (
        s1 * (r1 * cp - sp * ci) - r1 * ct * sp - ct * cp * ci
    ) * y[9]
    known += (-s1 * cp * si + ct * sp * si + st * ci) * psi1
    return first, second, psi1, -known / (s2 * along * (r1 * sp + cp * ci)), across, along


@compiled(_nrt=True)
def bend(y, side):  # type: ignore[no-untyped-def]
    """Return Q' . v, what has to be added to Q . v' in the second derivative of the constraint."""
    psi, xi, r, _, s1, s2 = rail(y, side)
    _, a4, a5 = gradient(y, side)
    _, _, p1, x1, across, along = contact(y, side)
    ct, st, cp, sp, ci, si = np.cos(y[3]), np.sin(y[3]), np.cos(y[4]), np.sin(y[4]), np.cos(psi), np.sin(psi)
    t1, f1, r1 = y[8], y[9], -side * SLOPE * x1
    turn = -st * si * t1 + ct * ci * p1 - si * sp * st * p1 + ci * cp * st * f1 + ci * sp * ct * t1
    a4_rate = -r1 * (ct * si + ci * sp * st) - r * turn - x1 * cp * st + xi * sp * st * f1 - xi * cp * ct * t1
    a5_rate = r1 * cp * ci * ct - r * (sp * ci * ct * f1 + cp * si * ct * p1 + cp * ci * st * t1)
    a5_rate += -x1 * ct * sp + xi * st * sp * t1 - xi * ct * cp * f1
    b5_rate = -r1 * ci * sp + r * (si * sp * p1 - ci * cp * f1) - x1 * cp + xi * sp * f1
    speed = y[5] + a4 * t1 + a5 * f1
    return s2 * (speed + across * p1 + along * x1) * speed + s1 * (a4_rate * t1 + a5_rate * f1) + b5_rate * f1


@compiled(_nrt=True)
def angle(y, side):  # type: ignore[no-untyped-def]
    """Return sine and cosine of the contact angle."""
    psi = y[13] if side > 0 else y[11]
    r1 = -side * SLOPE
    up = (r1 * np.cos(y[4]) - np.sin(y[4]) * np.cos(psi)) * np.cos(y[3]) + np.sin(psi) * np.sin(y[3])
    tangent = up / (-side * (r1 * np.sin(y[4]) + np.cos(psi) * np.cos(y[4])))
    cosine = 1.0 / np.sqrt(1.0 + tangent**2)
    return tangent * cosine, cosine


@compiled(_nrt=True)
def normal(y, side):  # type: ignore[no-untyped-def]
    """Return the normal force of one side; both depend on both multipliers."""
    QL, QR = gradient(y, 1.0)[0], gradient(y, -1.0)[0]
    (sl, cl), (sr, cr) = angle(y, 1.0), angle(y, -1.0)
    W1, W2 = SCALE * (QL[0] * y[15] + QR[0] * y[16]), SCALE * (QL[1] * y[15] + QR[1] * y[16])
    both = -(sl * cr + cl * sr)
    return (cr * W1 - sr * W2) / both if side > 0 else (-cl * W1 - sl * W2) / both


@compiled(_nrt=True)
def creepage(y, side, S, K):  # type: ignore[no-untyped-def]
    """Return the creepages along, across and about the normal, relative to the speed of rolling."""
    psi, xi, r, _, _, _ = rail(y, side)
    sd, cd = angle(y, side)
    cp, sp, ci, si, turn, t1, f1 = (
        np.cos(y[4]),
        np.sin(y[4]),
        np.cos(psi),
        np.sin(psi),
        OMEGA + y[10],
        y[8],
        y[9],
    )
    lever = xi * sp - r * cp * ci
    w1 = (
        -turn * r * (S * ci + K * sp * si)
        + y[5]
        - t1 * (r * (S * sp * ci + K * si) + xi * S * cp)
        - f1 * K * lever
    )
    w2 = turn * r * cp * si + y[6] + f1 * (xi * cp + r * sp * ci)
    w3 = (
        -turn * r * (K * ci - S * sp * si)
        + V
        + y[7]
        - t1 * (xi * K * cp + r * (K * sp * ci - S * si))
        + f1 * S * lever
    )
    speed = np.sqrt((w1 - 2 * y[5]) ** 2 + (w2 - 2 * y[6]) ** 2 + (w3 - 2 * y[7] - 2 * V) ** 2) / 2
    across = K * cd * w1 + side * sd * w2 - S * cd * w3
    return (S * w1 + K * w3) / speed, across / speed, (-side * sd * turn + cd * t1) / speed


@compiled(_nrt=True)
def friction(y, side):  # type: ignore[no-untyped-def]
    """Return the creep force in the directions of the track; a force above mu N is scaled back to it."""
    _, _, r, _, s1, s2 = rail(y, side)
    sd, cd = angle(y, side)
    S, K = np.sin(y[3] / cd), np.cos(y[3] / cd)
    N = normal(y, side)
    curved = 1.0 / (2 * r * math.sqrt(1 + SLOPE**2)) - s2 / (2 * (1 + s1**2) ** 1.5)
    size = N if N.real > 0 else -N
    c = (3 * size * (1 - SIGMA) * ELLIPSE / (2 * PI * curved * GM * math.sqrt(GG))) ** (1.0 / 3.0)
    along, across, spin = creepage(y, side, S, K)
    P = MU * N
    tx = -P * np.tanh(GM * c**2 * C11 * along / P)
    ty = -P * np.tanh(GM * c**2 * C22 * across / P + GM * c**3 * C23 * spin / P)
    force = np.sqrt(tx**2 + ty**2)
    if force.real > MU * size.real:
        tx, ty = tx * MU * size / force, ty * MU * size / force
    return S * tx + K * cd * ty, side * sd * ty, K * tx - S * cd * ty


@compiled(_nrt=True)
def moments(y, side):  # type: ignore[no-untyped-def]
    """Return what one side adds to the three forces and the three moments.

    Its constraint forces not included.
    """
    psi, xi, r, _, _, _ = rail(y, side)
    T1, T2, T3 = friction(y, side)
    ct, st, cp, sp, ci, si = np.cos(y[3]), np.sin(y[3]), np.cos(y[4]), np.sin(y[4]), np.cos(psi), np.sin(psi)
    out = np.zeros_like(y[:6])
    out[0], out[1], out[2] = T1, T2, T3
    out[3] = -(xi * st + r * si * ct * cp) * T1 - r * si * sp * T2 + (-xi * ct + r * si * st * cp) * T3
    out[4] = (
        -(xi * ct * sp - r * ci * ct * cp) * T1
        + (xi * cp + r * ci * sp) * T2
        + (xi * st * sp - r * ci * st * cp) * T3
    )
    out[5] = -r * (ci * st + si * ct * sp) * T1 + r * si * cp * T2 - r * (ci * ct - si * st * sp) * T3
    return out


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
