"""What the constraints of a large model were divided by: where it vanishes, they say nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import sympy as sp

from herk.codegen.shapes import Catalogue, Formula
from herk.codegen.values import Batch, Space
from herk.core.dae import Array
from herk.model.index_reduction.structural.elimination import is_constant

MOST = 8  # are looked at more closely: those nearest to zero


class Divisors:
    """Formulas that were divided by and that change along a run."""

    def __init__(self, catalogue: Catalogue, formulas: Iterable[Formula]) -> None:
        """Keep each of them once."""
        self._catalogue = catalogue
        self.moving = [each for each in dict.fromkeys(formulas) if not is_constant(each)]

    def nearest_zero(self, parameters: Sequence[float], t: Array, y: Array) -> list[sp.Expr]:
        """Return those nearest to zero at the last of these points, beside what they are at the others."""
        order = np.argsort(self._left(parameters, t, y), kind="stable")
        return [self._catalogue.written(self.moving[k]) for k in order[:MOST]]

    def left(self, parameters: Sequence[float], t: Array, y: Array) -> float:
        """Return what is left of them at the last of these points, at worst: one for all of it."""
        return float(self._left(parameters, t, y).min(initial=1.0))

    def _left(self, parameters: Sequence[float], t: Array, y: Array) -> Array:
        """Return the same for each; of what changed its sign behind the first point nothing is left."""
        values = Batch(Space(self._catalogue, parameters), self.moving)
        sizes = np.nan_to_num([values(float(at), there) for at, there in zip(t, y, strict=True)])
        largest = np.abs(sizes).max(axis=0)
        share = np.abs(sizes[-1]) / np.where(largest > 0.0, largest, 1.0)
        turned = (sizes[1:-1] * sizes[2:] < 0.0).any(axis=0)
        return np.where(turned, 0.0, share)
