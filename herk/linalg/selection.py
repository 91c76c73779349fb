"""Which components are algebraic.

Procedure 3.11 of the thesis, an LU of dg/dy that takes the required columns first.
"""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array
from herk.jit.program import Program
from herk.jit.state import Floats, Wholes, address_of

RANK_TOLERANCE = 1e-12
# pivots beside the largest entry, below which rows and columns are scaled first: units may have made them
# small
IN_ANY_UNITS = 1e-7
LOSS = 0.01  # of a component beside the heaviest term of its row: two digits


def eliminate(
    a: Floats,
    rows: int,
    n: int,
    required: Wholes,
    cost: Wholes,
    size: Floats,
    heaviest: Floats,
    left: Wholes,
    threshold: float,
    tolerance: float,
    chosen: Wholes,
) -> int:
    """Choose `rows` pivot columns of a (by rows, overwritten) into `chosen`.

    Return how many pivots are not negligible.

    Required columns come first, largest entry among them; then complete pivoting. With threshold < 1 an entry
    may be taken that is not the largest but at least threshold times it, if its column costs less: sparse
    columns keep the blocks of the stage equations small. `size` tells how large the components have been:
    what is computed from a row carries the rounding of its heaviest term, and a component beside which that
    is too much is not computed from it. threshold = 1 and sizes of 1 are Procedure 3.11 as published.
    `heaviest`, and `left` for the columns not yet chosen, are scratch; pivots below `tolerance` times the
    largest entry are negligible.
    """
    largest = 0.0
    for i in range(rows * n):
        largest = max(largest, abs(a[i]))
    wanting = 0
    for j in range(n):
        left[j] = j
        wanting += required[j]
    for i in range(rows):
        forced, count = wanting > 0, n - i
        weigh(a, i, rows, n, size, tolerance * largest, forced, left, count, heaviest)
        top = 0.0
        for q in range(count):
            c = left[q]
            if required[c] or not forced:
                for r in range(i, rows):
                    if clear(abs(a[r * n + c]), size[c], heaviest[r]):
                        top = max(top, abs(a[r * n + c]))
        if not top > tolerance * largest:
            return i
        least = threshold * top
        row, place = best(a, i, rows, n, required, cost, size, heaviest, forced, least, left, count)
        chosen[i] = left[place]
        wanting -= required[chosen[i]]
        for q in range(place, count - 1):
            left[q] = left[q + 1]
        remove(a, i, row, chosen[i], rows, n, left, count - 1)
    return rows


def remove(a: Floats, i: int, row: int, column: int, rows: int, n: int, left: Wholes, count: int) -> None:
    """Bring a pivot row to place i and eliminate its column from the rows below; others are zero there."""
    a[i * n + column], a[row * n + column] = a[row * n + column], a[i * n + column]
    for q in range(count):
        c = left[q]
        a[i * n + c], a[row * n + c] = a[row * n + c], a[i * n + c]
    for r in range(i + 1, rows):
        multiplier = a[r * n + column] / a[i * n + column]
        if multiplier != 0.0:
            for q in range(count):
                a[r * n + left[q]] -= multiplier * a[i * n + left[q]]
            a[r * n + column] = 0.0


def scale(a: Floats, rows: int, n: int, weight: Floats) -> None:
    """Write a in units of the unknowns, columns times `weight`, and rows in units of their largest entry."""
    for r in range(rows):
        for c in range(n):
            a[r * n + c] *= weight[c]
    level_rows(a, rows, n)


def level_rows(a: Floats, rows: int, n: int) -> None:
    """Write rows in units of their largest entry."""
    for r in range(rows):
        top = 0.0
        for c in range(n):
            top = max(top, abs(a[r * n + c]))
        if top > 0.0:
            for c in range(n):
                a[r * n + c] /= top


def level_required(a: Floats, rows: int, n: int, required: Wholes) -> None:
    """Write required columns in units of their largest entry, then rows.

    They are taken whatever their unit. Where an unknown is zero so far, nobody knows how large it will be: a
    guess can be so far off that it hides them.
    """
    for c in range(n):
        top = 0.0
        for r in range(rows):
            top = max(top, abs(a[r * n + c]))
        if required[c] and top > 0.0:
            for r in range(rows):
                a[r * n + c] /= top
    level_rows(a, rows, n)


