"""Which components are algebraic.

Those E y' = f leaves free, then the columns of dg/dx a special LU factorisation chooses.
"""

from __future__ import annotations

from herk.jit.compiled import compiled


@compiled(forceinline=True)
def swap_columns(a, m, order, k, other):  # type: ignore[no-untyped-def]
    """Exchange columns k and `other` of a (by columns) and their entries in `order`."""
    if other != k:
        for i in range(m):
            a[k * m + i], a[other * m + i] = a[other * m + i], a[k * m + i]
        order[k], order[other] = order[other], order[k]


@compiled(forceinline=True)
def wanted(order, k, n, required, count):  # type: ignore[no-untyped-def]
    """Return where the k-th required component stands now.

    They are taken by descending index, whatever their entries.
    """
    component = required[count - 1 - k]
    for j in range(k, n):
        if order[j] == component:
            return j
    return k


@compiled(forceinline=True)
def largest(a, m, n, k):  # type: ignore[no-untyped-def]
    """Return the column of the largest entry of the rest of a.

    The first one by columns if several are equal.
    """
    best, size = k, -1.0
    for j in range(k, n):
        for i in range(k, m):
            if abs(a[j * m + i]) > size:
                best, size = j, abs(a[j * m + i])
    return best


@compiled(forceinline=True)
def select(a, m, n, order, required, count, ptol):  # type: ignore[no-untyped-def]
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
