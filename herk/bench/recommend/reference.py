"""A reference two independent solvers agree on, and to how many digits, component by component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from herk.bench.recommend.trial import Run
from herk.core.dae import Array

TOLERANCES = (1e-9, 1e-11, 1e-13)
MOST_DIGITS = 15.0


@dataclass(frozen=True)
class Agreement:
    """Values on the grid, and the two runs that vouch for them.

    `difference` is relative to the size of each component.
    """

    first: Run
    second: Run
    difference: Array = field(repr=False)

    @property
    def y(self) -> Array:
        """Return the values trusted."""
        return self.first.y

    @property
    def worst(self) -> float:
        """Return the largest difference: errors below it cannot be told apart."""
        return float(self.difference.max())

    @property
    def digits(self) -> tuple[float, ...]:
        """Return the digits on which both agree, for each component."""
        return tuple(
            float(d)
            for d in np.minimum(MOST_DIGITS, -np.log10(np.maximum(self.difference, 10.0**-MOST_DIGITS)))
        )


def error(run: Run, y: Array, sizes: Sequence[float]) -> float:
    """Return the largest error over the grid, each component relative to its size over the span."""
    return float(difference(run.y, y, sizes).max())


def difference(a: Array, b: Array, sizes: Sequence[float]) -> Array:
    """Return for each component the largest difference over the grid, relative to its size."""
    return np.asarray(np.abs(a - b).max(axis=1) / np.asarray(sizes))


def agree(
    runs: Sequence[Run], origin: Callable[[str], Sequence[str]], sizes: Sequence[float]
) -> Agreement | None:
    """Return the two runs that agree best and share no origin (kind of method, library).

    The earlier one in `runs` is the reference.
    """
    good = [run for run in runs if run.success]
    pairs = [(a, b) for a, b in combinations(good, 2) if not set(origin(a.solver)) & set(origin(b.solver))]
    found = [Agreement(a, b, difference(a.y, b.y, sizes)) for a, b in pairs]
    return min(found, key=lambda each: each.worst, default=None)
