"""Sizes that do not depend on units.

Logarithms balanced in least squares, for unknowns, matrices and ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from herk.core.dae import Array

Form = dict[int, float]  # a logarithm as a linear form in unknown logarithms; the constant is at place -1
_RIDGE = 1e-7  # where nothing is known: about one
_DENSE = 100  # unknowns up to which dense matrices are quicker
_LARGEST = 500  # powers of two of which two can be multiplied in doubles
LOST = 1e-12  # of the largest term beside it: what is smaller is rounding
_CROWDED = 100  # times the mean: entries of a column that is full
_GIVEN = 3.0  # weight of a value that is known beside one entry of a matrix


def balanced(ties: list[tuple[Form, float]], count: int) -> Array:
    """Return the least-squares solution of weight * form = 0 for all ties, by normal equations."""
    rows = [i for i, (form, _) in enumerate(ties) for j in form if j >= 0]
    columns = [j for form, _ in ties for j in form if j >= 0]
    values = [value * weight for form, weight in ties for j, value in form.items() if j >= 0]
    right = np.array([-form.get(-1, 0.0) * weight for form, weight in ties])
    return _solved((rows, columns, np.array(values)), right, count)


def _solved(entries: tuple[Any, Any, Array], right: Array, count: int) -> Array:
    """Return the least-squares solution for a matrix given by rows, columns and values of its entries."""
    rows, columns, values = entries
    shape = (len(right), count)
    solution: Array
    if count <= _DENSE:
        dense = np.zeros(shape)
        np.add.at(dense, (rows, columns), values)
        normal = dense.T @ dense + _RIDGE * np.eye(count)
        solution = np.asarray(np.linalg.solve(normal, dense.T @ right), dtype=float)
    else:
        from scipy.sparse import csc_array

        solution = _solved_sparsely(csc_array((values, (rows, columns)), shape=shape), right)
    return solution


def _solved_sparsely(matrix: Any, right: Array) -> Array:
    """Do the same for a sparse matrix; columns with very many entries, such as of the time, come last.

    Their rows in the normal equations are full, which minimum degree takes long for.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    counts = np.diff(matrix.indptr)
    crowded = counts > _CROWDED * max(counts.mean(), 1.0)
    few, many = matrix[:, ~crowded], matrix[:, crowded]
    normal = (few.T @ few + _RIDGE * eye_array(few.shape[1])).tocsc()  # positive definite: no row exchanges
    how: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
    factors = splu(normal, **how, options={"SymmetricMode": True})
    begun = factors.solve(few.T @ right)
    if not crowded.any():
        return np.asarray(begun)
    border = (few.T @ many).toarray()
    across = factors.solve(border)
    left = (many.T @ many).toarray() + _RIDGE * np.eye(many.shape[1]) - border.T @ across
    solution = np.empty(matrix.shape[1])
    solution[crowded] = np.linalg.solve(left, many.T @ right - border.T @ begun)
    solution[~crowded] = begun - across @ solution[crowded]
    return solution


def powers(entries: Iterable[tuple[int, int, float]]) -> tuple[dict[int, int], dict[int, int]]:
    """Return powers of two for rows and columns that bring all entries (row, column, logarithm) near one."""
    listed = list(entries)
    rows, columns = sorted({i for i, _, _ in listed}), sorted({j for _, j, _ in listed})
    places = {("row", i): k for k, i in enumerate(rows)} | {
        ("column", j): len(rows) + k for k, j in enumerate(columns)
    }
    ties = [({places["row", i]: 1.0, places["column", j]: 1.0, -1: size}, 1.0) for i, j, size in listed]
    found = balanced(ties, len(places)) if ties else np.zeros(0)
    whole = [round(float(value)) for value in found]
    return {i: whole[k] for k, i in enumerate(rows)}, {j: whole[len(rows) + k] for k, j in enumerate(columns)}


def factors(matrix: Array) -> tuple[Array, Array]:
    """Return factors for the rows and columns of a matrix of doubles that bring its entries near one."""
    heights, widths = powers((int(i), int(j), math.log2(abs(matrix[i, j]))) for i, j in np.argwhere(matrix))
    rows = [2.0 ** max(-_LARGEST, min(_LARGEST, heights.get(i, 0))) for i in range(matrix.shape[0])]
    columns = [2.0 ** max(-_LARGEST, min(_LARGEST, widths.get(j, 0))) for j in range(matrix.shape[1])]
    return _topped(matrix, np.array(rows), np.array(columns))


def evened(matrix: Any) -> Any:
    """Return a sparse matrix, rows and columns multiplied by powers of two that bring entries near one."""
    from scipy.sparse import csr_array

    rows, columns, values = _entries(matrix)
    found, n = _even_powers(matrix), matrix.shape[1]
    powers = np.clip(found[columns] + found[n + rows], -2 * _LARGEST, 2 * _LARGEST)
    return csr_array((np.ldexp(values, powers.astype(np.int64)), (rows, columns)), shape=matrix.shape)


