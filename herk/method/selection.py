"""Which components are algebraic: Procedure 3.11 of the thesis, an LU of dg/dy that takes the required columns first."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array
from herk.core.jit import compiled

RANK_TOLERANCE = 1e-12


@compiled()
def eliminate(a, rows, n, required, cost, threshold, chosen):  # type: ignore[no-untyped-def]
    """Choose `rows` pivot columns of a (by rows, overwritten) into `chosen`; return how many pivots are not negligible.

    Required columns come first, largest entry among them; then complete pivoting. With threshold < 1 an entry may be taken
    that is not the largest but at least threshold times it, if its column costs less: sparse columns keep the blocks of the stage
    equations small. threshold = 1 is Procedure 3.11 as published.
    """
    largest = 0.0
    for i in range(rows * n):
        largest = max(largest, abs(a[i]))
    left = 0
    for j in range(n):
        left += required[j]
    for i in range(rows):
        forced = left > 0
        top = 0.0
        for c in range(n):
            if (required[c] or not forced) and not taken(c, chosen, i):
                for r in range(i, rows):
                    top = max(top, abs(a[r * n + c]))
        if not top > RANK_TOLERANCE * largest:
            return i
        row, column = best(a, i, rows, n, required, cost, forced, threshold * top, chosen)
        chosen[i] = column
        left -= required[column]
        for c in range(n):
            a[i * n + c], a[row * n + c] = a[row * n + c], a[i * n + c]
        for r in range(i + 1, rows):
            multiplier = a[r * n + column] / a[i * n + column]
            if multiplier != 0.0:
                for c in range(n):
                    a[r * n + c] -= multiplier * a[i * n + c]
                a[r * n + column] = 0.0
    return rows


@compiled()
def best(a, i, rows, n, required, cost, forced, least, chosen):  # type: ignore[no-untyped-def]
    """Return row and column of the cheapest entry that is at least `least`; among equals the largest, then the first by columns."""
    row, column, size, price = i, 0, -1.0, 0
    for c in range(n):
        if taken(c, chosen, i) or (forced and not required[c]):
            continue
        for r in range(i, rows):
            value = abs(a[r * n + c])
            if value >= least and (size < 0.0 or cost[c] < price or (cost[c] == price and value > size)):
                row, column, size, price = r, c, value, cost[c]
    return row, column


@compiled()
def taken(column, chosen, count):  # type: ignore[no-untyped-def]
    """Tell whether a column is among the first `count` chosen ones."""
    for i in range(count):
        if chosen[i] == column:
            return True
    return False


def select(
    jacobian: Array, required: tuple[int, ...] = (), *, cost: np.ndarray | None = None, threshold: float = 1.0
) -> tuple[tuple[int, ...], int]:
    """Return the algebraic components in the order of their pivots, and the rank found (smaller than m if dg/dy is rank-deficient)."""
    m, n = np.shape(jacobian)
    flags = np.zeros(n, dtype=np.int64)
    flags[list(required)] = 1
    chosen = np.zeros(max(m, 1), dtype=np.int64)
    cost = np.zeros(n, dtype=np.int64) if cost is None else cost
    rank = int(eliminate(np.array(jacobian, dtype=float).ravel(), m, n, flags, cost, threshold, chosen))
    return tuple(int(c) for c in chosen[:rank]), rank
