"""Wheel and rail of the wheelset: where they touch, and the creep forces there.

The left side has sign 1 (xi > 0), the right side -1 (xi < 0).
"""

from __future__ import annotations

import math

import numpy as np

from herk.jit.compiled import compiled

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
