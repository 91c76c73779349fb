"""Factors of a small block that serve several right-hand sides, row exchanges kept beside them as numbers."""

from __future__ import annotations

from herk.jit.state import Floats


def decompose(a: Floats, k: int) -> float:
    """Factor the k x k matrix at the beginning of a, by rows; the exchanged rows stand behind it.

    Return the smallest pivot, 0 if the matrix is singular.
    """
    smallest = 1e300
    for i in range(k):
        best = i
        for r in range(i + 1, k):
            if abs(a[r * k + i]) > abs(a[best * k + i]):
                best = r
        a[k * k + i] = float(best)
        if best != i:
            for c in range(k):
                a[i * k + c], a[best * k + c] = a[best * k + c], a[i * k + c]
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
