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
    size, torn = np.zeros((len(y0), len(y0))), np.zeros((len(y0), len(y0)))
    away = (np.abs(y0) + floor) * np.linspace(1.0, 2.0, len(y0))
    for share, moved in zip(SHARES, MOVED, strict=True):
        t, way = span[0] + share * (span[1] - span[0]), share * (span[1] - span[0])
        later = t + np.copysign(max(NEAR * abs(way), APART * abs(t)), way)
        try:
            with np.errstate(all="ignore"):
                one = masses(t, y0 + moved * away)
                other = masses(float(later), y0 + (1.0 + NEAR) * moved * away)
        except Exception:  # noqa: BLE001, S112 - outside the domain of E
            continue
        size += np.nan_to_num(np.abs(one) + np.abs(other))
        torn += np.nan_to_num(np.abs(one - other))
    lost: NDArray[np.bool_] = torn > TORN * size
    return lost
