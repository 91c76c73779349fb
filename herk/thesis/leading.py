"""E x' = f: factorisation with complete pivoting, rank, and the components E leaves free."""

from __future__ import annotations

from herk.jit.state import Floats, Wholes

ROUNDING = 2.3e-16


def factor_leading(e: Floats, n: int, rows: Wholes, columns: Wholes) -> int:
    """Factor e (by rows) in place, P E Q = L U.

    Return its rank, -1 if a component is left free that E contains (not regularly reducible).

    `columns` ends with the free components, ascending. The original takes every pivot that is not exactly
    zero, and answers for [1 1; 1 1] x' = f as if x_2' were 0; here pivots at rounding level count as zero,
    and such an E is refused.
    """
    biggest = 0.0
    for k in range(n * n):
        biggest = max(biggest, abs(e[k]))
    free = 0
    for j in range(n):
        rows[j] = j
        columns[j] = j
        empty = True
        for i in range(n):
            empty = empty and e[i * n + j] == 0.0
        free += 1 if empty else 0
    rank = 0
    while rank < n and reduce(e, n, rank, n * ROUNDING * biggest, rows, columns):
        rank += 1
    for _ in range(rank, n):  # ascending order
        for j in range(rank, n - 1):
            if columns[j] > columns[j + 1]:
                columns[j], columns[j + 1] = columns[j + 1], columns[j]
    return rank if rank + free == n else -1


def reduce(e: Floats, n: int, k: int, floor: float, rows: Wholes, columns: Wholes) -> bool:
    """Make one elimination step with the largest entry that is left.

    Return whether there was one above `floor`.
    """
    best_row, best_column, size = k, k, 0.0
    for j in range(k, n):
        for i in range(k, n):
            if abs(e[i * n + j]) > size:
                best_row, best_column, size = i, j, abs(e[i * n + j])
    if size <= floor:
        return False
    for j in range(n):
        e[k * n + j], e[best_row * n + j] = e[best_row * n + j], e[k * n + j]
    for i in range(n):
        e[i * n + k], e[i * n + best_column] = e[i * n + best_column], e[i * n + k]
    rows[k], rows[best_row] = rows[best_row], rows[k]
    columns[k], columns[best_column] = columns[best_column], columns[k]
    for i in range(k + 1, n):
        if e[i * n + k] != 0.0:
            e[i * n + k] /= e[k * n + k]
            for j in range(k + 1, n):
                e[i * n + j] -= e[i * n + k] * e[k * n + j]
    return True


def is_diagonal(e: Floats, n: int, rank: int) -> bool:
    """Tell whether the factors are diagonal, so that solving is dividing."""
    for i in range(rank):
        for j in range(rank):
            if i != j and e[i * n + j] != 0.0:
                return False
    return True


def exceeds(n: int, rank: int, rows: Wholes, f: Floats, limit: float) -> bool:
    """Tell whether the rows of f that E does not reach are larger than `limit` in the 2-norm.

    E x' = f has no solution then.

    Rows are not reduced by L, as in the original, so this is right for zero rows of E only.
    """
    total = 0.0
    for k in range(rank, n):
        total += f[rows[k]] * f[rows[k]]
    return total > limit * limit


def solve_leading(
    e: Floats,
    n: int,
    rank: int,
    diagonal: bool,
    rows: Wholes,
    columns: Wholes,
    f: Floats,
    h: float,
    out: Floats,
) -> None:
    """Write h x' into `out`.

    The free components get 0, the rows of f beyond the rank are not looked at. f is destroyed.
    """
    if diagonal:
        for k in range(rank):
            out[columns[k]] = h * (f[rows[k]] / e[k * n + k])
    else:
        for k in range(rank):
            value = f[rows[k]]
            for j in range(k):
                value -= e[k * n + j] * f[rows[j]]
            f[rows[k]] = value
        for k in range(rank - 1, -1, -1):
            value = f[rows[k]]
            for j in range(k + 1, rank):
                value -= e[k * n + j] * f[rows[j]]
            f[rows[k]] = value / e[k * n + k]
            out[columns[k]] = h * f[rows[k]]
    for k in range(rank, n):
        out[columns[k]] = 0.0
