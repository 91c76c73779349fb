"""Ranks of sparse matrices in whatever units, and smallest corrections, by sparse factorisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.linalg.superlu import factored

REGULAR = 1e-12  # reciprocal condition of a balanced matrix from which on it is not singular
_WEIGHT = 1e-2  # of the unit matrix in the augmented system
_ROUNDS = 8


def balanced(matrix: Any) -> tuple[Any, Array, Array]:
    """Return the matrix with rows and columns near one, and the factors (Ruiz's iteration)."""
    from scipy.sparse import csr_array

    matrix = matrix.tocsr()
    place = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    rows, columns = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    size, data = np.abs(matrix.data), matrix.data
    for _ in range(_ROUNDS):
        tops, widths = np.zeros(len(rows)), np.zeros(len(columns))
        np.maximum.at(tops, place, size)
        np.maximum.at(widths, matrix.indices, size)
        r, c = (1.0 / np.sqrt(np.where(each > 0.0, each, 1.0)) for each in (tops, widths))
        data = data * r[place] * c[matrix.indices]
        size, rows, columns = np.abs(data), rows * r, columns * c
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape), rows, columns


def is_regular(matrix: Any) -> bool:
    """Tell whether a square sparse matrix is regular beyond doubt."""
    from scipy.sparse.linalg import LinearOperator, onenormest

    if not matrix.shape[0]:
        return True
    scaled, _, _ = balanced(matrix)
    try:
        factor = factored(scaled)
    except RuntimeError:  # exactly singular
        return False
    inverse = LinearOperator(
        scaled.shape,
        matvec=factor.solve,
        rmatvec=lambda b: factor.solve(b, "T"),
        matmat=factor.solve,
        rmatmat=lambda b: factor.solve(b, "T"),
    )
    with np.errstate(all="ignore"):
        norm = float(onenormest(inverse)) * float(abs(scaled).sum(axis=0).max())
    return bool(np.isfinite(norm) and norm * REGULAR < 1.0)


class Corrections:
    """The smallest changes x with A x = b, for a sparse A of full row rank."""

    def __init__(self, matrix: Any) -> None:
        """Factorise [w I, A'; A, 0] with rows of A near one; RuntimeError if rows depend on each other."""
        from scipy.sparse import block_array, eye_array

        m, self._n = matrix.shape
        tops = np.asarray(abs(matrix).max(axis=1).todense()).ravel()
        self._rows = 1.0 / np.where(tops > 0.0, tops, 1.0)
        scaled = matrix.multiply(self._rows[:, None]).tocsr()
        self._factor = factored(block_array([[_WEIGHT * eye_array(self._n), scaled.T], [scaled, None]]))
        self._m = m

    def smallest(self, right: Array) -> Array:
        """Return the smallest x with A x = right."""
        whole = np.concatenate([np.zeros(self._n), self._rows * right])
        return np.asarray(self._factor.solve(whole)[: self._n])

    @property
    def independent(self) -> bool:
        """Tell whether the rows are independent beyond doubt."""
        size = self._inverse
        return size * REGULAR**2 < 1.0 and size * REGULAR < 1.0 / REGULAR

    @property
    def least(self) -> float:
        """Return the least singular value of A, its rows of size one."""
        return float(self._inverse**-0.5)

    @property
    def _inverse(self) -> float:
        """Return the largest singular value of (A A')^-1, by iteration."""
        vector = np.random.default_rng(7).standard_normal(self._m)
        size = 1.0
        for _ in range(_ROUNDS):
            vector = vector / np.linalg.norm(vector)
            both = self._factor.solve(np.concatenate([np.zeros(self._n), vector]))
            vector = both[self._n :]
            size = float(np.linalg.norm(vector)) / _WEIGHT  # of (A A')^-1
            if not np.isfinite(size):
                return np.inf
        return size


def least_singular(matrix: Any) -> float:
    """Return the least singular value of the rows of a matrix, each in units of its largest entry."""
    try:
        return Corrections(matrix).least
    except RuntimeError:  # rows that depend on each other
        return 0.0


def least_squares(matrix: Any, right: Array) -> Array | None:
    """Return the smallest x that makes A x - right smallest; None if ranks are lower than they could be."""
    from scipy.sparse import block_array, eye_array

    used = np.asarray(abs(matrix).sum(axis=1)).ravel() > 0.0  # rows without entries have nothing to say
    matrix, right = matrix.tocsr()[used], right[used]
    rows, columns = matrix.shape
    try:
        if rows < columns:
            return Corrections(matrix).smallest(right)
        if rows > columns:
            whole = block_array([[_WEIGHT * eye_array(rows), matrix], [matrix.T, None]])
            solution = factored(whole).solve(np.concatenate([right, np.zeros(columns)]))[rows:]
        else:
            scaled, heights, widths = balanced(matrix)
            factor = factored(scaled)
            solution = widths * factor.solve(heights * right)
            solution += widths * factor.solve(heights * (right - matrix @ solution))
    except RuntimeError:
        return None
    return solution if np.isfinite(solution).all() else None
