"""Entries of E that are zero but for rounding, like sin(t)**2 + cos(t)**2 - 1: found by trying.

They are taken for zero. A row with nothing else in it would determine a derivative, from noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from herk.core import Dae
from herk.core.dae import Array
from herk.model.evaluate import matrix

SHARES = 1e-3, 0.093, 0.27, 0.51, 0.76  # of the span, at which E is looked at
MOVED = 1e-3, 2e-3, 3e-3, 4e-3, 5e-3  # of y, which is another one there
NEAR = 1e-10  # of these ways, from a point to another one at which it is looked at again
APART = 8 * float(np.finfo(float).eps)  # of a time, that is another one at least
NEIGHBOURS = 8  # if need be: where half of the values are zero, two of them are often the same
TINY = 1e-3  # part of its values by which an entry changes at most, if it is none
TORN = 0.1  # part of its values by which an entry changes on so short a way, if it is rounding


@dataclass(frozen=True, eq=False)
class Cleaned:
    """E with zeros where there is only rounding."""

    E: Callable[[float, Array], Any]
    keep: NDArray[np.bool_]

    def __call__(self, t: float, y: Array) -> Array:
        """Return its values."""
        value = self.E(t, y)
        full: Array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
        return np.where(self.keep, full, 0.0) if full.shape == self.keep.shape else full


def without_rounding(dae: Dae, span: tuple[float, float], y0: Sequence[float | None], floor: Array) -> Dae:
    """Return a DAE by callables with an E that is zero wherever it is so but for rounding.

    `floor` are sizes below which unknowns do not matter.
    """
    if not callable(dae.E) or dae.generated is not None or dae.large:
        return dae
    start = np.array([0.0 if value is None else value for value in y0])
    lost = rounding_in(partial(matrix, dae), span, start, floor)
    return replace(dae, E=Cleaned(dae.E, ~lost)) if lost.any() else dae


def rounding_in(
    masses: Callable[[float, Array], Array], span: tuple[float, float], y0: Array, floor: Array
) -> NDArray[np.bool_]:
    """Tell which entries of E are zero but for rounding."""
    away = (np.abs(y0) + floor) * np.linspace(1.0, 2.0, len(y0))
    size, torn, changed = np.zeros((3, len(y0), len(y0)))
    sure, first = np.zeros(size.shape, dtype=bool), None
    for count in range(1, NEIGHBOURS + 1):
        for share, moved in zip(SHARES, MOVED, strict=True):
            try:
                with np.errstate(all="ignore"):
                    one = _beside(masses, 0, share, moved, span, y0, away)
                    other = _beside(masses, count, share, moved, span, y0, away)
            except Exception:  # noqa: BLE001, S112 - outside the domain of E
                continue
            first = one if first is None else first
            apart, height = np.nan_to_num(np.abs(one - other)), np.nan_to_num(np.abs(one) + np.abs(other))
            size, torn = size + height, torn + apart
            sure |= (apart > 0.0) & (apart < TINY * height)  # as rounding never does
            changed += one != first
        if (sure | ((changed == 0.0) & (torn == 0.0))).all():
            break
    lost: NDArray[np.bool_] = torn > TORN * size
    return lost


def _beside(
    masses: Callable[[float, Array], Array],
    count: int,
    share: float,
    moved: float,
    span: tuple[float, float],
    y0: Array,
    away: Array,
) -> Array:
    """Return E at a place, or at a neighbour of it."""
    way = share * (span[1] - span[0])
    t = span[0] + way
    later = count * np.copysign(max(NEAR * abs(way), APART * abs(t)), way)
    return masses(float(t + later), y0 + (1.0 + count * NEAR) * moved * away)
