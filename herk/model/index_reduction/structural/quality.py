"""How good a factor of a derivative is to divide by, by its values.

The first values are near the start, the last is elsewhere, those between are along the span, at times after
the start; without factors that depend on time there are none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from herk.core.dae import Array

NEAR = 2  # values near the start
LOST = 1e-11  # of its terms: an entry that is zero where it was looked at
_GOOD = 0.1  # a pivot above this, beside its row, is as good as any

Quality = tuple[float, float]


def decisive(values: Array) -> Array:
    """Return the values near the start and elsewhere; along the span pivots may have vanished."""
    return np.concatenate([values[:NEAR], values[-1:]])


def quality(row: Mapping[int, Array], column: int) -> Quality:
    """Return how good a pivot is near the start, and how good it stays.

    It is good beside its row, and beside what it is elsewhere: one that vanishes at the start is large in a
    row of its own.
    """
    sizes = decisive(np.abs(row[column]))
    tops = np.max([decisive(np.abs(values)) for values in row.values()], axis=0)
    with np.errstate(all="ignore"):
        beside = np.concatenate([sizes[:-1] / tops[:-1], sizes[:-1] / sizes[-1]])
    near = min(float(np.nan_to_num(beside, nan=0.0, posinf=1.0).min()), _GOOD)
    return near, steadiness(row[column])


def steadiness(values: Array) -> float:
    """Return how little is left at worst along the span, nothing beyond a change of sign."""
    along = values[NEAR - 1 : -1]
    if len(along) == 1:
        return _GOOD
    if not np.isfinite(along).all() or (along * along[0] <= 0.0).any():
        return 0.0
    sizes = np.abs(along)
    return min(float(sizes.min() / sizes.max()), _GOOD)
