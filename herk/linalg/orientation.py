"""On which side of singular a matrix is: the signs of the determinants of its diagonal blocks.

Between two matrices whose determinants have different signs every path leads through a singular one. Two
blocks that become singular together change no sign of the whole, so each is looked at by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from herk.jit.state import Floats, Wholes
from herk.linalg.dense import factor

ROUNDING = 1e-13  # of a pivot, rows and columns being in units of their largest entries


def block_signs(
    a: Floats, n: int, rows: Wholes, columns: Wholes, start: Wholes, count: int, out: Floats, order: Wholes
) -> None:
    """Write the signs of the determinants of blocks of the n x n matrix a, by rows; 0: singular to rounding.

    Block b has the rows and columns from start[b] to start[b + 1]. Behind the `count` signs, out is scratch.
    """
    for b in range(count):
        first, k = start[b], start[b + 1] - start[b]
        for i in range(k):
            for j in range(k):
                out[count + i * k + j] = a[rows[first + i] * n + columns[first + j]]
        level(out, count, k)
        sign = 1.0 if factor(out, count, k, order) > ROUNDING else 0.0
        for i in range(k):
            for j in range(i):
                sign = -sign if order[j] > order[i] else sign
            sign = -sign if out[count + order[i] * k + i] < 0.0 else sign
        out[b] = sign


def level(a: Floats, begin: int, k: int) -> None:
    """Divide rows, then columns of the k x k matrix at a[begin:] by their largest entries."""
    for along in range(2):
        across = k if along == 0 else 1
        step = 1 if along == 0 else k
        for i in range(k):
            largest = 0.0
            for j in range(k):
                largest = max(largest, abs(a[begin + i * across + j * step]))
            if largest > 0.0:
                for j in range(k):
                    a[begin + i * across + j * step] /= largest


def diagonal_blocks(pattern: NDArray[np.bool_]) -> tuple[Wholes, Wholes, Wholes]:
    """Return rows, columns and starts of the blocks of a square pattern; none if it is singular anyway."""
    from scipy.sparse import csr_array

    from herk.linalg.matching import matched
    from herk.linalg.ordering import blocks

    matrix = csr_array(pattern.astype(float))
    columns = matched(matrix)
    if (columns < 0).any():
        return columns[:0], columns[:0], np.zeros(1, dtype=np.int64)
    number = blocks(matrix, columns)
    rows = np.argsort(number, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(number))])
    return rows, columns[rows], starts.astype(np.int64)