def weigh(
    a: Floats,
    i: int,
    rows: int,
    n: int,
    size: Floats,
    negligible: float,
    forced: bool,
    left: Wholes,
    count: int,
    heaviest: Floats,
) -> None:
    """Write the largest term |a_rc| size_c of each row that is left, over entries that may be pivots.

    0 as long as columns are required.
    """
    for r in range(i, rows):
        heaviest[r] = 0.0
    if forced:
        return
    for q in range(count):
        c = left[q]
        for r in range(i, rows):
            if abs(a[r * n + c]) > negligible:
                heaviest[r] = max(heaviest[r], abs(a[r * n + c]) * size[c])


def clear(value: float, size: float, heaviest: float) -> bool:
    """Tell whether a component may be computed from a row.

    One that is zero still may turn out to have any size.
    """
    return size == 0.0 or value * size >= LOSS * heaviest


def best(
    a: Floats,
    i: int,
    rows: int,
    n: int,
    required: Wholes,
    cost: Wholes,
    size: Floats,
    heaviest: Floats,
    forced: bool,
    least: float,
    left: Wholes,
    count: int,
) -> tuple[int, int]:
    """Return the row of the cheapest entry that is at least `least`, and the place of its column in `left`.

    Among equals the largest, then the first by columns.
    """
    row, place, top, price = i, 0, -1.0, 0
    for q in range(count):
        c = left[q]
        if forced and not required[c]:
            continue
        for r in range(i, rows):
            value = abs(a[r * n + c])
            allowed = value >= least and clear(value, size[c], heaviest[r])
            if allowed and (top < 0.0 or cost[c] < price or (cost[c] == price and value > top)):
                row, place, top, price = r, q, value, cost[c]
    return row, place


def select(
    jacobian: Array,
    required: tuple[int, ...] = (),
    *,
    cost: np.ndarray | None = None,
    size: Array | None = None,
    floor: Array | None = None,
    threshold: float = 1.0,
) -> tuple[tuple[int, ...], int]:
    """Return the algebraic components in the order of their pivots.

    And the rank found (smaller than m if dg/dy is rank-deficient).

    `floor` tells how large a component that is zero may be; with it, units do not decide.
    """
    m, n = np.shape(jacobian)
    flags, chosen = np.zeros(n, dtype=np.int64), np.zeros(max(m, 1), dtype=np.int64)
    flags[list(required)] = 1
    cost = np.zeros(n, dtype=np.int64) if cost is None else cost
    size = np.ones(n) if size is None else size
    matrix = np.array(jacobian, dtype=float).ravel()
    rank = _rank(
        matrix, flags, cost, size, threshold, RANK_TOLERANCE if floor is None else IN_ANY_UNITS, chosen, m
    )
    if rank < m and floor is not None:
        weight = size + floor
        matrix = np.array(jacobian, dtype=float).ravel()
        _program[scale].call(*_passed(matrix), m, n, *_passed(weight))
        scaled = matrix.copy()
        rank = _rank(matrix, flags, cost, size / weight, threshold, RANK_TOLERANCE, chosen, m)
        if rank < m:
            _program[level_required].call(*_passed(scaled), m, n, *_passed(flags))
            rank = _rank(scaled, flags, cost, size / weight, threshold, RANK_TOLERANCE, chosen, m)
    return tuple(int(c) for c in chosen[:rank]), rank


_program = Program(eliminate, scale, level_required)


def _passed(array: np.ndarray) -> tuple[int, int]:
    return address_of(array), array.size


def _rank(
    matrix: Array,
    required: Wholes,
    cost: Wholes,
    size: Array,
    threshold: float,
    tolerance: float,
    chosen: Wholes,
    m: int,
) -> int:
    n = size.size
    heaviest, left = np.zeros(max(m, 1)), np.zeros(n, dtype=np.int64)
    a, flags, price, sizes, found = map(_passed, (matrix, required, cost, size, chosen))
    given = *a, m, n, *flags, *price, *sizes, *_passed(heaviest), *_passed(left), threshold, tolerance, *found
    return int(_program[eliminate].call(*given))
