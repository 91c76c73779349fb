"""The algebraic components from g = 0, by the two iterations of the program of 2017 and its stopping rule."""

from __future__ import annotations

from herk.jit.compiled import compiled
from herk.thesis.memory import NEWTON, OK, RELUCTANT, TOL, UPDATES

MOST_TESTS = 100
ILL_CONDITIONED = 1e10  # of the square of |R_11 / R_mm|


@compiled(forceinline=True)
def differences(g, t, x, columns, count, delta, m, base, shifted, out):  # type: ignore[no-untyped-def]
    """Write the first `count` columns (by columns) of dg/dx.

    Absolute increment, delta as denominator, x_j restored by subtraction.

    The increment really made differs from delta by the rounding of x_j, and the restored x_j may differ from
    the old one: both are the original's. `base` is g(t, x); x is changed in its last digits.
    """
    for k in range(count):
        j = columns[k]
        x[j] += delta
        g(t, x, shifted)
        for i in range(m):
            out[k * m + i] = (shifted[i] - base[i]) / delta
        x[j] -= delta


@compiled(forceinline=True)
def pick(rows, columns, count, n, m, out):  # type: ignore[no-untyped-def]
    """Write the chosen columns (by columns) of a Jacobian stored by rows."""
    for k in range(count):
        for i in range(m):
            out[k * m + i] = rows[i * n + columns[k]]


@compiled(forceinline=True)
def exchange(a, r, order, k, other, m):  # type: ignore[no-untyped-def]
    """Exchange columns k and `other` of a, and what r holds about them above row k."""
    if other != k:
        for i in range(m):
            a[k * m + i], a[other * m + i] = a[other * m + i], a[k * m + i]
        for i in range(k):
            r[k * m + i], r[other * m + i] = r[other * m + i], r[k * m + i]
        order[k], order[other] = order[other], order[k]


@compiled(forceinline=True)
def orthogonalise(a, r, order, m):  # type: ignore[no-untyped-def]
    """Factor a P = U R in place by QR with column pivoting (all by columns).

    Columns of U orthogonal but not of length 1, so R_ii = 1.

    Instead of the ones r holds 1/|u_i|^2 on its diagonal: no roots are needed.
    """
    for k in range(m):
        best, size = k, -1.0
        for j in range(k, m):
            total = a[j * m] * a[j * m]
            for i in range(1, m):
                total += a[j * m + i] * a[j * m + i]
            if total > size:
                best, size = j, total
        exchange(a, r, order, k, best, m)
        r[k * m + k] = 1.0 / size
        for j in range(k + 1, m):
            total = a[k * m] * a[j * m]
            for i in range(1, m):
                total += a[k * m + i] * a[j * m + i]
            total *= r[k * m + k]
            r[j * m + k] = total
            for i in range(m):
                a[j * m + i] -= total * a[k * m + i]


@compiled(forceinline=True)
def invert(a, r, b, order, m):  # type: ignore[no-untyped-def]
    """Write the inverse of a P = U R into b (by columns), permuting `order` by P.

    Return the square of |R_11 / R_mm| of the usual QR.
    """
    orthogonalise(a, r, order, m)
    for i in range(m - 1, -1, -1):
        for j in range(m):
            value = a[i * m + j] * r[i * m + i]
            for k in range(i + 1, m):
                value -= r[k * m + i] * b[j * m + k]
            b[j * m + i] = value
    return r[m * m - 1] / r[0]


@compiled()
def eliminate(a, b, m):  # type: ignore[no-untyped-def]
    """Solve a x = b (a by columns) in place by LU with row exchanges.

    A singular a gives values that are not finite.
    """
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(a[k * m + i]) > abs(a[k * m + best]):
                best = i
        if best != k:
            for j in range(k, m):
                a[j * m + k], a[j * m + best] = a[j * m + best], a[j * m + k]
            b[k], b[best] = b[best], b[k]
        for i in range(k + 1, m):
            factor = a[k * m + i] / a[k * m + k]
            for j in range(k + 1, m):
                a[j * m + i] -= factor * a[j * m + k]
            b[i] -= factor * b[k]
    for i in range(m - 1, -1, -1):
        value = b[i]
        for j in range(i + 1, m):
            value -= a[j * m + i] * b[j]
        b[i] = value / a[i * m + i]


@compiled(forceinline=True)
def misfit(residual, m, max_norm):  # type: ignore[no-untyped-def]
    """Return what the stopping rule looks at.

    The signed sum of the residuals, in which opposite ones cancel, or their maximum norm.
    """
    total = 0.0
    if max_norm:
        for i in range(m):
            if not abs(residual[i]) <= total:
                total = abs(residual[i])
        return total
    for i in range(m):
        total += residual[i]
    return abs(total)


@compiled()
def near_miss(off, control, ints):  # type: ignore[no-untyped-def]
    """Return NEWTON after 99 updates in vain, but let a residual below 10 tol pass."""
    ints[UPDATES] += MOST_TESTS - 1
    if off < 10.0 * control[TOL]:
        ints[RELUCTANT] += 1
        return OK
    return NEWTON
