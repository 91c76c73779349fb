"""Columns of their own for as many rows as possible, the sum of lengths being least, on a sparse pattern.

Shortest augmenting paths with prices, a heap for the nearest column (Duff & Koster, SIAM J. Matrix Anal.
Appl. 22, 2001). SciPy's matching does not end in minutes on a Stokes flow of 32 x 32 cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NONE, REACHED = -1, -2


class Assignment(State):
    """Lengths by rows, the columns assigned so far, and prices: no length is below the sum of both."""

    rows: int
    filled: int  # places of the heap in use
    indptr: Wholes
    indices: Wholes
    length: Floats
    of_row: Wholes
    of_column: Wholes
    row_price: Floats
    column_price: Floats
    distance: Floats  # of columns from the row at work
    before: Wholes  # the row on the way to a column
    heap: Wholes  # of columns, the nearest first
    place: Wholes  # of columns in the heap; NONE: not seen yet, REACHED: left already
    seen: Wholes  # columns


def assign(own: Assignment) -> int:
    """Give rows columns; return how many have none. What cannot have one now cannot have one later."""
    begin_prices(own)
    left = 0
    for i in range(own.rows):
        if own.of_row[i] == NONE and not lengthen(i, own):
            left += 1
    return left


def begin_prices(own: Assignment) -> None:
    """Set prices by the shortest lengths of columns, then of rows, and assign what costs nothing more.

    Columns that may be left over have none.
    """
    square = own.rows == own.column_price.size
    for j in range(own.column_price.size):
        own.column_price[j] = 1e300 if square else 0.0
    for p in range(own.length.size):
        j = own.indices[p]
        own.column_price[j] = min(own.column_price[j], own.length[p])
    for i in range(own.rows):
        least, best = 1e300, NONE
        for p in range(own.indptr[i], own.indptr[i + 1]):
            j = own.indices[p]
            rest = own.length[p] - own.column_price[j]
            if rest < least or (rest == least and own.of_column[j] == NONE and own.of_column[best] != NONE):
                least, best = rest, j
        own.row_price[i] = least
        if best != NONE and own.of_column[best] == NONE:
            own.of_row[i] = best
            own.of_column[best] = i


def lengthen(row: int, own: Assignment) -> bool:
    """Find the shortest way from a row to a column that is free, and assign along it."""
    count, here, way, last = 0, row, 0.0, NONE
    own.filled = 0
    while last == NONE:
        count = look(here, way, count, own)
        if own.filled == 0:
            for k in range(count):
                own.place[own.seen[k]] = NONE
            return False
        column = nearest(own)
        way = own.distance[column]
        here = own.of_column[column]
        if here == NONE:
            last = column
    own.row_price[row] += way
    for k in range(count):
        column = own.seen[k]
        if own.place[column] == REACHED and column != last:
            own.row_price[own.of_column[column]] += way - own.distance[column]
            own.column_price[column] -= way - own.distance[column]
        own.place[column] = NONE
    while last != NONE:
        here = own.before[last]
        following = own.of_row[here]
        own.of_row[here] = last
        own.of_column[last] = here
        last = following
    return True


def look(row: int, way: float, count: int, own: Assignment) -> int:
    """Note how near the columns of a row are by this way; return how many columns were seen."""
    for p in range(own.indptr[row], own.indptr[row + 1]):
        j = own.indices[p]
        if own.place[j] != REACHED:
            far = way + own.length[p] - own.row_price[row] - own.column_price[j]
            if own.place[j] == NONE:
                own.seen[count] = j
                count += 1
                own.place[j] = own.filled
                own.filled += 1
                own.distance[j] = 1e300
            if far < own.distance[j]:
                own.distance[j] = far
                own.before[j] = row
                rise(j, own)
    return count


def rise(column: int, own: Assignment) -> None:
    """Put a column that came nearer to its place in the heap."""
    at = own.place[column]
    while at > 0 and own.distance[own.heap[(at - 1) // 2]] > own.distance[column]:
        above = own.heap[(at - 1) // 2]
        own.heap[at] = above
        own.place[above] = at
        at = (at - 1) // 2
    own.heap[at] = column
    own.place[column] = at


def nearest(own: Assignment) -> int:
    """Return the nearest column and take it from the heap."""
    found, own.filled = own.heap[0], own.filled - 1
    own.place[found] = REACHED
    if own.filled == 0:
        return found  # type: ignore[no-any-return]
    column, at, below = own.heap[own.filled], 0, 1
    while below < own.filled:
        if below + 1 < own.filled and own.distance[own.heap[below + 1]] < own.distance[own.heap[below]]:
            below += 1
        if own.distance[own.heap[below]] >= own.distance[column]:
            below = own.filled
        else:
            own.heap[at] = own.heap[below]
            own.place[own.heap[at]] = at
            at = below
            below = 2 * at + 1
    own.heap[at] = column
    own.place[column] = at
    return found  # type: ignore[no-any-return]


_program = Program(assign)


def assigned(lengths: csr_array) -> Wholes:
    """Return for each row the column assigned to it; NONE where there is none left."""
    rows, columns = lengths.shape
    given = {"indptr": lengths.indptr, "indices": lengths.indices, "length": lengths.data}
    sizes = {name: len(value) for name, value in given.items()}
    of_columns = ("of_column", "column_price", "distance", "before", "heap", "place", "seen")
    own = Assignment(**sizes, **dict.fromkeys(of_columns, columns), of_row=rows, row_price=rows)
    for name, value in given.items():
        getattr(own, name)[:] = value
    own.rows = rows
    own.of_row[:] = own.of_column[:] = own.place[:] = NONE
    _program[assign].call(own.address)
    return own.of_row.copy()
