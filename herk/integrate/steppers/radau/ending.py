"""Whether the last point of a run means anything where constraints have become singular just there."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import constraints
from herk.integrate.steppers.radau.error import last_digits, norm
from herk.integrate.steppers.radau.layout import EPS, Radau
from herk.integrate.steppers.radau.rows import terms
from herk.integrate.steppers.radau.settle import renew
from herk.integrate.steppers.radau.systems import solve_end
from herk.integrate.steps import Loop

MEANT = 100.0  # tolerances by which rounding in the constraints may move the last point


def undecided(loop: Loop, own: Radau) -> bool:
    """Tell whether rounding in the constraints decides on the last point, by far more than the tolerance.

    Where rows of E are chosen nobody follows a determinant to its zero. One at the end of the span is met by
    a single step, and the point is what g = 0 leaves of it: anything, within the last digits of g.
    """
    if own.settled or own.m == 0 or loop.fixed or loop.target != loop.t_end:
        return False
    if not renew(loop.target, own):
        return True
    for j in range(own.n):
        own.stage[j] = own.new[j]
    constraints(loop.target, own.stage, own.g, own)
    last_digits(loop.target, own)
    for k in range(own.m):
        own.right_2[k] = max(own.right_2[k], EPS * terms(k, own.g_y, 0, own.stage, own))
    group = 1
    while group < 2 * own.m:
        if not displaced(group, own) <= MEANT:
            return True
        group *= 2
    return False


def displaced(group: int, own: Radau) -> float:
    """Return how far rounding may move the point, in tolerances.

    Its sign changes from group to group of rows. Errors of two constraints may cancel: any two of them
    have the same sign once and opposite ones once.
    """
    for k in range(own.d):
        own.right_1[k] = 0.0
    for k in range(own.m):
        size = own.leveled[own.d + k] * own.right_2[k]
        own.right_1[own.d + k] = size if k // group % 2 == 0 else -size
    solve_end(own.right_1, own.error, own)
    return norm(own)
