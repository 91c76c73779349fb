"""The algebraic components from g = 0, by the two iterations of the program of 2017 and its stopping rule."""

from __future__ import annotations

from herk.jit.state import Floats, Wholes
from herk.thesis.layout import NEWTON, OK, Herkosidae, function_at

MOST_TESTS = 100
ILL_CONDITIONED = 1e10  # of the square of |R_11 / R_mm|


def differences(t: float, columns: Wholes, count: int, out: Floats, own: Herkosidae) -> None:
    """Write the first `count` columns (by columns) of dg/dx.

    Absolute increment, delta as denominator, x_j restored by subtraction.

    The increment really made differs from delta by the rounding of x_j, and the restored x_j may differ from
    the old one: both are the original's. x stands in `vector`, and is changed in its last digits; `residual`
    is g(t, x).
    """
    m, x, base, shifted, delta = own.m, own.vector, own.residual, own.changed, own.delta
    for k in range(count):
        j = columns[k]
        x[j] += delta
        function_at(own.at_g)(t, x, own.parameters, shifted)
        for i in range(m):
            out[k * m + i] = (shifted[i] - base[i]) / delta
        x[j] -= delta


def pick(rows: Floats, columns: Wholes, count: int, n: int, m: int, out: Floats) -> None:
    """Write the chosen columns (by columns) of a Jacobian stored by rows."""
    for k in range(count):
        for i in range(m):
            out[k * m + i] = rows[i * n + columns[k]]


def exchange(a: Floats, r: Floats, order: Wholes, k: int, other: int, m: int) -> None:
    """Exchange columns k and `other` of a, and what r holds about them above row k."""
    if other != k:
        for i in range(m):
            a[k * m + i], a[other * m + i] = a[other * m + i], a[k * m + i]
        for i in range(k):
            r[k * m + i], r[other * m + i] = r[other * m + i], r[k * m + i]
        order[k], order[other] = order[other], order[k]


def orthogonalise(a: Floats, r: Floats, order: Wholes, m: int) -> None:
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


def invert(a: Floats, r: Floats, b: Floats, order: Wholes, m: int) -> float:
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


def eliminate(a: Floats, b: Floats, m: int) -> None:
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


def misfit(residual: Floats, m: int, max_norm: bool) -> float:
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


def near_miss(off: float, own: Herkosidae) -> int:
    """Return NEWTON after 99 updates in vain, but let a residual below 10 tol pass."""
    own.updates += MOST_TESTS - 1
    if off < 10.0 * own.tol:
        own.reluctant += 1
        return OK
    return NEWTON
