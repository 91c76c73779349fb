"""Sparse LU with fixed places: found once in Python, values computed again and again in compiled code.

The matrix is in block lower triangular form; only its diagonal blocks are factored, in the spirit of KLU
(Davis & Palamadai Natarajan, 2010). Values come from an array on a larger pattern, of which the matrix may be
some columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herk.jit.state import Floats, State, Wholes
from herk.linalg.balance import even_units
from herk.linalg.elimination import Factors, eliminated
from herk.linalg.graphs import by_rows, parity
from herk.linalg.matching import matched
from herk.linalg.ordering import THRESHOLD, blocks, least_fill_of, pivots
from herk.linalg.pattern import Pattern

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GROWN = 1.3  # times as many entries as when an order of rows was found ask for another one
UNSOUND = 1e-7  # pivots beside the largest entries of their rows, for which other units are tried
UNSTABLE = 1e-5  # a pivot this small beside the rest of its row asks for another order


class SparseLU(State):
    """The factors of a matrix; rows, columns and entries are numbered by places in the order of pivots."""

    size: int
    blocks: int
    parity: float  # of both permutations
    sign: float  # of the determinant
    weakest: float  # the smallest pivot beside its value when the order was chosen
    soundness: float  # the smallest pivot beside the largest entry of its row, then
    stamp: int  # for those who want to know what was factored last
    fill: int  # entries when the order of the rows was found
    row: Wholes  # by place
    column: Wholes
    block_start: Wholes
    entry_start: Wholes  # entries inside the diagonal blocks: their places, and where their values come from
    entry: Wholes
    source: Wholes
    other_start: Wholes  # entries in earlier blocks
    other: Wholes
    other_source: Wholes
    other_value: Floats
    lower_start: Wholes
    lower: Wholes
    lower_value: Floats
    upper_start: Wholes
    upper: Wholes
    upper_value: Floats
    inverse: Floats  # of the pivots
    reference: Floats  # sizes of the pivots when the order was chosen
    unit: Floats  # in which unknowns are compared, by place
    work: Floats  # zero between calls
    solution: Floats


def refactor(values: Floats, own: SparseLU) -> bool:
    """Compute the factors of the matrix with these values; False if it is singular, or the order unfit."""
    work, inverse, upper, upper_value, unit = own.work, own.inverse, own.upper, own.upper_value, own.unit
    own.sign, own.weakest, stable = own.parity, 1e300, True
    for p in range(own.other.size):
        own.other_value[p] = values[own.other_source[p]]
    for i in range(own.size):
        for p in range(own.entry_start[i], own.entry_start[i + 1]):
            work[own.entry[p]] = values[own.source[p]]
        for p in range(own.lower_start[i], own.lower_start[i + 1]):
            j = own.lower[p]
            factor = work[j] * inverse[j]
            work[j] = 0.0
            own.lower_value[p] = factor
            for q in range(own.upper_start[j], own.upper_start[j + 1]):
                work[upper[q]] -= factor * upper_value[q]
        pivot, rest = work[i], 0.0
        work[i] = 0.0
        for q in range(own.upper_start[i], own.upper_start[i + 1]):
            upper_value[q] = work[upper[q]]
            rest = max(rest, abs(upper_value[q]) * unit[upper[q]])
            work[upper[q]] = 0.0
        size = abs(pivot)
        stable = stable and size * unit[i] > UNSTABLE * rest and size < 1e300
        own.weakest = min(own.weakest, size / own.reference[i])
        inverse[i] = 1.0 / pivot
        if pivot < 0.0:
            own.sign = -own.sign
    return stable


def copy_factors(made: SparseLU, own: SparseLU) -> None:
    """Take the values of factors on the same places."""
    for p in range(own.other.size):
        own.other_value[p] = made.other_value[p]
    for p in range(own.lower.size):
        own.lower_value[p] = made.lower_value[p]
    for p in range(own.upper.size):
        own.upper_value[p] = made.upper_value[p]
    for i in range(own.size):
        own.inverse[i] = made.inverse[i]


def solve_sparse(b: Floats, x: Floats, own: SparseLU) -> None:
    """Solve with the factors; right-hand side by rows, solution by columns (other memory)."""
    z, inverse, last = own.solution, own.inverse, 0
    for k in range(own.blocks):
        first = last
        last = own.block_start[k + 1]
        for i in range(first, last):
            value = b[own.row[i]]
            for p in range(own.other_start[i], own.other_start[i + 1]):
                value -= own.other_value[p] * z[own.other[p]]
            for p in range(own.lower_start[i], own.lower_start[i + 1]):
                value -= own.lower_value[p] * z[own.lower[p]]
            z[i] = value
        for i in range(last - 1, first - 1, -1):
            value = z[i]
            for q in range(own.upper_start[i], own.upper_start[i + 1]):
                value -= own.upper_value[q] * z[own.upper[q]]
            z[i] = value * inverse[i]
            x[own.column[i]] = z[i]


def analysed(
    pattern: Pattern,
    columns: Wholes,
    values: Floats,
    rows: Wholes | None = None,
    before: tuple[SparseLU, Wholes] | None = None,
) -> SparseLU | None:
    """Return factors of these columns of a matrix, in an order of pivots that is good for its values now.

    Of `rows` in ascending order, if they are given, whose numbers stay those of the matrix. `before` are
    factors of other columns, and these: what they have in common need not be found again. Where entries as
    they are show no good pivots, they are compared in units that bring them near one. None: it is singular.
    """
    rows = np.arange(pattern.shape[0]) if rows is None else rows
    matrix, source = _part(pattern, rows, columns, values)
    if before is None:
        made = factors_of(matrix, source)
    else:
        known, others = before
        number = np.full(pattern.shape[1], -1, dtype=np.int64)
        number[columns] = np.arange(len(columns))
        order, partner = np.empty(len(columns), dtype=np.int64), np.empty(len(columns), dtype=np.int64)
        place = np.searchsorted(rows, known.row)
        order[place], partner[place] = np.arange(len(columns)), number[others[known.column]]
        made = factors_of(matrix, source, Known(order, partner, known.fill))
    if made is None or made.soundness < UNSOUND:
        other = factors_of(matrix, source, None, even_units(matrix))
        made = other if made is None or (other is not None and other.soundness > made.soundness) else made
    if made is not None:
        made.row[:] = rows[made.row]
    return made


@dataclass(frozen=True)
class Known:
    """What may hold for another matrix: the place of each row, its partner, how many entries that brings."""

    order: Wholes
    partner: Wholes
    fill: int


def some_rows(pattern: Pattern, rows: Wholes, entries: Wholes, values: Floats) -> tuple[csr_array, Wholes]:
    """Return rows of a matrix with entries marked by 1, and where each value comes from."""
    matrix = pattern.matrix(np.arange(1.0, pattern.nnz + 1) * entries)[rows]
    matrix.eliminate_zeros()
    source = matrix.data.astype(np.int64) - 1
    matrix.data = values[source]
    return matrix, source


def factors_in_one(matrix: csr_array, source: Wholes) -> SparseLU | None:
    """Return factors of a square matrix that hardly falls into blocks; None if it is singular."""
    found = pivots(matrix)
    if found is None:
        return None
    rows, columns = found
    made = eliminated(matrix, rows, partner=columns, forced=True)
    begins = np.zeros(1, dtype=np.int64)
    return _state(matrix, source, made, begins) if made.rank == len(rows) else None


def factors_of(
    matrix: csr_array, source: Wholes, known: Known | None = None, unit: Floats | None = None
) -> SparseLU | None:
    """Return factors of a square matrix; `source` tells where later values of its entries come from."""
    if unit is not None:
        matrix = matrix.copy()
        matrix.data *= unit[matrix.indices]
    partner = matched(matrix, None if known is None else known.partner)
    if (partner < 0).any():
        return None
    block = blocks(matrix, partner)
    if known is not None:
        found, begins = _eliminated(matrix, partner, block, known.order)
        if found.rank == len(partner) and found.entries <= GROWN * known.fill:
            return _state(matrix, source, found, begins, known.fill, unit)
    found, begins = _eliminated(matrix, partner, block, fill_order(matrix, partner, block))
    return _state(matrix, source, found, begins, None, unit) if found.rank == len(partner) else None


def _eliminated(matrix: csr_array, partner: Wholes, block: Wholes, places: Wholes) -> tuple[Factors, Wholes]:
    """Eliminate block by block, rows in the order of their places; return where blocks begin, too."""
    starts, rows = by_rows(block, places, len(places))
    begins = starts[: block.max(initial=-1) + 1]
    first = begins[block[rows]]
    cost = np.bincount(matrix.indices, minlength=len(rows)).astype(np.int64)
    meant = partner[rows]
    found = eliminated(matrix, rows, block=first, cost=cost, partner=meant, threshold=THRESHOLD)
    return found, begins


def fill_order(matrix: csr_array, partner: Wholes, block: Wholes) -> Wholes:
    """Return the place of each row in an order of few new entries inside the blocks."""
    if block.max(initial=0) == len(block) - 1:  # blocks of one row each
        return np.arange(len(block))
    rows, place = np.repeat(np.arange(len(block)), np.diff(matrix.indptr)), np.empty_like(partner)
    place[partner] = np.arange(len(partner))
    columns = place[matrix.indices]
    inside = block[rows] == block[columns]
    return least_fill_of(rows[inside], columns[inside], len(block))


def _part(pattern: Pattern, rows: Wholes, columns: Wholes, values: Floats) -> tuple[csr_array, Wholes]:
    """Return some rows of a matrix and some columns in this order, and where each value comes from."""
    starts, places, source = pattern.part(rows, columns)
    small = Pattern((len(rows), len(columns)), starts, places)
    return small.matrix(values[source]), source


def _state(
    matrix: csr_array,
    source: Wholes,
    found: Factors,
    begins: Wholes,
    fill: int | None = None,
    unit: Floats | None = None,
) -> SparseLU:
    """Return the factors with all numbers in the order of pivots, found in these units of the columns."""
    size = matrix.shape[0]
    pivots_in_units = np.abs(found.diagonal)
    units = np.ones(size) if unit is None else unit[found.pivot]
    at_row = np.empty(size, dtype=np.int64)
    at_row[found.order] = np.arange(size)
    rows = at_row[np.repeat(np.arange(size), np.diff(matrix.indptr))]
    places = found.place[matrix.indices]
    inside = places >= found.block[rows]
    parts = {
        **_listed("entry", rows[inside], places[inside], size, source=source[inside]),
        **_listed("other", rows[~inside], places[~inside], size, other_source=source[~inside]),
        "row": found.order,
        "column": found.pivot,
        "block_start": np.append(begins, size),
        "lower_start": found.lower_start,
        "lower": found.lower,
        "upper_start": found.upper_start,
        "upper": found.place[found.upper],
        "reference": pivots_in_units / units,
        "unit": units,
    }
    lengths = {name: len(part) for name, part in parts.items()}
    lengths |= {"other_value": lengths["other"], "lower_value": lengths["lower"], "inverse": size}
    own = SparseLU(**lengths, upper_value=lengths["upper"], work=size, solution=size)
    for name, part in parts.items():
        getattr(own, name)[:] = part
    own.size, own.blocks, own.weakest = size, len(begins), 1.0
    own.fill = found.entries if fill is None else fill
    sizes = np.where(inside, np.abs(matrix.data), 0.0)
    largest = np.empty(size)
    largest[at_row] = np.maximum.reduceat(sizes, matrix.indptr[:-1]) if size else 0.0
    own.soundness = float((pivots_in_units / largest).min(initial=1.0))
    own.parity = float(parity(found.order) * parity(found.pivot))
    return own


def _listed(name: str, rows: Wholes, places: Wholes, size: int, **others: Wholes) -> dict[str, Wholes]:
    """Return entries by rows: where those of each row begin, their places, and what comes with them."""
    start, order = by_rows(rows, places, size)
    listed = {f"{name}_start": start, name: places[order]}
    return listed | {other: value[order] for other, value in others.items()}


def operations(own: SparseLU) -> tuple[int, int]:
    """Return in how many operations the factors are found, and in how many a system is solved."""
    lengths = np.diff(own.upper_start)
    solved = own.lower.size + own.upper.size + own.other.size + own.size
    return int(lengths[own.lower].sum()) + own.entry.size + own.other.size + own.size, solved
