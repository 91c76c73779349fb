"""Which rows of a matrix function depend on others.

Decided at consistent points, with many digits, in any units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

import mpmath
import numpy as np

from herk.linalg.balance import powers

Number = Any  # mpmath.mpf
SparseRow = dict[int, Number]
REGULAR = 1e-9  # smallest singular value, relative, of what doubles may call regular: rounding is 1e-16
GOOD = 1e-2  # a pivot above this is one to divide by
FAIR = 1e-5  # and this one is better than none
CLEAR = 1e-10  # a residual above this is not zero
TINY = 1e-14  # below this it counts as zero: cancellation of parameters known to 16 digits ends here
ROUNDING = 1e-15  # and this is what doubles that cancel leave
CLEAN = 1e-28  # below this it is zero beyond doubt
LOST = 200  # powers of two, more than any units differ by: a blocking diode beside a conducting one


@dataclass
class Split:
    """Independent rows in the order they were taken; for each other row those that it is made of."""

    independent: list[int] = field(default_factory=list)
    relations: dict[int, set[int]] = field(default_factory=dict)
    doubts: list[tuple[int, float]] = field(default_factory=list)
    drops: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class _Echelon:
    """Gaussian elimination at one point: reduced rows, their pivots, and what they are made of."""

    alive: bool = True
    floor: int = 0  # a row smaller than this is small, whatever it is beside itself
    pivots: list[tuple[int, SparseRow, SparseRow]] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)

    def reduce(self, row: SparseRow) -> tuple[SparseRow, SparseRow, Number]:
        """Return what is left of the row, the rows taken away, and the size of the largest term involved."""
        left = dict(row)
        used: SparseRow = {}
        largest = max(map(abs, row.values()), default=mpmath.mpf(0))
        largest = max(largest, mpmath.mpf(self.floor))
        waiting = [self.places[j] for j in left if j in self.places]
        heapify(waiting)
        while waiting:
            column, pivot_row, combination = self.pivots[heappop(waiting)]
            factor = left.pop(column) / pivot_row[column]
            for j, value in pivot_row.items():
                if j == column:
                    continue
                if j in left:
                    left[j] -= factor * value
                else:  # a row taken later has no entry in this column, so the heap never goes back
                    left[j] = -factor * value
                    if j in self.places:
                        heappush(waiting, self.places[j])
                largest = max(largest, abs(factor * value))
            for i, value in combination.items():
                used[i] = used.get(i, 0) + factor * value
        return left, used, largest

    def add(self, i: int, left: SparseRow, used: SparseRow, floor: Number) -> None:
        """Keep a reduced row; entries at rounding level are dropped, so that they are never eliminated."""
        column = max(left, key=lambda j: abs(left[j]))
        kept = {j: value for j, value in left.items() if abs(value) > floor}
        self.places[column] = len(self.pivots)
        self.pivots.append((column, kept, {**{k: -value for k, value in used.items()}, i: mpmath.mpf(1)}))


class _Elimination:
    """Elimination at all points at once; points near the start decide, the others can only disagree."""

    def __init__(
        self, matrices: Sequence[Sequence[SparseRow]], near: Sequence[bool], start: Sequence[SparseRow] | None
    ) -> None:
        self.near = [*near, False]
        self.scaled = [*matrices, start or []]
        # At the start rows are in the sizes they have nearby: one that is small vanishes there.
        self.echelons = [_Echelon() for _ in matrices] + [_Echelon(alive=start is not None, floor=1)]
        self.result = Split()

    def quality(self, i: int) -> float:
        """Return how good a pivot the row has to offer, at the worst of the points."""
        ratios = [
            _ratio(e.reduce(rows[i])) for e, rows in zip(self.echelons, self.scaled, strict=True) if e.alive
        ]
        return float(min((r for r in ratios if r is not None), default=0.0))

    def take(self, i: int, least: float) -> bool:
        """Find out whether row i depends on those taken.

        False if points disagree or its pivot is not good enough.
        """
        reduced = [
            e.reduce(rows[i]) if e.alive else None for e, rows in zip(self.echelons, self.scaled, strict=True)
        ]
        ratios = [_ratio(r) for r in reduced]
        deciding = [ratio for ratio, n in zip(ratios, self.near, strict=True) if n and ratio is not None]
        decisive = max(deciding, default=mpmath.mpf(0))
        independent = decisive > TINY
        known = [ratio for ratio in ratios if ratio is not None]
        if least and (min(known) < least if independent else max(known, default=0) > TINY):
            return False  # other rows first: then the points may agree
        if CLEAN < decisive < CLEAR:
            self.result.doubts.append((i, float(decisive)))
        if independent:
            self.result.independent.append(i)
        else:
            self.result.relations[i] = set()
        for p, (echelon, parts, ratio) in enumerate(zip(self.echelons, reduced, ratios, strict=True)):
            if parts is not None and ratio is not None:
                self._enter(i, p, echelon, parts, ratio, independent)
        return True

    def _enter(self, i: int, p: int, echelon: _Echelon, parts: Any, ratio: Number, independent: bool) -> None:
        left, used, largest = parts
        if (ratio > TINY) != independent:
            echelon.alive = False
            if p < len(self.echelons) - 1:
                self.result.drops.append((i, p))
        elif independent:
            echelon.add(i, left, used, largest * CLEAN)
        else:
            self.result.relations[i] |= {k for k, value in used.items() if abs(value) > CLEAN}


def split(
    matrices: Sequence[Sequence[SparseRow]],
    near: Sequence[bool],
    order: Iterable[int],
    start: Sequence[SparseRow] | None = None,
) -> Split:
    """Split the rows, in `order` where pivots allow it.

    A row whose pivot vanishes at a point waits for the others.

    The matrices must be equilibrated. `start` is the one at the start itself; ranks there do not decide,
    pivots do.
    """
    if all(_independent(matrix) for matrix in matrices):
        return Split(list(order))
    elimination = _Elimination(matrices, near, start)
    waiting = list(order)
    for least in (GOOD, FAIR, 0.0):
        waiting = [i for i in waiting if not elimination.take(i, least)]
        if len(waiting) > 1:
            waiting.sort(key=elimination.quality, reverse=True)
    return elimination.result


def _independent(rows: Sequence[SparseRow]) -> bool:
    """Tell whether the rows are independent beyond doubt: the usual case where nothing is left to find."""
    if not all(rows):
        return False
    matrix = np.zeros((len(rows), 1 + max(map(max, rows))))
    for i, row in enumerate(rows):
        for j, value in row.items():
            matrix[i, j] = float(value)
    if matrix.shape[0] > matrix.shape[1]:
        return False
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return bool(sizes[-1] > REGULAR * sizes[0])


def _ratio(parts: tuple[SparseRow, SparseRow, Number] | None) -> Number | None:
    if parts is None:
        return None
    left, _, largest = parts
    return max(map(abs, left.values()), default=mpmath.mpf(0)) / largest if largest else mpmath.mpf(0)


def equilibrated(rows: Sequence[SparseRow], like: Sequence[SparseRow] | None = None) -> list[SparseRow]:
    """Scale rows and columns so that entries are about one, by a rule that forgets the units they came in.

    With `like` the factors are those of another matrix: where many entries vanish, the others say little
    about units.
    """
    model = rows if like is None else like
    entries = [(i, j, _log(value)) for i, row in enumerate(model) for j, value in row.items() if value]
    heights, widths = powers(_telling(entries))
    scaled, model = _scaled(rows, heights, widths), _scaled(model, heights, widths)
    tops = [max(map(abs, row.values()), default=mpmath.mpf(1)) for row in model]
    return [{j: value / top for j, value in row.items()} for row, top in zip(scaled, tops, strict=True)]


def _telling(entries: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Return the entries (row, column, logarithm) that say something about units.

    What is lost beside the others of its row and of its column does not: the balance would pull factors
    apart to make up for it, and rows that are independent would look as if they were not.
    """
    rows: dict[int, float] = {}
    columns: dict[int, float] = {}
    for i, j, size in entries:
        rows[i], columns[j] = max(size, rows.get(i, size)), max(size, columns.get(j, size))
    return [(i, j, size) for i, j, size in entries if size > min(rows[i], columns[j]) - LOST]


def _scaled(rows: Sequence[SparseRow], heights: dict[int, int], widths: dict[int, int]) -> list[SparseRow]:
    return [
        {j: mpmath.ldexp(v, heights.get(i, 0) + widths.get(j, 0)) for j, v in row.items() if v}
        for i, row in enumerate(rows)
    ]


def _log(value: Number) -> float:
    return float(mpmath.mag(value))


def undetermined(rows: Sequence[SparseRow], n: int) -> list[int]:
    """Return the columns that take part in the null space: components of y' that are not determined."""
    columns: list[SparseRow] = [{} for _ in range(n)]
    for i, row in enumerate(equilibrated(rows)):
        for j, value in row.items():
            columns[j][i] = value
    found = split([equilibrated(columns)], [True], range(n))
    return sorted({j for j, used in found.relations.items() for j in (j, *used)})
