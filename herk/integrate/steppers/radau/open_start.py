"""Values of a start that are not given, where the constraints are linear in them, such as multipliers."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import constraint_jacobian, constraints
from herk.integrate.steppers.radau.layout import Radau
from herk.integrate.steps import RUNNING, STUCK, Loop
from herk.jit.state import Floats
from herk.linalg.stacked import solve_stacked

REFINED = 3  # times that the linear equations are solved: rounding of the first time is of large terms
LINEAR = 1e-12  # change of an entry of g_y, beside its row, that is rounding


def filled(loop: Loop) -> int:
    """Compute what is open from zero; STUCK if constraints do not determine it, or are not linear in it."""
    own = Radau.at(loop.own)
    n, m, count = own.n, own.m, 0
    for j in range(n):
        if own.open[j]:
            own.y[j] = 0.0
            count += 1
    if count > m or not own.have_jacobian:
        return STUCK
    open_columns(loop.t, count, own.whole, own)
    for _ in range(REFINED):
        for k in range(m * count):
            own.stacked[k] = own.whole[k]
        constraints(loop.t, own.y, own.g, own)
        for i in range(m):
            own.right_1[i] = -own.g[i]
        if not solve_stacked(own.stacked, m, count, own.right_1, own.right_2) > 0.0:
            return STUCK
        place = 0
        for j in range(n):
            if own.open[j]:
                own.y[j] += own.right_1[place]
                place += 1
    open_columns(loop.t, count, own.stacked, own)
    own.ngev = 0
    for i in range(m):
        size = 0.0
        for k in range(i * count, i * count + count):
            size = max(size, abs(own.whole[k]))
        for k in range(i * count, i * count + count):
            if not abs(own.stacked[k] - own.whole[k]) <= LINEAR * size:
                return STUCK
    return RUNNING


def open_columns(t: float, count: int, out: Floats, own: Radau) -> None:
    """Write those columns of g_y that belong to what is open, by rows."""
    constraint_jacobian(t, own.y, own)
    place = 0
    for j in range(own.n):
        if own.open[j]:
            for i in range(own.m):
                out[i * count + place] = own.g_y[i * own.n + j]
            place += 1
