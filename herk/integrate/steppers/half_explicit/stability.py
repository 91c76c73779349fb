"""Whether stability limits explicit steps: the dominating eigenvalue from two stages, Hairer's test.

The last stage and the new point belong to the same time. Where errors have grown along the direction of the
fastest change, their difference lies in it, so the quotient of the differences of y' and y approaches the
modulus of that eigenvalue (Hairer & Wanner II, IV.2). It is taken in the differential components, in which
a half-explicit step is an explicit one.

Before the first step nothing has grown yet; there it is found by powers of differences of y'.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from herk.integrate.steppers.half_explicit.layout import OK, HalfExplicit
from herk.integrate.steppers.half_explicit.step import derivative, solve_algebraic
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats

ANGLES = np.deg2rad(np.arange(92.0, 181.0, 4.0))  # directions in which eigenvalues decay, if only a little
FARTHEST, FINE = 40.0, 0.02
INNOCENT = 6  # steps in a row after which earlier suspicion is forgotten
POWERS = 8  # of a difference, after which it lies along the fastest change
NEARBY = 1e-5  # length of the differences, in units of the unknowns
AT_ONCE = -1.0  # for `distant`: nothing more need be known
FAINT, SMALL = 0.01, 0.5  # of what counts: less than this after one of them,
A_FEW = 4  # or after so many, is not looked at further
SHORTLY = 0.01  # of the time in which the fastest change dies out: after it y' is looked at again
ALONG, STEADY = 0.9, 0.7  # cosine, quotient of two estimates: of a real eigenvalue that was found


def matters(h: float, left: float, own: HalfExplicit) -> bool:
    """Tell whether it matters what limits a step: to estimate `fastest` takes up to 4 % of a short one."""
    return own.patience > 0 and abs(left) > own.worth * abs(h)


def suspect(h: float, own: HalfExplicit) -> bool:
    """Note whether an accepted step was as long as stability allows; True after many of them."""
    if own.asking and abs(h) * own.fastest > own.gate:
        own.limited += 1
        own.innocent = 0
    else:
        own.innocent += 1
        if own.innocent >= INNOCENT:
            own.limited = 0
    if own.limited < own.patience:
        return False
    own.limited = 0
    own.patience *= 2  # if the answer is no, the question is asked again later
    return True


def decaying(t: float, least: float, own: HalfExplicit) -> float:
    """Return the modulus of the fastest eigenvalue at the current point if it is real and decays, else 0.

    One below `least` is not looked for.
    """
    n, nd, y, z, v, k, order = own.n, own.differential, own.y, own.stage, own.error, own.k, own.order
    last, found, before, along, along_before = own.stages * n, 0.0, 0.0, 0.0, 0.0
    for j in range(nd):
        v[j] = (abs(y[order[j]]) + own.floor[order[j]]) * (1.0 if j % 2 == 0 else -0.7)
    for power in range(POWERS):
        size = length(v, own)
        for i in range(n):
            z[i] = y[i]
        for j in range(nd):
            c = order[j]
            z[c] = y[c] + NEARBY / size * v[j]
            v[j] = z[c] - y[c]
        if solve_algebraic(t, z, own.tight, own) < 0 or derivative(t, z, own.stages, own) != OK:
            return 0.0
        dot, size = 0.0, length(v, own)
        for j in range(nd):
            k[last + j] -= k[j]
            dot -= v[j] * k[last + j] / (abs(y[order[j]]) + own.floor[order[j]]) ** 2
            v[j] = k[last + j]
        before, along_before, grown = found, along, length(v, own)
        found, along = grown / size, dot / (size * grown)
        if not found > (SMALL if power + 1 >= A_FEW else FAINT) * least:
            return 0.0
    real = min(along, along_before) > ALONG and min(found, before) > STEADY * max(found, before)
    return found if real and found > least else 0.0


def restlessness(t: float, forward: float, own: HalfExplicit) -> float:
    """Return how quickly the solution itself changes where `fastest` is known: the larger of y', sqrt(y'').

    Where the fastest change has died out, an implicit step may be as long as this allows. Where it has not,
    y'' is as large as it makes it.
    """
    n, nd, y, z, v, k, order = own.n, own.differential, own.y, own.stage, own.error, own.k, own.order
    last, h = own.stages * n, forward * SHORTLY / own.fastest
    for i in range(n):
        z[i] = y[i]
    for j in range(nd):
        z[order[j]] = y[order[j]] + h * k[j]
    if solve_algebraic(t + h, z, own.tight, own) < 0 or derivative(t + h, z, own.stages, own) != OK:
        return INFINITE
    for j in range(nd):
        v[j] = k[j]
    first = length(v, own) / nd**0.5
    for j in range(nd):
        v[j] = (k[last + j] - k[j]) / h
    return max(first, (length(v, own) / nd**0.5) ** 0.5)


def length(v: Floats, own: HalfExplicit) -> float:
    """Return the length of values of the differential components, in their order and in their units."""
    total = 0.0
    for j in range(own.differential):
        c = own.order[j]
        total += (v[j] / (abs(own.y[c]) + own.floor[c])) ** 2
    return total**0.5


@lru_cache(maxsize=64)
def bound(tableau: Tableau) -> float:
    """Return how large |h lambda| may be whatever the direction in which lambda decays; 0: not known."""
    if tableau.stages < 2 or float(tableau.c[-1]) != 1.0:
        return 0.0
    A, b = np.asarray(tableau.A, float), np.asarray(tableau.b, float)
    powers = [np.ones(len(b))]
    for _ in range(len(b) - 1):
        powers.append(A @ powers[-1])
    polynomial = np.array([*(float(b @ power) for power in reversed(powers)), 1.0])  # R(z), last power first
    lengths = np.arange(FINE, FARTHEST, FINE)
    growth = np.abs(np.polyval(polynomial, lengths[:, None] * np.exp(1j * ANGLES)))
    unstable = (growth > 1 + 1e-9).any(axis=1)
    return float(lengths[unstable.argmax()]) if unstable.any() else FARTHEST
