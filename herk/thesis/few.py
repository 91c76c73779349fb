"""Simplified Newton for one to three constraints, compiled around g: point, residual and inverse stay in registers.

It takes half the time of the way by QR, to which it is equal but for rounding. No index depends on the selection (an array that is
indexed by what is known only at run time must live in memory): a component that is not algebraic is updated by 0. The original measures
by QR how regular the Jacobian is, and warns; here a bound tells where no warning is possible, and other Jacobians are left to QR.
"""

from __future__ import annotations

from herk.core.jit import compiled
from herk.core.stack import stack
from herk.thesis.memory import DELTA, IRREGULAR, MAX_NORM, NEWTON, OK, TOL, UPDATES
from herk.thesis.newton import ILL_CONDITIONED, MOST_TESTS, misfit, near_miss

MOST_CONSTRAINTS, MOST_COMPONENTS = 3, 8  # the literal sizes below


@compiled(forceinline=True)
def difference(m, n, g, t, x, j, delta, base, k, out):  # type: ignore[no-untyped-def]
    """Write column k of the Jacobian, the quotient for component j, with the original's roundings (see newton.differences)."""
    point, shifted = stack(8), stack(3)
    for i in range(n):
        point[i] = x[i] + (delta if i == j else 0.0)
    g(t, point[:n], shifted[:m])
    for i in range(m):
        out[3 * k + i] = (shifted[i] - base[i]) / delta
    for i in range(n):
        x[i] = point[i] - (delta if i == j else 0.0)


@compiled(forceinline=True)
def square(block, k):  # type: ignore[no-untyped-def]
    """Return the square of the length of a column."""
    return block[3 * k] * block[3 * k] + block[3 * k + 1] * block[3 * k + 1] + block[3 * k + 2] * block[3 * k + 2]


@compiled(forceinline=True)
def adjugate(b, out):  # type: ignore[no-untyped-def]
    """Write the adjugate (by columns) of a matrix of order 3 (by columns); return the determinant."""
    for i in range(3):
        for j in range(3):
            p, q, r, s = 3 * ((i + 1) % 3), 3 * ((i + 2) % 3), (j + 1) % 3, (j + 2) % 3
            out[3 * j + i] = b[p + r] * b[q + s] - b[p + s] * b[q + r]
    return b[0] * out[0] + b[1] * out[3] + b[2] * out[6]


@compiled(forceinline=True)
def plainly_regular(m, block, det):  # type: ignore[no-untyped-def]
    """Tell whether |R_11 / R_mm| of QR with column pivoting is surely within its limit.

    R_11 is the longest column, no R_ii is larger and |det| is their product, so R_11 / R_mm <= R_11^m / |det|; squares need no roots.
    """
    longest = square(block, 0)
    if m == 1:
        return True
    longest = max(longest, square(block, 1))
    if m == 2:
        return longest * longest <= ILL_CONDITIONED * det * det
    longest = max(longest, square(block, 2))
    return longest * longest * longest <= ILL_CONDITIONED * det * det


@compiled(forceinline=True)
def inverse(m, n, block, order, out):  # type: ignore[no-untyped-def]
    """Write the n x m matrix (by rows) that takes g to the update of x; return whether the Jacobian is plainly regular.

    `block` has m columns of three places, filled up with those of the unit matrix.
    """
    adjoint = stack(9)
    for i in range(m, 3):
        for k in range(3):
            block[3 * i + k] = 0.0
            block[3 * k + i] = 0.0
        block[3 * i + i] = 1.0
    det = adjugate(block, adjoint)
    factor = 1.0 / det
    for i in range(n):
        for j in range(m):
            entry = 0.0
            for k in range(m):
                entry = adjoint[3 * j + k] if order[k] == i else entry
            out[3 * i + j] = entry * factor
    return plainly_regular(m, block, det)


@compiled(forceinline=True)
def few(m, n, g, t, given, order, control, ints):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the first m components of `order`, m <= 3 and n <= 8 constants; IRREGULAR if it must be done by QR."""
    max_norm, tol, delta = ints[MAX_NORM] == 1, control[TOL], control[DELTA]
    point, vector, values, block, update = stack(8), stack(8), stack(3), stack(9), stack(24)
    x, residual = point[:n], values[:m]
    for i in range(n):
        x[i] = given[i]
        vector[i] = given[i]
    g(t, x, residual)
    for k in range(m):
        difference(m, n, g, t, vector, order[k], delta, residual, k, block)
    if not inverse(m, n, block, order, update):
        return IRREGULAR
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
