"""Simplified Newton for three constraints, a plane mechanism in all its levels: the inverse by cofactors, kept in registers.

It takes two thirds of the time of the way by QR, to which it is equal but for rounding. The original measures by QR how regular the
Jacobian is, and warns; here a bound tells where no warning is possible, and only the other Jacobians go the way by QR.
"""

from __future__ import annotations

from herk.core.jit import compiled
from herk.thesis.memory import MAX_NORM, NEWTON, OK, TOL, UPDATES
from herk.thesis.newton import ILL_CONDITIONED, MOST_TESTS, misfit, near_miss


@compiled(forceinline=True)
def plainly_regular(block):  # type: ignore[no-untyped-def]
    """Tell whether |R_11 / R_33| of QR with column pivoting is surely within its limit.

    R_11 is the longest column, R_22 <= R_11 and |det| = R_11 R_22 R_33, so R_11 / R_33 <= R_11^3 / |det|; squares need no roots.
    """
    a, b, c, d, e, f, u, v, w = block[0], block[1], block[2], block[3], block[4], block[5], block[6], block[7], block[8]
    det = a * (e * w - f * v) + b * (f * u - d * w) + c * (d * v - e * u)
    longest = max(max(a * a + b * b + c * c, d * d + e * e + f * f), u * u + v * v + w * w)
    return longest * longest * longest <= ILL_CONDITIONED * det * det


@compiled(forceinline=True)
def iterate_three(g, t, x, order, residual, block, control, ints):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the first three components of `order`; `block` is the Jacobian (by columns) and `residual` g(t, x)."""
    max_norm, tol = ints[MAX_NORM] == 1, control[TOL]
    a, b, c, d, e, f, u, v, w = block[0], block[1], block[2], block[3], block[4], block[5], block[6], block[7], block[8]
    q = 1.0 / (a * (e * w - f * v) + b * (f * u - d * w) + c * (d * v - e * u))
    i00, i01, i02 = (e * w - f * v) * q, (f * u - d * w) * q, (d * v - e * u) * q
    i10, i11, i12 = (c * v - b * w) * q, (a * w - c * u) * q, (b * u - a * v) * q
    i20, i21, i22 = (b * f - c * e) * q, (c * d - a * f) * q, (a * e - b * d) * q
    for test in range(MOST_TESTS):
        off = misfit(residual, 3, max_norm)
        if off < tol:
            ints[UPDATES] += test
            return OK
        if test == MOST_TESTS - 1:
            return near_miss(off, control, ints)
        r, s, z = residual[0], residual[1], residual[2]
        x[order[0]] -= i00 * r + i01 * s + i02 * z
        x[order[1]] -= i10 * r + i11 * s + i12 * z
        x[order[2]] -= i20 * r + i21 * s + i22 * z
        g(t, x, residual)
    return NEWTON
