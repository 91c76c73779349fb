"""Charge pump: a MOS transistor between two capacities, driven by a trapezoidal voltage.

Index 2, piecewise smooth, known in closed form.

Both sums of charges stay zero, so the circuit has no memory: U2 follows from one equation at every time, and
U3 = 4 U2. Of the cases of the transistor only those are written here that this leaves. U1 is never below the
voltage of the flat band. Source and drain do not change roles (U3 >= U2). The channel conducts if and only if
U1 > VT0 (s > 0 and CS U2 = COX s/3 give U1 - threshold = 2.2 U2), and then it is pinched off at the drain (U1
- U3 is below the threshold). So all breakpoints are at times known in advance.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from sympy import Piecewise, Rational, sqrt

from herk.core import Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model
from testset.pulses import Pulse
from testset.stored import stored

TAGS = ("index2", "circuit", "nonlinear", "discontinuous", "quasistatic")
SOURCE = "M. Günther, G. Denk, U. Feldmann 1995; Test Set for IVP Solvers (CWI/Bari), problem pump"
CS, CD, COX, VT0, GAMMA, PHI = map(Rational, ("1.6e-12", "0.4e-12", "4e-12", "0.2", "0.035", "1.01"))
FLAT = VT0 - GAMMA * sqrt(PHI) - PHI  # voltage of the flat band
INPUT = Pulse(20, ("50e-9", "10e-9", "50e-9", "10e-9"))
SIZES = (1e-11,) * 5 + (1.0,) * 3 + (1e-3,)


def charges(u1: Any, u2: Any) -> tuple[Any, Any]:
    """Return the charges of the gate and of source or drain, without and with a conducting channel."""
    s = u1 - u2 - VT0 - GAMMA * (sqrt(PHI + u2) - sqrt(PHI))
    depleted = COX * GAMMA * (sqrt(GAMMA**2 / 4 + u1 - FLAT) - GAMMA / 2)
    gate = Piecewise((depleted, u1 <= VT0), (COX * (2 * s / 3 + GAMMA * sqrt(PHI + u2)), True))
    return gate, Piecewise((0, u1 <= VT0), (-COX * s / 3, True))


def exact(time: float) -> Array:
    """Return the solution, at breakpoints its limit from the left."""
    u1, slope = INPUT.left(time)
    cs, cox, vt0, gamma, phi = map(float, (CS, COX, VT0, GAMMA, PHI))
    over = u1 - vt0 + gamma * math.sqrt(phi)  # s = over - U2 - gamma sqrt(phi + U2), and CS U2 = COX s/3
    if over <= gamma * math.sqrt(phi):
        root = math.sqrt(gamma**2 / 4 + u1 - float(FLAT))
        return np.array(
            [cox * gamma * (root - gamma / 2), 0, 0, 0, 0, u1, 0, 0, -cox * gamma * slope / (2 * root)]
        )
    k = 1 + 3 * cs / cox
    root = (-gamma + math.sqrt(gamma**2 + 4 * k * (over + k * phi))) / (
        2 * k
    )  # sqrt(phi + U2), from a quadratic equation
    u2, rate = root**2 - phi, slope / (k + gamma / (2 * root))
    moved = cs * u2
    gate, current = 2 * moved + cox * gamma * root, -2 * cs * rate - cox * gamma * rate / (2 * root)
    return np.array([gate, moved, -moved, moved, -moved, u1, u2, moved / float(CD), current])


def source_charge(t: float, y: Array) -> float:  # noqa: ARG001
    """Return the sum of the charges at the source."""
    return float(y[1] + y[2])


def drain_charge(t: float, y: Array) -> float:  # noqa: ARG001
    """Return the sum of the charges at the drain."""
    return float(y[3] + y[4])


def breakpoints(t_end: float) -> tuple[float, ...]:
    """Return when the input has a corner and when it passes the threshold.

    Where the transistor begins and ceases to conduct.
    """
    (_, _), (begin, _), (top, _), (down, _), (end, _) = INPUT.corners
    part = Fraction(VT0.p, VT0.q) / INPUT.top
    inner = (begin, begin + part * (top - begin), top, down, end - part * (end - down), end)
    times = (
        float(k * INPUT.period + time) for k in range(int(t_end / float(INPUT.period)) + 1) for time in inner
    )
    return tuple(time for time in times if time <= t_end)


def problem(t_end: float = 1.2e-6) -> Problem:
    """Return the pump; its current jumps at the corners of the input."""
    states = yt1, ys, yt2, yd, yt3, u1, u2, u3, current = sp.symbols(
        "YT1 YS YT2 YD YT3 U1 U2 U3 I", real=True
    )
    gate, channel = charges(u1, u2)
    E = sp.zeros(9)
    E[0, 0] = E[1, 1] = E[1, 2] = E[2, 3] = E[2, 4] = 1
    balances = [
        INPUT.differentiable(t_end) - u1,
        ys - CS * u2,
        yt2 - channel,
        yd - CD * u3,
        yt3 - channel,
        yt1 - gate,
    ]
    model = Model(
        "charge_pump", states, E, [-current, 0, 0, *balances], t=t, t_span=(0.0, t_end), y0=tuple(exact(0.0))
    )
    found = stored("charge_pump", t_end)
    how = "two algebraic equations at every time"
    return Problem(
        name="charge_pump",
        title="Charge pump",
        t_span=model.t_span,
        y0=exact(0.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, exact(t_end), 14.0, "closed form", exact, how=how)
        if found is None
        else replace(found, exact=exact),
        invariants=(
            Invariant("charge at the source", source_charge),
            Invariant("charge at the drain", drain_charge),
        ),
        groups={"charges": (0, 1, 2, 3, 4), "voltages": (5, 6, 7), "currents": (8,)},
        tags=frozenset(TAGS),
        breakpoints=breakpoints(t_end),
        sizes=SIZES,
    )
