"""Entries of a Jacobian by groups of columns that are differenced together."""

from __future__ import annotations

import numpy as np

from herk.jit.state import Floats, State, Wholes
from herk.linalg.pattern import Pattern


class Groups(State):
    """Entries of group k are those from start[k] to start[k + 1], column by column."""

    count: int
    start: Wholes
    row: Wholes
    column: Wholes
    place: Wholes  # where the value of an entry is written
    kept: Floats  # the point that is moved


def groups_of(pattern: Pattern, place: Wholes) -> Groups:
    """Return the groups of a pattern; `place` has where the value of each entry belongs."""
    group = pattern.groups[pattern.indices]
    order = np.lexsort((pattern.indices, group))
    starts = np.concatenate([[0], np.cumsum(np.bincount(group))])
    lengths = dict.fromkeys(("row", "column", "place"), pattern.nnz)
    made = Groups(start=len(starts), **lengths, kept=pattern.shape[1])
    made.count, made.start[:] = len(starts) - 1, starts
    made.row[:], made.column[:], made.place[:] = pattern.rows[order], pattern.indices[order], place[order]
    return made
