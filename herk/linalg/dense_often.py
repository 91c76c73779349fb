"""LU of small matrices with which many systems are solved: rows are moved, pivots inverted."""

from __future__ import annotations

from herk.jit.inline import inline
from herk.jit.state import Floats, Wholes


def factor_often(a: Floats, k: int, order: Wholes) -> float:
    """Factor the k x k matrix a, stored by rows, in place; where its rows came from in `order`.

    Return the smallest pivot, 0 if it is singular. The diagonal holds inverse pivots: divisions are what
    solving waits for.
    """
    if k == 2:
        return factored(a, 2, order)
    if k == 3:
        return factored(a, 3, order)
    if k == 4:
        return factored(a, 4, order)
    return factored(a, k, order)


@inline
def factored(a: Floats, k: int, order: Wholes) -> float:
    """Factor the matrix."""
    smallest = 1e300
    for i in range(k):
        order[i] = i
    for i in range(k):
        best, size = i, abs(a[i * k + i])
        for r in range(i + 1, k):
            other = abs(a[r * k + i])
            if other > size:
                best, size = r, other
        if not (size > 0.0 and size < 1e300):
            return 0.0
        if best != i:
            order[i], order[best] = order[best], order[i]
            for c in range(k):
                a[i * k + c], a[best * k + c] = a[best * k + c], a[i * k + c]
        smallest = min(smallest, size)
        inverse = 1.0 / a[i * k + i]
        a[i * k + i] = inverse
        for r in range(i + 1, k):
            if a[r * k + i] != 0.0:
                multiplier = a[r * k + i] * inverse
                a[r * k + i] = multiplier
                for c in range(i + 1, k):
                    a[r * k + c] -= multiplier * a[i * k + c]
    return smallest


def substitute_often(a: Floats, k: int, order: Wholes, b: Floats, x: Floats) -> None:
    """Solve with the factors of `factor_often`: right-hand side b, solution x, not the same memory.

    LLVM writes out the loops of sizes that it knows: half of the time, the same numbers.
    """
    if k == 2:
        swept(a, 2, order, b, x)
    elif k == 3:
        swept(a, 3, order, b, x)
    elif k == 4:
        swept(a, 4, order, b, x)
    elif k == 5:
        swept(a, 5, order, b, x)
    elif k == 6:
        swept(a, 6, order, b, x)
    elif k == 7:
        swept(a, 7, order, b, x)
    elif k == 8:
        swept(a, 8, order, b, x)
    else:
        swept(a, k, order, b, x)


def swept(a: Floats, k: int, order: Wholes, b: Floats, x: Floats) -> None:
    """Solve with both factors.

    Sums of the second half run backwards: what is subtracted last is what is known last.
    """
    for i in range(k):
        row, value = i * k, b[order[i]]
        for c in range(i):
            value -= a[row + c] * x[c]
        x[i] = value
    for i in range(k - 1, -1, -1):
        row, value = i * k, x[i]
        for c in range(k - 1, i, -1):
            value -= a[row + c] * x[c]
        x[i] = value * a[row + i]
