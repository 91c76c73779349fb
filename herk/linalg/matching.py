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
    column: Wholes  # by row
    row: Wholes  # by column
    seen: Wholes  # by column: the last row a path was looked for
    untried: Wholes  # by row: from where on its columns may be free
    path: Wholes  # rows
    after: Wholes  # by place on the path: the entry to look at next


def match_rows(own: Matching) -> int:
    """Give columns to rows; return how many have one."""
    count = 0
    for i in range(own.rows):
        count += 1 if own.column[i] != NONE or augmented(i, own) else 0
    return count


def augmented(start: int, own: Matching) -> bool:
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
        other = next_row(depth, start, own)
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


def next_row(depth: int, start: int, own: Matching) -> int:
    """Return the row a column not yet seen belongs to; NONE if the row at the end of the path has none."""
    end = own.indptr[own.path[depth] + 1]
    p = own.after[depth]
    while p < end and own.seen[own.indices[p]] == start:
        p += 1
    own.after[depth] = p + 1
    if p < end:
        own.seen[own.indices[p]] = start
    return own.row[own.indices[p]] if p < end else NONE


_program = Program(match_rows)


def matched(matrix: csr_array, known: Wholes | None = None) -> Wholes:
    """Return for each row a column of its own in which it has an entry; -1 where there is none.

    `known` are columns to begin with, none of them twice; those without an entry are not taken.
    """
    rows, columns = matrix.shape
    own = Matching(
        indptr=rows + 1, indices=matrix.nnz, **dict.fromkeys(("row", "seen"), columns),
        **dict.fromkeys(("column", "untried", "path", "after"), rows),
    )  # fmt: skip
    own.rows = rows
    own.indptr[:], own.indices[:], own.untried[:] = matrix.indptr, matrix.indices, matrix.indptr[:-1]
    own.column[:] = own.row[:] = own.seen[:] = NONE
    if known is not None:
        entry_row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
        taken = np.unique(entry_row[matrix.indices == known[entry_row]])
        own.column[taken] = known[taken]
        own.row[known[taken]] = taken
    _program[match_rows].call(own.address)
    found: Wholes = own.column.copy()
    return found
