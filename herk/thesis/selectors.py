"""Which components are algebraic.

Those E y' = f leaves free, then the columns of dg/dx a special LU factorisation chooses.
"""

from __future__ import annotations

from herk.jit.state import Floats, Wholes


def swap_columns(a: Floats, m: int, order: Wholes, k: int, other: int) -> None:
    """Exchange columns k and `other` of a (by columns) and their entries in `order`."""
    if other != k:
        for i in range(m):
            a[k * m + i], a[other * m + i] = a[other * m + i], a[k * m + i]
        order[k], order[other] = order[other], order[k]


def wanted(order: Wholes, k: int, n: int, required: Wholes, count: int) -> int:
    """Return where the k-th required component stands now.

    They are taken by descending index, whatever their entries.
    """
    component = required[count - 1 - k]
    for j in range(k, n):
        if order[j] == component:
            return j
    return k


def largest(a: Floats, m: int, n: int, k: int) -> int:
    """Return the column of the largest entry of the rest of a.

    The first one by columns if several are equal.
    """
    best, size = k, -1.0
    for j in range(k, n):
        for i in range(k, m):
            if abs(a[j * m + i]) > size:
                best, size = j, abs(a[j * m + i])
    return best


def select(a: Floats, m: int, n: int, order: Wholes, required: Wholes, count: int, ptol: float) -> None:
    """Bring the m algebraic components to the front of `order`; a (by columns) is dg/dx and is destroyed.

    `required` are the components that must be algebraic, ascending. The original finds their columns by their
    old places, which is wrong after an exchange (and stops with an index error); here they are looked up.
    """
    for j in range(n):
        order[j] = j
    for k in range(m - 1):
        swap_columns(
            a, m, order, k, wanted(order, k, n, required, count) if k < count else largest(a, m, n, k)
        )
        best = k
        for i in range(k + 1, m):
            if abs(a[k * m + i]) > abs(a[k * m + best]):
                best = i
        if best != k:
            for j in range(n):
                a[j * m + k], a[j * m + best] = a[j * m + best], a[j * m + k]
        if abs(a[k * m + k]) < ptol:
            break
        for i in range(k + 1, m):
            factor = a[k * m + i] / a[k * m + k]
            for j in range(k + 1, n):
                a[j * m + i] -= factor * a[j * m + k]
    if n > m:
        k = m - 1
        swap_columns(
            a, m, order, k, wanted(order, k, n, required, count) if k < count else largest(a, m, n, k)
        )
