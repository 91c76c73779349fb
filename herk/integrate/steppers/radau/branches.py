"""Which solution of the constraints a step is on: det [S E; g_y] changes its sign where two of them meet."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import constraint_jacobian
from herk.integrate.steppers.radau.layout import Radau
from herk.linalg.dense import factor, level_rows, times

NEAR = 0.05  # part of the largest determinant so far from which on it may be on its way to zero
AT = 1e-6  # part that counts as zero
MOST = 0.8  # of the way to where the determinant would be zero, in one step


def determinant(own: Radau) -> float:
    """Return det [S E; g_y] in units of the unknowns, rows in units of their largest entries; 0: singular."""
    n, d, a, found = own.n, own.d, own.stacked, 1.0
    for k in range(d * n):
        a[k] = own.mass[k]
    for k in range(own.m * n):
        a[d * n + k] = own.g_y[k]
    level_rows(a, n, own.scale, own.right_1)
    if not factor(a, 0, n, own.used) > 0.0:
        return 0.0
    for i in range(n):
        for j in range(i):
            found = -found if own.used[j] > own.used[i] else found
        found = times(found, a[own.used[i] * n + i] * own.scale[i])
    return found


def same_branch(own: Radau) -> bool:
    """Tell whether the determinant has the sign it had with these rows."""
    if own.m == 0 or own.fixed:
        return True
    found = determinant(own)
    if own.sign == 0.0:
        own.sign, own.widest, own.here, own.falling = (1.0 if found > 0.0 else -1.0), 0.0, 0.0, 0.0
    own.widest = max(own.widest, abs(found))
    return found * own.sign > 0.0


def crossed(t: float, own: Radau) -> bool:
    """Tell whether the new point lies behind a place where the determinant is zero, or might.

    Near such a place a step can turn into the other solution, on which the determinant keeps its sign. So no
    step leads to where it would be zero if it went on falling as it did in the last one.
    """
    if own.m == 0 or own.fixed or not own.settled:  # other rows may be better there
        return False
    constraint_jacobian(t, own.new, own)
    own.there = determinant(own) * own.sign
    if not own.there > 0.0:
        return True
    if not (own.here > 0.0 and own.here < NEAR * own.widest):
        return False
    return own.there < AT * own.widest or own.falling * abs(own.h) > MOST * own.here


def moved(own: Radau) -> None:
    """Go on to the new point: the determinant there, and how fast it has fallen."""
    own.falling = (own.here - own.there) / abs(own.h) if own.here > 0.0 else 0.0
    own.here = own.there
    own.widest = max(own.widest, own.here)
