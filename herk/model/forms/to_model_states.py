"""The way back from the unknowns of a form to those of the model.

And elimination of algebraic unknowns in numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array


@dataclass(frozen=True, eq=False)
class ToModelStates:
    """The map (t, z) -> y: kept unknowns are copied.

    Eliminated ones follow from the constraints of `source` (linear in them).
    """

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
    """Return y with the unknown components computed from constraints that are linear.

    In them (one correction for rounding).
    """
    assert source.g is not None
    assert source.jac_g is not None
    columns = list(unknown)
    matrix = np.asarray(source.jac_g(t, y))[:, columns]
    for _ in range(2):
        y[columns] -= np.linalg.solve(matrix, source.g(t, y))
    return y


@dataclass(frozen=True, eq=False)
class Elimination:
    """E and f of the underlying ODE, the algebraic unknowns of the form `index1` solved for at every call.

    For systems whose formulas would be too long: compiled code of the form of index 1 does the work.
    """

    index1: Any
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

    def rate_jacobian(self, t: float, z: Any, rate: Array) -> Array:
        """Return the derivative of z' = rate with respect to z.

        The eliminated unknowns move with z by the implicit function theorem.
        """
        y, speed = self._full(t, z), np.zeros(self.index1.n)
        rows, kept, gone = list(self.rows), list(self.kept), list(self.eliminated)
        speed[kept] = rate
        jac_g = np.asarray(self.index1.jac_g(t, y))
        residual = self.index1.residual_jacobian(t, y, speed, 0.0)[rows]
        moved = np.linalg.solve(jac_g[:, gone], jac_g[:, kept])
        return np.asarray(np.linalg.solve(self.matrix(t, z), residual[:, gone] @ moved - residual[:, kept]))

    def _full(self, t: float, z: Any) -> Array:
        y = np.zeros(self.index1.n)
        y[list(self.kept)] = z
        return complete(self.index1, t, y, self.eliminated)
