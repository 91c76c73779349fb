"""Where the entries of a sparse matrix stand, and which of its columns can be differenced together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from herk.jit.native import passed
from herk.jit.program import Program
from herk.jit.state import Floats, Wholes
from herk.linalg.ordering import order_of_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Pattern:
    """Places by rows: those of row i are indices[indptr[i] : indptr[i + 1]], in ascending order.

    The values of a matrix are one array in this order.
    """

    shape: tuple[int, int]
    indptr: Wholes
    indices: Wholes

    @classmethod
    def of(cls, matrix: Any) -> Pattern:
        """Return where a matrix, sparse or not, has entries; those stored as zeros count."""
        from scipy.sparse import csr_array

        by_rows = csr_array(matrix, copy=True)
        by_rows.sum_duplicates()
        by_rows.sort_indices()
        rows, columns = by_rows.shape
        return cls((rows, columns), by_rows.indptr.astype(np.int64), by_rows.indices.astype(np.int64))

    @property
    def nnz(self) -> int:
        """Return how many entries there are."""
        return int(self.indices.size)

    @cached_property
    def rows(self) -> Wholes:
        """Return the row of every entry."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int64), np.diff(self.indptr))

    def matrix(self, values: Floats) -> csr_array:
        """Return the matrix with these values."""
        from scipy.sparse import csr_array

        indices, indptr = self._short
        made: csr_array = csr_array((values, indices.copy(), indptr.copy()), shape=self.shape)
        return made

    @cached_property
    def _short(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places in the short numbers that SciPy wants, which it would find again for every matrix."""
        kind = np.int32 if max(self.nnz, *self.shape) < 2**31 else np.int64
        return self.indices.astype(kind), self.indptr.astype(kind)

    @cached_property
    def row_order(self) -> Wholes:
        """Return the place of each row in an order of few new entries, whatever columns are eliminated."""
        return order_of_rows(self.matrix(np.ones(self.nnz)))

    def values(self, matrix: Any) -> Floats:
        """Return the values of a matrix in the order of the pattern; an entry outside it is a KeyError."""
        from scipy.sparse import csr_array

        given = csr_array(matrix, dtype=float, copy=True)
        given.sum_duplicates()
        given.sort_indices()
        if given.nnz == self.nnz and (given.indices == self.indices).all():
            return np.asarray(given.data)
        width = self.shape[1]
        own = self.rows * width + self.indices
        mine = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr)) * width + given.indices
        at = np.searchsorted(own, mine)
        inside = at < own.size
        inside[inside] = own[at[inside]] == mine[inside]
        outside = np.flatnonzero(~inside & (given.data != 0.0))
        if outside.size:
            raise KeyError(divmod(int(mine[outside[0]]), width))
        found = np.zeros(self.nnz)
        found[at[inside]] = given.data[inside]
        return found

    def part(self, rows: Wholes, columns: Wholes) -> tuple[Wholes, Wholes, Wholes]:
        """Return where some rows begin, the numbers of some columns in them, and where their values stand."""
        number = np.full(self.shape[1], -1, dtype=np.int64)
        number[columns] = np.arange(len(columns))
        room = int((self.indptr[rows + 1] - self.indptr[rows]).sum())
        starts, found = np.empty(len(rows) + 1, dtype=np.int64), np.empty(room, dtype=np.int64)
        source = np.empty_like(found)
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        given = self.indptr, self.indices, rows, number, starts, found, source
        count = _program[take].call(*passed(given))
        return starts, found[:count], source[:count]

    def union(self, other: Pattern) -> Pattern:
        """Return where either has entries."""
        ones = [each.matrix(np.ones(each.nnz)) for each in (self, other)]
        return Pattern.of(ones[0] + ones[1])

    @cached_property
    def groups(self) -> Wholes:
        """Return the number of a group for every column; no two columns of a group meet in a row.

        So all columns of a group can be found by one difference (Curtis, Powell & Reid).
        """
        from scipy.sparse import csc_array

        columns = self.shape[1]
        turned = csc_array(self.matrix(np.ones(self.nnz)))
        starts, members = turned.indptr.astype(np.int64), turned.indices.astype(np.int64)
        found, used = np.full(columns, -1, dtype=np.int64), np.full(columns + 1, -1, dtype=np.int64)
        given = passed((starts, members, self.indptr, self.indices, found, used))
        _program[grouped].call(*given)
        return found


def grouped(
    starts: Wholes, members: Wholes, indptr: Wholes, indices: Wholes, group: Wholes, used: Wholes
) -> None:
    """Give each column the first group in which no column meets it; `used` is scratch, one longer."""
    for j in range(group.size):
        for p in range(starts[j], starts[j + 1]):
            row = members[p]
            for q in range(indptr[row], indptr[row + 1]):
                other = group[indices[q]]
                if other >= 0:
                    used[other] = j
        first = 0
        while used[first] == j:
            first += 1
        group[j] = first


def take(
    indptr: Wholes,
    indices: Wholes,
    rows: Wholes,
    number: Wholes,
    starts: Wholes,
    found: Wholes,
    source: Wholes,
) -> int:
    """List the entries of some rows in columns that have a number; return how many there are."""
    count = 0
    for k in range(rows.size):
        starts[k] = count
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            if number[indices[p]] >= 0:
                found[count] = number[indices[p]]
                source[count] = p
                count += 1
    starts[rows.size] = count
    return count


_program = Program(grouped, take)
