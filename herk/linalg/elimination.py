"""Sparse elimination row by row: which columns become pivots, and where the factors have entries.

Row i minus multiples of earlier rows is what is left of it (Gilbert & Peierls, by rows); its pivot is one of
the columns that are left. Rows may form blocks: what belongs to earlier blocks is no part of the elimination.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ALL, NO_ROOM = 0, 1
NEGLIGIBLE = 1e-12  # a pivot that is rounding
LOSS = 0.01  # of a component beside the heaviest term of its row: two digits
FAVOUR = 10.0  # by how much the entry in the column meant for a row counts more than others
NONE, PASSED = -1, -2
NEVER = 1 << 62


class Elimination(State):
    """A matrix by rows, and the factors as far as they are known."""

    rows: int
    threshold: float  # of the largest entry: what may be a pivot if its column is cheaper
    forced: int  # the column meant to be a pivot becomes one
    indptr: Wholes
    indices: Wholes
    values: Floats
    order: Wholes  # of the rows
    negligible: Floats  # by place in that order: of the largest entry of a row as given, what is no pivot
    block: Wholes  # by place in that order: where its block begins
    partner: Wholes  # by place: the column meant to be its pivot
    cost: Wholes  # of columns
    size: Floats  # of the unknowns; 0: not known
    waiting: Wholes  # rows still to come in which a column has an entry; behind the last it is PASSED by
    place: Wholes  # of the row a column is the pivot of; NONE: of none yet
    seen: Wholes  # of columns: the last place at which they occurred
    left: Floats  # the row in work, by columns
    stack: Wholes
    next: Wholes
    path: Wholes  # the rows to subtract, those to be subtracted last first
    found: Wholes  # columns of the row in work that are no pivots yet
    pivot: Wholes  # by place: the column; NONE: nothing but rounding was left
    diagonal: Floats
    lower_start: Wholes
    lower: Wholes
    lower_value: Floats
    upper_start: Wholes
    upper: Wholes
    upper_value: Floats


def eliminate_rows(own: Elimination) -> int:
    """Eliminate all rows; NO_ROOM if the factors need more memory."""
    own.lower_start[0] = 0
    own.upper_start[0] = 0
    for i in range(own.rows):
        subtracted, free, top = reach(i, own)
        at, over = own.lower_start[i], own.upper_start[i]
        if at + subtracted > own.lower.size or over + free > own.upper.size:
            return NO_ROOM
        for q in range(subtracted):
            subtract(own.path[subtracted - 1 - q], at + q, own)
        own.lower_start[i + 1] = at + subtracted
        own.upper_start[i + 1] = over + keep(i, over, free, top, own)
    return ALL


def reach(i: int, own: Elimination) -> tuple[int, int, float]:
    """Write row i by columns; return how many rows are to be subtracted, and what columns are left.

    The third value is its largest entry.
    """
    row, first = own.order[i], own.block[i]
    subtracted, free, top = 0, 0, 0.0
    for p in range(own.indptr[row], own.indptr[row + 1]):
        column = own.indices[p]
        if own.place[column] == NONE or own.place[column] >= first:
            if own.seen[column] != i:
                subtracted, free = follow(i, column, subtracted, free, own)
            own.left[column] += own.values[p]
            top = max(top, abs(own.values[p]))
    return subtracted, free, top


def follow(i: int, column: int, subtracted: int, free: int, own: Elimination) -> tuple[int, int]:
    """Visit what a column leads to, depth first: its row is subtracted before the rows of what it brings."""
    seen, place, stack, after = own.seen, own.place, own.stack, own.next
    seen[column] = i
    if place[column] == NONE:
        own.found[free] = column
        return subtracted, free + 1
    depth = 0
    stack[0] = place[column]
    after[0] = own.upper_start[place[column]]
    while depth >= 0:
        at, row = after[depth], stack[depth]
        if at == own.upper_start[row + 1]:
            own.path[subtracted] = row
            subtracted += 1
            depth -= 1
        else:
            after[depth] = at + 1
            other = own.upper[at]
            if seen[other] != i:
                seen[other] = i
                if place[other] == NONE:
                    own.found[free] = other
                    free += 1
                elif place[other] >= 0:
                    depth += 1
                    stack[depth] = place[other]
                    after[depth] = own.upper_start[place[other]]
    return subtracted, free


def subtract(row: int, at: int, own: Elimination) -> None:
    """Subtract a multiple of an earlier row, so that its pivot column vanishes; keep the factor at `at`."""
    left, column = own.left, own.pivot[row]
    factor = left[column] / own.diagonal[row]
    left[column] = 0.0
    own.lower[at] = row
    own.lower_value[at] = factor
    for q in range(own.upper_start[row], own.upper_start[row + 1]):
        left[own.upper[q]] -= factor * own.upper_value[q]


def keep(i: int, at: int, free: int, top: float, own: Elimination) -> int:
    """Choose the pivot of row i and keep the rest of the row at `at`; return how many entries that has."""
    left, found = own.left, own.found
    column = chosen(free, own.negligible[i] * top, own.partner[i], own)
    own.pivot[i] = column
    own.diagonal[i] = 0.0
    if column != NONE:
        own.place[column] = i
        own.diagonal[i] = left[column]
    pass_by(own.order[i], own)
    count = 0
    for q in range(free):
        other = found[q]
        if column != NONE and own.place[other] == NONE:
            own.upper[at + count] = other
            own.upper_value[at + count] = left[other]
            count += 1
        left[other] = 0.0
    return count


def pass_by(row: int, own: Elimination) -> None:
    """Give up columns that occur in no row to come: what they would bring to other rows is not followed."""
    for p in range(own.indptr[row], own.indptr[row + 1]):
        column = own.indices[p]
        own.waiting[column] -= 1
        if own.waiting[column] == 0 and own.place[column] == NONE:
            own.place[column] = PASSED


def chosen(free: int, least: float, partner: int, own: Elimination) -> int:
    """Return the column with the largest entry among the cheapest; NONE if there is nothing but rounding.

    Those that cost up to one and a half times as much as another one are as cheap.
    """
    if own.forced:
        return partner if abs(own.left[partner]) > 0.0 else NONE
    heaviest, top = 0.0, 0.0
    for q in range(free):
        column = own.found[q]
        if abs(own.left[column]) > least:
            heaviest = max(heaviest, abs(own.left[column]) * own.size[column])
    for q in range(free):
        column = own.found[q]
        if clear(abs(own.left[column]), own.size[column], heaviest):
            top = max(top, abs(own.left[column]))
    if not (top > least and top < 1e300):
        return NONE
    price = NEVER
    for q in range(free):
        column = own.found[q]
        allowed = abs(own.left[column]) >= own.threshold * top
        if allowed and clear(abs(own.left[column]), own.size[column], heaviest):
            price = min(price, own.cost[column])
    best, most = NONE, 0.0
    for q in range(free):
        column = own.found[q]
        value = abs(own.left[column])
        allowed = value >= own.threshold * top and 2 * own.cost[column] <= 3 * price
        if allowed and clear(value, own.size[column], heaviest):
            value *= FAVOUR if column == partner else 1.0
            if value > most:
                best, most = column, value
    return best


def clear(value: float, size: float, heaviest: float) -> bool:
    """Tell whether an unknown may be computed from a row: the rounding of its heaviest term is small then."""
    return size == 0.0 or value * size >= LOSS * heaviest


_program = Program(eliminate_rows)


@dataclass(frozen=True)
class Factors:
    """What an elimination found: pivots by place, L and U by rows; entries of L are places, of U columns."""

    order: Wholes
    block: Wholes
    pivot: Wholes
    place: Wholes
    diagonal: Floats
    lower_start: Wholes
    lower: Wholes
    upper_start: Wholes
    upper: Wholes

    @property
    def entries(self) -> int:
        """Return how many entries there are beside the diagonal."""
        return len(self.lower) + len(self.upper)

    @property
    def rank(self) -> int:
        """Return how many rows have a pivot."""
        return int((self.pivot != NONE).sum())


def eliminated(
    matrix: csr_array,
    order: Wholes,
    *,
    block: Wholes | None = None,
    cost: Wholes | None = None,
    partner: Wholes | None = None,
    size: Floats | None = None,
    threshold: float = 1.0,
    local: bool = False,
    forced: bool = False,
    negligible: Floats | float = NEGLIGIBLE,
) -> Factors:
    """Eliminate the rows of a matrix in this order; by default its columns are chosen by size alone.

    `local`: a column is the pivot of a row in which it has an entry, or becomes none. What is left of a wide
    matrix would otherwise fill up with columns nobody chooses. `forced`: partners are the pivots.
    `negligible`: what is left of a row, beside its largest entry, is no pivot; one number, or one by place.
    """
    rows, columns = len(order), matrix.shape[1]
    room = 4 * matrix.nnz + rows
    given = {
        "indptr": matrix.indptr,
        "indices": matrix.indices,
        "values": matrix.data,
        "order": order,
        "negligible": np.broadcast_to(negligible, rows),
        "block": np.zeros(rows) if block is None else block,
        "cost": np.zeros(columns) if cost is None else cost,
        "partner": np.full(rows, NONE) if partner is None else partner,
        "size": np.zeros(columns) if size is None else size,
        "waiting": np.bincount(matrix.indices, minlength=columns) if local else np.full(columns, NEVER),
    }
    lengths = dict.fromkeys(("place", "seen", "left", "found"), columns)
    lengths |= dict.fromkeys(("stack", "next", "path", "pivot", "diagonal"), rows)
    lengths |= dict.fromkeys(("lower_start", "upper_start"), rows + 1)
    lengths |= {name: len(value) for name, value in given.items()}
    while True:
        own = Elimination(**lengths, **dict.fromkeys(("lower", "lower_value", "upper", "upper_value"), room))
        for name, value in given.items():
            getattr(own, name)[:] = value
        own.rows, own.threshold, own.forced = rows, threshold, forced
        own.place[:] = own.seen[:] = NONE
        if _program[eliminate_rows].call(own.address) == ALL:
            return _found(own)
        room *= 4


def _found(own: Elimination) -> Factors:
    below, above = own.lower_start[-1], own.upper_start[-1]
    names = ("order", "block", "pivot", "place", "diagonal", "lower_start", "upper_start")
    parts = {name: getattr(own, name).copy() for name in names}
    return Factors(**parts, lower=own.lower[:below].copy(), upper=own.upper[:above].copy())
