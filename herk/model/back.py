"""The way back from the unknowns of a form to those of the model, and elimination of algebraic unknowns in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array


@dataclass(frozen=True, eq=False)
class Back:
    """The map (t, z) -> y: kept unknowns are copied, eliminated ones follow from the constraints of `source` (linear in them)."""

    n: int
    kept: tuple[int, ...]
    eliminated: tuple[int, ...] = ()
    source: Dae | None = None

    def __call__(self, t: Any, z: Any) -> Array:
        """Return y for one time, or a matrix y for several times and the columns of z."""
        values = np.asarray(z, dtype=float)
        if values.ndim == 2:
            times = np.broadcast_to(np.asarray(t, dtype=float), values.shape[1:])
            return np.column_stack([self(s, column) for s, column in zip(times, values.T, strict=True)])
        if values.ndim != 1 or len(values) < len(self.kept):
            raise InputError(f"z has shape {values.shape}; {len(self.kept)} values are needed.")
        y = np.zeros(self.n)
        y[list(self.kept)] = values[: len(self.kept)]
        return complete(self.source, t, y, self.eliminated) if self.source is not None else y


def complete(source: Dae, t: float, y: Array, unknown: tuple[int, ...]) -> Array:
    """Return y with the unknown components computed from constraints that are linear in them (one correction for rounding)."""
    assert source.g is not None
    assert source.jac_g is not None
    columns = list(unknown)
    matrix = np.asarray(source.jac_g(t, y))[:, columns]
    for _ in range(2):
        y[columns] -= np.linalg.solve(matrix, source.g(t, y))
    return y


@dataclass(frozen=True, eq=False)
class Elimination:
    """E and f of the underlying ODE, the algebraic unknowns solved for at every call: for systems too large for formulas."""

    index1: Dae
    rows: tuple[int, ...]
    kept: tuple[int, ...]
    eliminated: tuple[int, ...]

    def matrix(self, t: float, z: Any) -> Array:
        """Return E of the kept rows and unknowns."""
        E = self.index1.E(t, self._full(t, z)) if callable(self.index1.E) else self.index1.E
        return np.asarray(E)[np.ix_(self.rows, self.kept)]

    def right(self, t: float, z: Any) -> Array:
        """Return f of the kept rows."""
        return np.asarray(self.index1.f(t, self._full(t, z)))[list(self.rows)]

    def _full(self, t: float, z: Any) -> Array:
        y = np.zeros(self.index1.n)
        y[list(self.kept)] = z
        return complete(self.index1, t, y, self.eliminated)
