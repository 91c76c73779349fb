"""Which components are algebraic where there are many: Procedure 3.11 by sparse elimination.

Components that must be algebraic take rows first; the other rows choose among the other components. A
selection that exists changes where it has become bad and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from herk.jit.state import Floats, Wholes
from herk.linalg.assignment import assigned
from herk.linalg.elimination import FAVOUR, NONE, eliminated
from herk.linalg.exchange import LARGE, exchanged
from herk.linalg.matching import matched
from herk.linalg.ordering import least_fill

if TYPE_CHECKING:
    from scipy.sparse import csr_array

THRESHOLD = 1e-3  # of the largest entry left in a row: a column in fewer rows may be taken
LEVELS = 0.999, 0.5, 1.0 / FAVOUR
MOST_MATCHED = 30_000  # rows up to which a largest product is looked for, which takes time as their square
CROWDED = 10  # times the mean: columns in so many rows do not decide about the order of rows


@dataclass
class Selector:
    """Selects on one pattern; an order of rows is found once."""

    required: Wholes
    cost: Wholes
    floor: Floats | None = None  # what is small for each unknown
    order: Wholes | None = None  # place of each row

    def selections(
        self, matrix: csr_array, size: Floats, kept: Wholes, large: float = LARGE
    ) -> Iterator[Wholes]:
        """Yield selections for these values: components in ascending order, fewer than rows at lost rank.

        First those kept, exchanged where they have become bad; then columns matched to rows by the sizes of
        entries, and those found by elimination among columns near each row and among all.
        """
        columns = matrix.shape[1]
        if self.order is None:
            self.order = order_of_rows(matrix)
        free = np.ones(columns, dtype=bool)
        free[self.required] = False
        others = np.flatnonzero(free)
        number = np.full(columns, NONE)
        number[others] = np.arange(len(others))
        for local in (True, False):
            forced = _rows_of(matrix, self.required, local=local)
            if len(forced) < len(self.required):
                continue
            open_rows = np.ones(matrix.shape[0], dtype=bool)
            open_rows[forced] = False
            rest = np.flatnonzero(open_rows)
            rest = rest[np.argsort(self.order[rest])]
            reduced, cost = matrix[rest][:, others], self.cost[others]
            if local and len(kept):
                yield from self._better(reduced, number[kept[free[kept]]], size, others, large)
            meant = partners(reduced, cost, THRESHOLD)
            if local and (meant != NONE).all():
                yield from self._better(reduced, meant, size, others)
                yield self._with(others[meant])
            pivots = eliminated(
                reduced,
                np.arange(len(rest)),
                cost=cost,
                size=size[others],
                partner=meant,
                threshold=THRESHOLD,
                local=local,
            ).pivot
            yield self._with(others[pivots[pivots != NONE]])

    def _better(
        self, reduced: csr_array, chosen: Wholes, size: Floats, others: Wholes, large: float = LARGE
    ) -> Iterator[Wholes]:
        """Yield a selection after exchanges, if it is regular as far as rows of the same level tell."""
        units = (size if self.floor is None else size + self.floor)[others]
        found = exchanged(reduced, chosen, units, large)
        if found is not None:
            yield self._with(others[found])

    def _with(self, chosen: Wholes) -> Wholes:
        """Return the required components and those chosen."""
        return np.sort(np.concatenate([self.required, chosen])).astype(np.int64)


def partners(matrix: csr_array, cost: Wholes, threshold: float) -> Wholes:
    """Return for each row a column meant to be its pivot: the product of all entries is large."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return _heaviest(matrix, rows, _shares(matrix, rows, cost, threshold))


def _heaviest(matrix: csr_array, rows: Wholes, weight: Floats) -> Wholes:
    """Return columns of their own for all rows such that the product of the weights is largest."""
    from scipy.sparse import csr_array

    allowed = weight * FAVOUR >= 1.0
    if not allowed.any():
        return np.full(matrix.shape[0], NONE)
    if matrix.shape[0] <= MOST_MATCHED:
        lengths = 1.0 + np.log(weight.max()) - np.log(weight[allowed])
        parts = (lengths, (rows[allowed], matrix.indices[allowed]))
        return assigned(csr_array(parts, shape=matrix.shape))
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
    touched: Wholes = np.flatnonzero(np.bincount(turned.indices, minlength=1)).astype(np.int64)
    if len(touched) <= len(required):  # each row is needed; whether they are enough, the factors tell
        return touched
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
