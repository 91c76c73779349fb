"""Whether stability limits explicit steps: the dominating eigenvalue from two stages, Hairer's test.

The last stage and the new point belong to the same time. Where errors have grown along the direction of the
fastest change, their difference lies in it, so the quotient of the differences of y' and y approaches the
modulus of that eigenvalue (Hairer & Wanner II, IV.2). It is taken in the differential components, in which
a half-explicit step is an explicit one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.tableau import Tableau

ANGLES = np.deg2rad(np.arange(92.0, 181.0, 4.0))  # directions in which eigenvalues decay, if only a little
FARTHEST, FINE = 40.0, 0.02
INNOCENT = 6  # steps in a row after which earlier suspicion is forgotten


def suspect(h: float, left: float, own: HalfExplicit) -> bool:
    """Note whether an accepted step was as long as stability allows; True after many of them."""
    if abs(h) * own.fastest > own.gate and abs(left) > own.worth * abs(h):
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
