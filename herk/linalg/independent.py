"""Which rows of a matrix span the others, and how: by elimination, which keeps zeros and units apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from herk.core.dae import Array
from herk.linalg.balance import factors

ROUNDING = 1e-12  # of its terms, below which a sum is zero


def independent(matrix: Array) -> tuple[NDArray[np.int64], Array]:
    """Return rows that span all others, and the combinations of rows that vanish, in whatever units."""
    heights, widths = factors(matrix)
    left, made = matrix * heights[:, None] * widths, np.diag(heights)
    pivots: list[int] = []
    for _ in range(min(left.shape)):
        row, column = np.unravel_index(int(np.argmax(np.abs(left))), left.shape)
        if left[row, column] == 0.0:
            break
        factor = left[:, column] / left[row, column]
        factor[[*pivots, row]] = 0.0
        reached = np.abs(left) + np.abs(np.outer(factor, left[row]))
        left, made = left - np.outer(factor, left[row]), made - np.outer(factor, made[row])
        left = np.where(np.abs(left) > ROUNDING * reached, left, 0.0)
        left[:, column], left[row] = 0.0, 0.0
        pivots.append(int(row))
    rest = np.setdiff1d(np.arange(len(matrix)), pivots)
    return np.array(sorted(pivots), dtype=np.int64), made[rest] / heights[rest, None]
