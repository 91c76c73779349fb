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
from herk.linalg.exchange import LARGE, Exchanger
from herk.linalg.matching import matched
from herk.linalg.ordering import order_of_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

THRESHOLD = 1e-3  # of the largest entry left in a row: a column in fewer rows may be taken
LEVELS = 0.999, 0.5, 1.0 / FAVOUR
MOST_MATCHED = 30_000  # rows up to which a largest product is looked for, which takes time as their square


class Rest:
    """The rows left to choose and the columns they choose among: places of a matrix, and memory for them."""

    def __init__(self, numbered: csr_array, rows: Wholes, columns: Wholes) -> None:
        """Take these rows and columns of a matrix whose values are the numbers of its entries."""
        places = numbered[rows][:, columns]
        self.rows, self.source, self.places = rows, places.data.copy(), places
        self.exchanger: Exchanger | None = None

    def matrix(self, values: Floats) -> csr_array:
        """Return these rows and columns of a matrix with these values."""
        from scipy.sparse import csr_array

        parts = (values[self.source], self.places.indices, self.places.indptr)
        return csr_array(parts, shape=self.places.shape)

    def exchanged(self, values: Floats, chosen: Wholes, size: Floats, large: float) -> Wholes | None:
        """Exchange columns of this part of a matrix with these values; see exchange.py."""
        if self.exchanger is None:
            self.exchanger = Exchanger(self.places)
        return self.exchanger.exchanged(values[self.source], chosen, size, large)


class Places:
    """What a pattern alone tells: rows that contain required components, the other columns, parts in use."""

    def __init__(self, matrix: csr_array, required: Wholes) -> None:
        """Look at the pattern of a matrix."""
        from scipy.sparse import csr_array

        self.indptr, self.indices, columns = matrix.indptr, matrix.indices, matrix.shape[1]
        parts = (np.arange(matrix.nnz), self.indices, self.indptr)
        self.numbered = csr_array(parts, shape=matrix.shape)
        self.free = np.ones(columns, dtype=bool)
        self.free[required] = False
        self.others = np.flatnonzero(self.free)
        self.number = np.full(columns, NONE)
        self.number[self.others] = np.arange(len(self.others))
        # Rows that hold nothing else are needed for required components; others may do with the rest.
        self.choice = (np.diff(self.numbered[:, self.others].tocsr().indptr) > 0).astype(np.int64)
        self.turned = self.numbered[:, required].T.tocsr()
        self.touched: Wholes = np.flatnonzero(np.bincount(self.turned.indices, minlength=1)).astype(np.int64)
        self.last: tuple[Wholes, Rest] | None = None

    def fit(self, matrix: csr_array) -> bool:
        """Tell whether a matrix has this pattern."""
        same = np.array_equal(matrix.indptr, self.indptr) and np.array_equal(matrix.indices, self.indices)
        return same and matrix.shape == self.numbered.shape

    def rows_of_required(self, values: Floats, *, local: bool) -> Wholes:
        """Return rows that determine the required components, one for each; fewer if there are none."""
        count = self.turned.shape[0]
        if len(self.touched) <= count:  # each row is needed; whether they are enough, the factors tell
            return self.touched
        turned = self.turned.copy()
        turned.data = values[self.turned.data]
        found = eliminated(turned, np.arange(count), cost=self.choice, threshold=THRESHOLD, local=local)
        pivots: Wholes = found.pivot
        chosen: Wholes = pivots[pivots != NONE]
        return chosen

    def rest(self, forced: Wholes, order: Wholes) -> Rest:
        """Return what is left without these rows, in this order; mostly they are those of the time before."""
        if self.last is None or not np.array_equal(forced, self.last[0]):
            open_rows = np.ones(self.numbered.shape[0], dtype=bool)
            open_rows[forced] = False
            rows = np.flatnonzero(open_rows)
            self.last = forced, Rest(self.numbered, rows[np.argsort(order[rows])], self.others)
        return self.last[1]


@dataclass
class Selector:
    """Selects on one pattern; an order of rows is found once."""

    required: Wholes
    cost: Wholes
    floor: Floats | None = None  # what is small for each unknown
    order: Wholes | None = None  # place of each row
    places: Places | None = None

    def selections(
        self, matrix: csr_array, size: Floats, kept: Wholes, large: float = LARGE
    ) -> Iterator[Wholes]:
        """Yield selections for these values: components in ascending order, fewer than rows at lost rank.

        First those kept, exchanged where they have become bad; then columns matched to rows by the sizes of
        entries, and those found by elimination among columns near each row and among all.
        """
        if self.order is None:
            self.order = order_of_rows(matrix)
        if self.places is None or not self.places.fit(matrix):
            self.places = Places(matrix, self.required)
        places, others = self.places, self.places.others
        for local in (True, False):
            forced = places.rows_of_required(matrix.data, local=local)
            if len(forced) < len(self.required):
                continue
            rest = places.rest(forced, self.order)
            if local and len(kept):
                before = places.number[kept[places.free[kept]]]
                yield from self._better(rest, matrix, before, size, others, large)
            reduced, cost = rest.matrix(matrix.data), self.cost[others]
            meant = partners(reduced, cost, THRESHOLD)
            if local and (meant != NONE).all():
                yield from self._better(rest, matrix, meant, size, others)
                yield self._with(others[meant])
            pivots = eliminated(
                reduced,
                np.arange(len(rest.rows)),
                cost=cost,
                size=size[others],
                partner=meant,
                threshold=THRESHOLD,
                local=local,
            ).pivot
            yield self._with(others[pivots[pivots != NONE]])

    def _better(
        self,
        rest: Rest,
        matrix: csr_array,
        chosen: Wholes,
        size: Floats,
        others: Wholes,
        large: float = LARGE,
    ) -> Iterator[Wholes]:
        """Yield a selection after exchanges, if it is regular as far as rows of the same level tell."""
        units = (size if self.floor is None else size + self.floor)[others]
        found = rest.exchanged(matrix.data, chosen, units, large)
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
