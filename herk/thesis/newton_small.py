"""Simplified Newton for one to three constraints, compiled around g.

Point, residual and inverse stay in registers.

It takes half the time of the general way. No index depends on the selection (an array that is indexed by what
is known only at run time must live in memory): a component that is not algebraic is updated by 0.
"""

from __future__ import annotations

from herk.jit.stack import stack
from herk.jit.state import Floats, Wholes, view
from herk.thesis.layout import NEWTON, OK, Herkosidae
from herk.thesis.newton import ILL_CONDITIONED, MOST_TESTS, misfit, near_miss

MOST_CONSTRAINTS, MOST_COMPONENTS = 3, 8  # the literal sizes below
M, N = MOST_CONSTRAINTS, MOST_COMPONENTS  # of one system, see `solvers`


def g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Stand where the constraints of one system will be, see `solvers`."""
    raise NotImplementedError


def bring_longest(block: Floats, pivots: Floats, ratios: Floats, k: int, m: int) -> float:
    """Exchange columns until column k is the longest of those from k on; return the square of its length."""
    size = (
        block[3 * k] * block[3 * k]
        + block[3 * k + 1] * block[3 * k + 1]
        + block[3 * k + 2] * block[3 * k + 2]
    )
    for j in range(k + 1, m):
        other = (
            block[3 * j] * block[3 * j]
            + block[3 * j + 1] * block[3 * j + 1]
            + block[3 * j + 2] * block[3 * j + 2]
        )
        if other > size:
            size = other
            pivots[k], pivots[j] = pivots[j], pivots[k]
            for i in range(m):
                block[3 * k + i], block[3 * j + i] = block[3 * j + i], block[3 * k + i]
            for i in range(k):
                ratios[3 * k + i], ratios[3 * j + i] = ratios[3 * j + i], ratios[3 * k + i]
    return size


def inverse(m: int, n: int, block: Floats, order: Wholes, out: Floats) -> float:
    """Write the n x m matrix (by rows) that takes g to the update of x.

    Return the square of |R_11 / R_mm| (see newton.invert).

    `block` has m columns of three places, zeros below row m. It is QR with column pivoting, as in the
    original: step counts of Table 1 depend on how this rounds, and with the adjugate, which is quicker by a
    tenth, two that the original meets were missed.
    """
    ratios, scales, rows, pivots = stack(9), stack(3), stack(9), stack(3)
    for k in range(m):
        pivots[k] = float(order[k])
    for k in range(m):
        scales[k] = 1.0 / bring_longest(block, pivots, ratios, k, m)
        for j in range(k + 1, m):
            total = (
                block[3 * k] * block[3 * j]
                + block[3 * k + 1] * block[3 * j + 1]
                + block[3 * k + 2] * block[3 * j + 2]
            )
            total *= scales[k]
            ratios[3 * j + k] = total
            for i in range(m):
                block[3 * j + i] -= total * block[3 * k + i]
    for back in range(m):
        i = m - 1 - back
        for j in range(m):
            value = block[3 * i + j] * scales[i]
            for k in range(i + 1, m):
                value -= ratios[3 * k + i] * rows[3 * k + j]
            rows[3 * i + j] = value
    for i in range(n):
        for j in range(m):
            entry = 0.0
            for k in range(m):
                entry = rows[3 * k + j] if pivots[k] == i else entry
            out[3 * i + j] = entry
    return scales[m - 1] / scales[0]


def quotients(t: float, given: Floats, order: Wholes, base: Floats, block: Floats, own: Herkosidae) -> None:
    """Write the algebraic columns of the Jacobian with the original's roundings, see newton.differences."""
    vector, point, shifted, delta = stack(8), stack(8), stack(3), own.delta
    for k in range(9):
        block[k] = 0.0
    for i in range(N):
        vector[i] = given[i]
    for k in range(M):
        j = order[k]
        for i in range(N):
            point[i] = vector[i] + (delta if i == j else 0.0)
        g(t, view(point, 0, N), own.parameters, view(shifted, 0, M))
        for i in range(M):
            block[3 * k + i] = (shifted[i] - base[i]) / delta
        for i in range(N):
            vector[i] = point[i] - (delta if i == j else 0.0)


def few(t: float, given: Floats, order: Wholes, number: int) -> int:
    """Solve g = 0 for the first M components of `order`, M <= 3 and N <= 8 constants."""
    own = Herkosidae.at(number)
    max_norm, tol = own.max_norm == 1, own.tol
    point, residual, block, update = stack(8), stack(3), stack(9), stack(24)
    for i in range(N):
        point[i] = given[i]
    g(t, view(point, 0, N), own.parameters, view(residual, 0, M))
    quotients(t, given, order, residual, block, own)
    if not inverse(M, N, block, order, update) <= ILL_CONDITIONED:
        own.ill += 1
    for test in range(MOST_TESTS):
        off = misfit(residual, M, max_norm)
        if off < tol or test == MOST_TESTS - 1:
            for i in range(N):
                given[i] = point[i]
            if not off < tol:
                return near_miss(off, own)
            own.updates += test
            return OK
        for i in range(N):
            total = update[3 * i] * residual[0]
            for j in range(1, M):
                total += update[3 * i + j] * residual[j]
            point[i] -= total
        g(t, view(point, 0, N), own.parameters, view(residual, 0, M))
    return NEWTON
