"""The last word of a step: its new point on the constraints, to rounding."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import constraint_jacobian, constraints
from herk.integrate.steppers.radau.layout import EPS, Radau
from herk.integrate.steppers.radau.rows import terms
from herk.integrate.steppers.radau.systems import decompose_end, solve_end, solve_real

MOST_CORRECTIONS = 20
ROUNDING = 4.0 * EPS
AS_IT_IS = 1e-14  # factors of a long step may be slow: they do not tell rounding above this size from that
NEARLY = 1e-12  # corrections that stop shrinking below this size are rounding in g itself,
STALLED = 1e-8  # with g_y at the new point also below this one: g cancels
AT_MOST = 1e-5  # and below this one if |g| shows it,
CANCELLED = 64.0 * EPS  # beside its terms
SLOW = 0.1  # contraction from which on g_y at the new point is worth its factors, whatever they cost
WITH_THEM, UNKNOWNS = 2, 5  # corrections that they need, and unknowns for which they cost one more
TARDY = 7  # steps that take it from the first, after one that had to


def settle(t: float, own: Radau) -> bool:
    """Correct the new point until g = 0 to rounding, with the real factors of the step while they serve.

    They keep S E y in place up to terms of the order of the step, so that the correction does to the solution
    what an error of Newton's iteration of this size does.
    """
    n, d, m, new, right = own.n, own.d, own.m, own.new, own.right_1
    own.residual = 0.0
    last, renewed = 1e300, own.tardy > 0 and renew(t, own)
    own.tardy = own.tardy - 1 if renewed else 0
    for j in range(n):
        own.right_2[j] = 1.0 / (abs(new[j]) + own.floor[j])
    for k in range(d):
        right[k] = 0.0
    for _ in range(MOST_CORRECTIONS):
        constraints(t, new, own.g, own)
        own.residual = largest(own)
        if own.residual == 0.0:
            return True
        for k in range(m):
            right[d + k] = -own.leveled[d + k] * own.g[k]
        size = correction(renewed, own)
        if not size < 1e300:
            return False
        if size <= ROUNDING or (size >= 0.5 * last and size <= (NEARLY if renewed else AS_IT_IS)):
            return True
        if renewed and size >= 0.5 * last:
            return size <= STALLED or (size <= AT_MOST and cancelled(own))
        if not renewed and (size > SLOW * last or slow(size, last, own)):
            renewed = True
            if not renew(t, own):
                return False
            own.tardy = 0 if own.sparse else TARDY  # where factors cost more than corrections
            size = correction(renewed, own)
        for j in range(n):
            new[j] += own.delta[j]
        last = size
    return False


def renew(t: float, own: Radau) -> bool:
    """Take g_y at the new point, with factors of its own; False if they are singular."""
    constraint_jacobian(t, own.new, own)
    return decompose_end(own)


def slow(size: float, last: float, own: Radau) -> bool:
    """Tell whether corrections that shrink like this one take more time than factors at the new point."""
    if own.sparse:
        return False
    rate = size / last
    for _ in range(WITH_THEM + own.n // UNKNOWNS):
        size *= rate
    return size > ROUNDING


def correction(renewed: bool, own: Radau) -> float:
    """Write the correction for this right-hand side; return its size beside the components."""
    if renewed:
        solve_end(own.right_1, own.delta, own)
    else:
        solve_real(own.right_1, own.delta, own)
    size, delta, per = 0.0, own.delta, own.right_2
    for j in range(own.n):
        part = abs(delta[j]) * per[j]
        size = part if not part <= size else size
    return size


def cancelled(own: Radau) -> bool:
    """Tell whether every |g| is small beside sum |dg/dy_j y_j|: what is left of large terms is rounding."""
    for k in range(own.m):
        if not abs(own.g[k]) <= CANCELLED * terms(k, own.g_y, 0, own.new, own):
            return False
    return True


def largest(own: Radau) -> float:
    """Return the largest |g|."""
    size = 0.0
    for k in range(own.m):
        part = abs(own.g[k])
        size = part if not part <= size else size
    return size
