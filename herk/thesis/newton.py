"""The algebraic components from g = 0, by the two iterations of the program of 2017 and its stopping rule."""

from __future__ import annotations

from math import sqrt

from herk.core.jit import compiled

MOST_TESTS = 100
ILL_CONDITIONED = 1e5


@compiled(forceinline=True)
def differences(g, t, x, columns, count, delta, m, base, shifted, out):  # type: ignore[no-untyped-def]
    """Write the first `count` columns (by columns) of dg/dx: absolute increment, delta as denominator, x_j restored by subtraction.

    The increment really made differs from delta by the rounding of x_j, and the restored x_j may differ from the old one:
    both are the original's. `base` is g(t, x); x is changed in its last digits.
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
def reflect(a, b, k, m):  # type: ignore[no-untyped-def]
    """Reduce column k of a (by columns) below its diagonal by a reflection, and apply it to the rest of a and to b (by columns)."""
    tail = 0.0
    for i in range(k + 1, m):
        tail += a[k * m + i] * a[k * m + i]
    if tail == 0.0:
        return
    head = a[k * m + k]
    size = sqrt(head * head + tail)
    beta = -size if head >= 0.0 else size
    tau = (beta - head) / beta
    scale = 1.0 / (head - beta)
    for i in range(k + 1, m):
        a[k * m + i] *= scale
    for j in range(k + 1, m):
        total = a[j * m + k]
        for i in range(k + 1, m):
            total += a[k * m + i] * a[j * m + i]
        total *= tau
        a[j * m + k] -= total
        for i in range(k + 1, m):
            a[j * m + i] -= total * a[k * m + i]
    for j in range(m):
        total = b[j * m + k]
        for i in range(k + 1, m):
            total += a[k * m + i] * b[j * m + i]
        total *= tau
        b[j * m + k] -= total
        for i in range(k + 1, m):
            b[j * m + i] -= total * a[k * m + i]
    a[k * m + k] = beta


@compiled(forceinline=True)
def invert(a, b, order, m):  # type: ignore[no-untyped-def]
    """Write R^-1 Q' of a P = Q R with column pivoting into b (by columns), permuting `order` by P; return |R_11 / R_mm|."""
    for j in range(m):
        for i in range(m):
            b[j * m + i] = 1.0 if i == j else 0.0
    for k in range(m - 1):
        best, size = k, -1.0
        for j in range(k, m):
            total = 0.0
            for i in range(k, m):
                total += a[j * m + i] * a[j * m + i]
            if total > size:
                best, size = j, total
        if best != k:
            for i in range(m):
                a[k * m + i], a[best * m + i] = a[best * m + i], a[k * m + i]
            order[k], order[best] = order[best], order[k]
        reflect(a, b, k, m)
    ratio = abs(a[0] / a[m * m - 1])
    for i in range(m - 1, -1, -1):
        scale = 1.0 / a[i * m + i]
        for j in range(m):
            value = b[j * m + i]
            for k in range(i + 1, m):
                value -= a[k * m + i] * b[j * m + k]
            b[j * m + i] = value * scale
    return ratio


@compiled()
def eliminate(a, b, m):  # type: ignore[no-untyped-def]
    """Solve a x = b (a by columns) in place by LU with row exchanges; a singular a gives values that are not finite."""
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
    """Return what the stopping rule looks at: the signed sum of the residuals, in which opposite ones cancel, or their maximum norm."""
    total = 0.0
    if max_norm:
        for i in range(m):
            if not abs(residual[i]) <= total:
                total = abs(residual[i])
        return total
    for i in range(m):
        total += residual[i]
    return abs(total)
