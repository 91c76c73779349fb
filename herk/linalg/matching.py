"""A column of its own for each row of a sparse matrix, by augmenting paths (Duff 1981, MC21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herk.jit.program import Program
from herk.jit.state import State, Wholes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NONE = -1


class Matching(State):
    """A matrix by rows, and who belongs to whom so far."""

    rows: int
    indptr: Wholes
    indices: Wholes
    known: Wholes  # columns to begin with, by row; NONE, or nothing at all
    column: Wholes  # by row
    row: Wholes  # by column
    seen: Wholes  # by column: the last search it was met in
    untried: Wholes  # by row: from where on its columns may be free
    path: Wholes  # rows
    after: Wholes  # by place on the path: the entry to look at next


def match_rows(own: Matching) -> int:
    """Give columns to rows, those known to begin with first; return how many have one."""
    count = 0
    for i in range(own.known.size):
        for p in range(own.indptr[i], own.indptr[i + 1]):
            if own.indices[p] == own.known[i]:
                own.column[i] = own.known[i]
                own.row[own.known[i]] = i
    for i in range(own.rows):
        count += 1 if own.column[i] != NONE or augmented(i, i, own) else 0
    return count


def match_in_rounds(own: Matching) -> int:
    """Give columns to rows; return how many have one.

    In a round no column is looked at twice, so that all rows together cost what entries there are; those left
    over come again in the next one (Pothen & Fan 1990).
    """
    count, before, mark = 0, -1, 0
    while count > before:
        before = count
        for i in range(own.rows):
            if own.column[i] == NONE and augmented(i, mark, own):
                count += 1
        mark += 1
    return count


def augmented(start: int, mark: int, own: Matching) -> bool:
    """Find a column for one more row, others on the way taking other columns; False if there is none."""
    depth = 0
    own.path[0] = start
    own.after[0] = own.indptr[start]
    while depth >= 0:
        row = own.path[depth]
        column = free_column(row, own)
        if column != NONE:
            for d in range(depth, -1, -1):
                each = own.path[d]
                before = own.column[each]
                own.column[each] = column
                own.row[column] = each
                column = before
            return True
        other = next_row(depth, mark, own)
        if other == NONE:
            depth -= 1
        else:
            depth += 1
            own.path[depth] = other
            own.after[depth] = own.indptr[other]
    return False


def free_column(row: int, own: Matching) -> int:
    """Return a column of a row that belongs to none; what belongs to one never becomes free again."""
    end = own.indptr[row + 1]
    p = own.untried[row]
    while p < end and own.row[own.indices[p]] != NONE:
        p += 1
    own.untried[row] = min(p + 1, end)
    return own.indices[p] if p < end else NONE


def next_row(depth: int, mark: int, own: Matching) -> int:
    """Return the row a column not yet seen belongs to; NONE if the row at the end of the path has none."""
    end = own.indptr[own.path[depth] + 1]
    p = own.after[depth]
    while p < end and own.seen[own.indices[p]] == mark:
        p += 1
    own.after[depth] = p + 1
    if p < end:
        own.seen[own.indices[p]] = mark
    return own.row[own.indices[p]] if p < end else NONE


_program = Program(match_rows, match_in_rounds)


def matched(matrix: csr_array, known: Wholes | None = None) -> Wholes:
    """Return for each row a column of its own in which it has an entry; -1 where there is none.

    `known` are columns to begin with, none of them twice; those without an entry are not taken.
    """
    own = _beginning(matrix)
    if known is not None:
        own.bind("known", np.ascontiguousarray(known, dtype=np.int64))
    _program[match_rows].call(own.address)
    found: Wholes = own.column.copy()
    return found


def matched_in_rounds(matrix: csr_array) -> Wholes:
    """Return the same by another way, which is short where paths are long, and may lead to other columns."""
    own = _beginning(matrix)
    _program[match_in_rounds].call(own.address)
    found: Wholes = own.column.copy()
    return found


def has_columns(matrix: csr_array) -> bool:
    """Tell whether each row can have a column of its own in which it has an entry."""
    return bool((matched_in_rounds(matrix) >= 0).all())


def _beginning(matrix: csr_array) -> Matching:
    rows, columns = matrix.shape
    own = Matching(
        indptr=rows + 1, indices=matrix.nnz, **dict.fromkeys(("row", "seen"), columns),
        **dict.fromkeys(("column", "untried", "path", "after"), rows),
    )  # fmt: skip
    own.rows = rows
    own.indptr[:], own.indices[:], own.untried[:] = matrix.indptr, matrix.indices, matrix.indptr[:-1]
    own.column[:] = own.row[:] = own.seen[:] = NONE
    return own
