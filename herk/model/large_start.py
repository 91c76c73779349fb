"""What a consistent start of a large system needs, with sparse matrices; small systems have dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import rank
from herk.linalg.sparse_rank import Corrections, is_regular, least_squares
from herk.model import evaluate
from herk.model.correction import correction as dense_correction

_EASE = 1e4  # how much rather the first components move than the others, where both must
_REACHED = 1e-9  # of a residual: what is left where the first components are enough


def slopes(dae: Dae, t: float, y: Array) -> Any:
    """Return dg/dy, sparse if the system is large."""
    if not dae.large:
        return evaluate.jacobian(dae, t, y)
    from herk.model.jacobian_pattern import sparse_jacobian

    return sparse_jacobian(dae, t, y)


def is_finite(jac: Any) -> bool:
    """Tell whether all entries are finite."""
    return bool(np.isfinite(jac.data if hasattr(jac, "tocsr") else jac).all())


def touching(jac: Any, columns: list[int]) -> NDArray[np.bool_]:
    """Return which rows have entries in these columns."""
    return np.asarray((jac[:, columns] != 0.0).sum(axis=1) > 0).ravel()


def without_derivative(dae: Dae, t: float, y: Array) -> tuple[int, ...]:
    """Return the components whose derivative does not occur: the required algebraic ones."""
    if not dae.large:
        return tuple(int(j) for j in np.flatnonzero(~evaluate.matrix(dae, t, y).any(axis=0)))
    from herk.model.large import sparse_matrix

    used = set(sparse_matrix(dae, t, y).indices.tolist())
    return tuple(j for j in range(dae.n) if j not in used)


def correction(g: Array, jac: Any, scale: Array, first: list[int], others: list[int]) -> Array:
    """Return the Newton correction that moves `others` only if `first` cannot reach the constraints."""
    if not hasattr(jac, "tocsr"):
        return dense_correction(g, jac, scale, first, others)
    change = np.zeros(len(scale))
    tops = np.asarray(abs(jac.multiply(scale[None, :])).max(axis=1).todense()).ravel()
    factors = 1.0 / np.where(tops > 0.0, tops, 1.0)
    matrix, right = jac.multiply(factors[:, None]).tocsc(), -factors * g
    if first:
        own = matrix[:, first].multiply(scale[first][None, :])
        found = least_squares(own, right)
        if found is not None:
            change[first] = scale[first] * found
            left = np.abs(own @ found - right).max(initial=0.0)
            if not others or left <= _REACHED * np.abs(right).max(initial=0.0):
                return change
    if not others:
        return change
    ease = np.zeros(len(scale))
    ease[others], ease[first] = 1.0, _EASE
    units = scale * ease
    try:
        return units * Corrections(matrix.multiply(units[None, :])).smallest(right)
    except RuntimeError:  # rows that depend on each other
        return change


def determined(matrix: Any) -> bool:
    """Tell whether the columns of a matrix are independent."""
    if not hasattr(matrix, "tocsr"):
        return bool(rank(matrix) == matrix.shape[1])
    from scipy.sparse import block_array, eye_array

    matrix = matrix.tocsr()[touching(matrix, list(range(matrix.shape[1])))]
    rows, columns = matrix.shape
    if rows == columns:
        return is_regular(matrix)
    return rows > columns and is_regular(block_array([[eye_array(rows), matrix], [matrix.T, None]]))
