"""Factors of a small block that serve several right-hand sides, row exchanges kept beside them as numbers."""

from __future__ import annotations

from herk.jit.state import Floats


def decompose(a: Floats, k: int) -> float:
    """Factor the k x k matrix at the beginning of a, by rows; the exchanged rows stand behind it.

    Rows are exchanged by entries in units of the unknowns, which stand at a[k*k + k : k*k + 2*k], and in
    units of the largest entry of each row; the k numbers behind these are used. Return the smallest pivot,
    0 if the matrix is singular.
    """
    smallest, unit, level = 1e300, k * k + k, k * k + 2 * k
    for r in range(k):
        size = 0.0
        for c in range(k):
            size = max(size, abs(a[r * k + c]) * a[unit + c])
        a[level + r] = 1.0 / size if size > 0.0 else 0.0
    for i in range(k):
        best = i
        for r in range(i + 1, k):
            if abs(a[r * k + i]) * a[level + r] > abs(a[best * k + i]) * a[level + best]:
                best = r
        a[k * k + i] = float(best)
        if best != i:
            for c in range(k):
                a[i * k + c], a[best * k + c] = a[best * k + c], a[i * k + c]
            a[level + best] = a[level + i]
        pivot = abs(a[i * k + i])
        if not (pivot > 0.0 and pivot < 1e300):
            return 0.0
        smallest = min(smallest, pivot)
        inverse = 1.0 / a[i * k + i]
        for r in range(i + 1, k):
            if a[r * k + i] != 0.0:
                multiplier = a[r * k + i] * inverse
                a[r * k + i] = multiplier
                for c in range(i + 1, k):
                    a[r * k + c] -= multiplier * a[i * k + c]
    return smallest


def resolve(a: Floats, k: int, x: Floats) -> None:
    """Replace the right-hand side at the beginning of x by the solution."""
    for i in range(k):
        other = int(a[k * k + i])
        x[i], x[other] = x[other], x[i]
    for i in range(k):
        for c in range(i):
            x[i] -= a[i * k + c] * x[c]
    for i in range(k - 1, -1, -1):
        for c in range(i + 1, k):
            x[i] -= a[i * k + c] * x[c]
        x[i] /= a[i * k + i]
