"""Which components are algebraic where there are many: Procedure 3.11 by sparse elimination.

Components that must be algebraic take rows first; the other rows choose among the other components, those
that are algebraic already before others. So a selection changes where it has become bad and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from herk.jit.state import Floats, Wholes
from herk.linalg.elimination import FAVOUR, NONE, eliminated
from herk.linalg.ordering import least_fill, matched

if TYPE_CHECKING:
    from scipy.sparse import csr_array

THRESHOLD = 1e-3  # of the largest entry left in a row: a column in fewer rows may be taken
ALIKE = 2.0  # by how much a column counts more that is in the same rows as the one it replaces
LEVELS = 0.999, 0.5, 1.0 / FAVOUR
MOST_MATCHED = 30_000  # rows up to which a largest product is looked for, which takes time as their square
CROWDED = 10  # times the mean: columns in so many rows do not decide about the order of rows


@dataclass
class Selector:
    """Selects on one pattern; an order of rows is found once."""

    required: Wholes
    cost: Wholes
    order: Wholes | None = None  # place of each row
    pairs: Wholes | None = None  # the column each row had in the last selection

    def selections(self, matrix: csr_array, size: Floats, kept: Wholes) -> Iterator[Wholes]:
        """Yield selections for these values: components in ascending order, fewer than rows at lost rank.

        First columns matched to rows by the sizes of entries, which change least and where they must; then
        those found by elimination, which sees what entries do not show, among columns near each row and
        among all.
        """
        columns = matrix.shape[1]
        if self.order is None:
            self.order = order_of_rows(matrix)
        free = np.ones(columns, dtype=bool)
        free[self.required] = False
        others = np.flatnonzero(free)
        for local in (True, False):
            forced = _rows_of(matrix, self.required, local=local)
            if len(forced) < len(self.required):
                continue
            rest = np.setdiff1d(np.arange(matrix.shape[0]), forced)
            rest = rest[np.argsort(self.order[rest])]
            reduced, cost = matrix[rest][:, others], self.cost[others]
            before = np.full(len(rest), NONE)
            if self.pairs is not None and len(kept):
                number = np.full(columns, NONE)
                number[others] = np.arange(len(others))
                before = np.where(self.pairs[rest] == NONE, NONE, number[self.pairs[rest]])
            meant = partners(reduced, cost, before, THRESHOLD)
            if local and (meant != NONE).all():
                yield self._with(rest, others[meant])
            pivots = eliminated(
                reduced,
                np.arange(len(rest)),
                cost=cost,
                size=size[others],
                partner=meant,
                threshold=THRESHOLD,
                local=local,
            ).pivot
            yield self._with(rest[pivots != NONE], others[pivots[pivots != NONE]])

    def _with(self, rows: Wholes, chosen: Wholes) -> Wholes:
        """Return the required components and those chosen for rows, which is noted."""
        assert self.order is not None
        self.pairs = np.full(len(self.order), NONE)
        self.pairs[rows] = chosen
        return np.sort(np.concatenate([self.required, chosen])).astype(np.int64)


def partners(matrix: csr_array, cost: Wholes, before: Wholes, threshold: float) -> Wholes:
    """Return for each row a column meant to be its pivot: the one before while its entry is large enough.

    A row that loses its column takes a free one, if possible one that occurs in the same rows; where that
    does not work out, the product of all entries is made as large as possible.
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    share = _shares(matrix, rows, cost, threshold)
    good = share * FAVOUR >= 1.0
    same = matrix.indices == before[rows]
    if same.any():
        found = np.full(len(before), NONE)
        found[rows[good & same]] = matrix.indices[good & same]
        _exchange(matrix, rows, np.where(good, share, 0.0), before, found)
        if (found >= 0).all():
            return found
    return _heaviest(matrix, rows, share * np.where(same, FAVOUR, 1.0))


def _exchange(matrix: csr_array, rows: Wholes, share: Floats, before: Wholes, found: Wholes) -> None:
    """Give rows without a column a free one, before others one in the same rows as the column it replaces."""
    mark = np.random.default_rng(1).random(matrix.shape[0])
    alike = np.zeros(matrix.shape[1])
    np.add.at(alike, matrix.indices, mark[rows])
    taken = np.zeros(matrix.shape[1], dtype=bool)
    taken[found[found >= 0]] = True
    for row in np.flatnonzero(found < 0):
        columns = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        value = share[matrix.indptr[row] : matrix.indptr[row + 1]] * ~taken[columns]
        value *= np.where(alike[columns] == alike[before[row]], ALIKE, 1.0)
        if value.any():
            found[row] = columns[np.argmax(value)]
            taken[found[row]] = True


def _heaviest(matrix: csr_array, rows: Wholes, weight: Floats) -> Wholes:
    """Return columns of their own for all rows such that the product of the weights is largest."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    allowed = weight * FAVOUR >= 1.0
    if not allowed.any():
        return np.full(matrix.shape[0], NONE)
    if matrix.shape[0] <= MOST_MATCHED:
        lengths = 1.0 + np.log(weight.max()) - np.log(weight[allowed])
        try:
            parts = (lengths, (rows[allowed], matrix.indices[allowed]))
            _, found = min_weight_full_bipartite_matching(csr_array(parts, shape=matrix.shape))
        except ValueError:  # there are no such columns for all rows
            return _matched(matrix, rows, allowed)
        return np.asarray(found, dtype=np.int64)
    for least in LEVELS:  # the largest entries alone, if each row can have one
        matching = _matched(matrix, rows, weight >= least)
        if (matching >= 0).all():
            break
    return matching


def _shares(matrix: csr_array, rows: Wholes, cost: Wholes, threshold: float) -> Floats:
    """Return the size of each entry beside the largest in a cheap column of its row; 0 in other columns."""
    sizes, price = np.abs(matrix.data), cost[matrix.indices]
    top = np.zeros(matrix.shape[0])
    np.maximum.at(top, rows, sizes)
    allowed = (sizes >= threshold * top[rows]) & (sizes > 0.0)
    least = np.full(matrix.shape[0], 1 << 60)
    np.minimum.at(least, rows[allowed], price[allowed])
    allowed &= 2 * price <= 3 * least[rows]
    top[:] = 0.0
    np.maximum.at(top, rows[allowed], sizes[allowed])
    return np.where(allowed, sizes / np.where(top > 0.0, top, 1.0)[rows], 0.0)


def _matched(matrix: csr_array, rows: Wholes, entries: NDArray[np.bool_]) -> Wholes:
    from scipy.sparse import csr_array

    parts = (np.ones(entries.sum()), (rows[entries], matrix.indices[entries]))
    return matched(csr_array(parts, shape=matrix.shape))


def _rows_of(matrix: csr_array, required: Wholes, *, local: bool) -> Wholes:
    """Return rows that determine the required components, one for each; fewer if there are none."""
    turned = matrix[:, required].T.tocsr()
    local = local and len(np.unique(turned.indices)) > len(required)  # otherwise each row is needed
    pivots: Wholes = eliminated(turned, np.arange(len(required)), local=local).pivot
    chosen: Wholes = pivots[pivots != NONE]
    return chosen


def order_of_rows(matrix: csr_array) -> Wholes:
    """Return the place of each row in an order in which rows that share columns bring few new entries."""
    from scipy.sparse import csr_array

    counts = np.bincount(matrix.indices, minlength=matrix.shape[1])
    few = counts <= CROWDED * max(counts.mean(), 1.0)
    ones = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)[:, few]
    return least_fill(csr_array(ones @ ones.T))