def even_units(matrix: Any) -> Array:
    """Return powers of two for the columns of a sparse matrix that bring its entries near one, row by row."""
    units: Array = 2.0 ** np.clip(_even_powers(matrix)[: matrix.shape[1]], -_LARGEST, _LARGEST)
    return units


def _even_powers(matrix: Any) -> Array:
    """Return the powers of two for columns, then rows."""
    rows, columns, values = _entries(matrix)
    m, n = matrix.shape
    each = np.arange(len(values))
    ties = np.concatenate([each, each]), np.concatenate([columns, n + rows]), np.ones(2 * len(values))
    return np.round(_solved(ties, -np.log2(np.abs(values)), n + m))


def _topped(matrix: Array, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Return the factors changed so that no entry is above one.

    Entries that are only rounding may have led them astray.
    """
    for _ in range(2):
        for axis, own in ((1, rows), (0, columns)):
            tops = np.abs(matrix * rows[:, None] * columns).max(axis=axis, initial=0.0)
            own /= np.where(tops > 0.0, tops, 1.0)
    return rows, columns


def rank(matrix: Array, tolerance: float = 1e-12) -> int:
    """Return the rank of a matrix of doubles, whatever the units of its rows and columns."""
    matrix = np.asarray(matrix, dtype=float)
    if not matrix.size or not matrix.any():
        return 0
    tops = np.abs(matrix).max(axis=1, keepdims=True)
    plain = _rank(matrix / np.where(tops > 0.0, tops, 1.0), tolerance)
    if plain == min(matrix.shape):
        return plain
    # Columns in units of their own as well: not at once, since entries that are zero but for rounding become
    # large by it.
    rows, columns = factors(matrix)
    return max(plain, _rank(matrix * rows[:, None] * columns, tolerance))


def _rank(matrix: Array, tolerance: float) -> int:
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(sizes > tolerance * sizes[0]))


def sizes(jacobian: Any, y: Array, floor: Array | None = None) -> Array:
    """Return the size of each unknown: its own, or where it is zero that at which the constraints balance.

    Where constraints tie it to nothing that is known, it is what `floor` says.
    """
    m, n = jacobian.shape
    rows, columns, values = _entries(jacobian)
    known = np.isfinite(y) & (y != 0.0) & ~_rounding(jacobian, y)
    if floor is not None:
        loose = _loose(rows, columns, known, m)
        y, known = np.where(loose, floor, y), known | (loose & (floor > 0.0))
    given, count = np.flatnonzero(known), len(values)  # one tie for each entry, then one for each known size
    ties = np.concatenate([np.arange(count), np.arange(count), count + np.arange(len(given))])
    places = np.concatenate([columns, n + rows, given])
    weights = np.concatenate([np.ones(count), -np.ones(count), np.full(len(given), _GIVEN)])
    right = np.concatenate([-np.log2(np.abs(values)), _GIVEN * np.log2(np.abs(y[given]))])
    found = 2.0 ** np.clip(_solved((ties, places, weights), right, n + m)[:n], -_LARGEST, _LARGEST)
    return np.where(known, np.maximum(np.abs(np.nan_to_num(y)), 1e-3 * found), found)


def _loose(
    rows: NDArray[np.int64], columns: NDArray[np.int64], known: NDArray[np.bool_], m: int
) -> NDArray[np.bool_]:
    """Return the unknowns that entries at these places tie to none that is known."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(known)
    ties = csr_array((np.ones(len(rows)), (n + rows, columns)), shape=(n + m, n + m))
    group = connected_components(ties, directed=False)[1]
    loose: NDArray[np.bool_] = ~np.isin(group[:n], group[:n][known])
    return loose


def _rounding(jacobian: Any, y: Array) -> NDArray[np.bool_]:
    """Return which unknowns are lost in every constraint they take part in: zero but for rounding.

    Such a value is no size. Taken for one, it would keep its unknown from moving when the others can.
    """
    rows, columns, values = _entries(jacobian)
    terms, count = np.abs(values * np.nan_to_num(y)[columns]), jacobian.shape[0]
    top, place = np.zeros(count), np.full(count, -1)
    np.maximum.at(top, rows, terms)
    largest = np.flatnonzero(terms == top[rows])[::-1]
    place[rows[largest]] = largest  # the first of those that are largest
    second = np.zeros(count)
    rest = place[rows] != np.arange(len(rows))
    np.maximum.at(second, rows[rest], terms[rest])
    others = np.where(rest, top[rows], second[rows])  # the largest of the other terms
    lost: NDArray[np.bool_] = np.zeros(len(y), dtype=bool)
    lost[columns] = True
    lost[columns[~(terms < LOST * others)]] = False
    return lost


def _entries(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Return rows, columns and values of what is not zero in a matrix, sparse or not."""
    if hasattr(matrix, "tocoo"):
        found = matrix.tocoo()
        full = found.data != 0.0
        rows, columns = (np.asarray(places[full], dtype=np.int64) for places in found.coords)
        return rows, columns, found.data[full]
    rows, columns = (np.asarray(places, dtype=np.int64) for places in np.nonzero(matrix))
    return rows, columns, matrix[rows, columns]
