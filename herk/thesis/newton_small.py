"""Simplified Newton for one to three constraints, compiled around g.

Point, residual and inverse stay in registers.

It takes half the time of the general way. No index depends on the selection (an array that is indexed by what
is known only at run time must live in memory): a component that is not algebraic is updated by 0.
"""

from __future__ import annotations

from herk.jit.compiled import compiled
from herk.jit.stack import stack
from herk.thesis.memory import DELTA, ILL, MAX_NORM, NEWTON, OK, TOL, UPDATES
from herk.thesis.newton import ILL_CONDITIONED, MOST_TESTS, misfit, near_miss

MOST_CONSTRAINTS, MOST_COMPONENTS = 3, 8  # the literal sizes below


@compiled(forceinline=True)
def difference(m, n, g, t, x, j, delta, base, k, out):  # type: ignore[no-untyped-def]
    """Write column k of the Jacobian, the quotient for component j.

    With the original's roundings (see newton.differences).
    """
    point, shifted = stack(8), stack(3)
    for i in range(n):
        point[i] = x[i] + (delta if i == j else 0.0)
    g(t, point[:n], shifted[:m])
    for i in range(m):
        out[3 * k + i] = (shifted[i] - base[i]) / delta
    for i in range(n):
        x[i] = point[i] - (delta if i == j else 0.0)


@compiled(forceinline=True)
def bring_longest(block, pivots, ratios, k, m):  # type: ignore[no-untyped-def]
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


@compiled(forceinline=True)
def inverse(m, n, block, order, out):  # type: ignore[no-untyped-def]
    """Write the n x m matrix (by rows) that takes g to the update of x.

    Return the square of |R_11 / R_mm| (see newton.invert).

    `block` has m columns of three places, zeros below row m. It is QR with column pivoting, as in the
    original: step counts of Table 1 depend on how this rounds, and with the adjugate, which is quicker by a
    tenth, two that the original meets were missed.
    """
    ratios, scales, rows, pivots = stack(9), stack(3), stack(9), stack(3)
    for k in range(m):
        pivots[k] = order[k]
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


@compiled(forceinline=True)
def few(m, n, g, t, given, order, control, ints):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the first m components of `order`, m <= 3 and n <= 8 constants."""
    max_norm, tol, delta = ints[MAX_NORM] == 1, control[TOL], control[DELTA]
    point, vector, values, block, update = stack(8), stack(8), stack(3), stack(9), stack(24)
    x, residual = point[:n], values[:m]
    for i in range(n):
        x[i] = given[i]
        vector[i] = given[i]
    g(t, x, residual)
    for k in range(9):
        block[k] = 0.0
    for k in range(m):
        difference(m, n, g, t, vector, order[k], delta, residual, k, block)
    if not inverse(m, n, block, order, update) <= ILL_CONDITIONED:
        ints[ILL] += 1
    for test in range(MOST_TESTS):
        off = misfit(residual, m, max_norm)
        if off < tol or test == MOST_TESTS - 1:
            for i in range(n):
                given[i] = x[i]
            if not off < tol:
                return near_miss(off, control, ints)
            ints[UPDATES] += test
            return OK
        for i in range(n):
            total = update[3 * i] * residual[0]
            for j in range(1, m):
                total += update[3 * i + j] * residual[j]
            x[i] -= total
        g(t, x, residual)
    return NEWTON
