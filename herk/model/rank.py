"""Which rows of a matrix function depend on the rows before them, decided at consistent points with many digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath

Number = Any  # mpmath.mpf
SparseRow = dict[int, Number]
CLEAR = 1e-10  # a residual above this is not zero
TINY = 1e-14  # below this it counts as zero: cancellation of parameters known to 16 digits ends here
CLEAN = 1e-28  # and below this it is zero beyond doubt


@dataclass
class Split:
    """Rows in order: independent ones, and for each other row whether its combination uses an independent row."""

    independent: list[int] = field(default_factory=list)
    relations: dict[int, set[int]] = field(default_factory=dict)
    doubts: list[tuple[int, float]] = field(default_factory=list)
    drops: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class _Echelon:
    """Gaussian elimination at one point: reduced rows with their pivots and their combination of the given rows."""

    alive: bool = True
    pivots: list[tuple[int, SparseRow, SparseRow]] = field(default_factory=list)

    def reduce(self, row: SparseRow) -> tuple[SparseRow, SparseRow, Number]:
        """Return what is left of the row, the rows taken away, and the size of the largest term involved."""
        left = dict(row)
        used: SparseRow = {}
        largest = max(map(abs, row.values()), default=mpmath.mpf(0))
        for column, pivot_row, combination in self.pivots:
            if column not in left:
                continue
            factor = left.pop(column) / pivot_row[column]
            for j, value in pivot_row.items():
                if j != column:
                    left[j] = left.get(j, 0) - factor * value
                    largest = max(largest, abs(factor * value))
            for i, value in combination.items():
                used[i] = used.get(i, 0) + factor * value
        return left, used, largest

    def add(self, i: int, left: SparseRow, used: SparseRow, floor: Number) -> None:
        """Keep a reduced row; entries at rounding level are dropped, so that they are never eliminated."""
        column = max(left, key=lambda j: abs(left[j]))
        kept = {j: value for j, value in left.items() if abs(value) > floor}
        self.pivots.append((column, kept, {**{k: -value for k, value in used.items()}, i: mpmath.mpf(1)}))


def split(matrices: Sequence[Sequence[SparseRow]], near: Sequence[bool], order: Sequence[int]) -> Split:
    """Split the rows (in `order`) at all points at once; points near the start decide, the others can only disagree."""
    scaled = [equilibrated(rows) for rows in matrices]
    echelons = [_Echelon() for _ in matrices]
    result = Split()
    for i in order:
        reduced = [e.reduce(rows[i]) if e.alive else None for e, rows in zip(echelons, scaled, strict=True)]
        ratios = [_ratio(r) for r in reduced]
        decisive = max((ratio for ratio, n in zip(ratios, near, strict=True) if n and ratio is not None), default=mpmath.mpf(0))
        independent = decisive > TINY
        if CLEAN < decisive < CLEAR:
            result.doubts.append((i, float(decisive)))
        if independent:
            result.independent.append(i)
        else:
            result.relations[i] = set()
        for p, (echelon, parts, ratio) in enumerate(zip(echelons, reduced, ratios, strict=True)):
            if parts is None or ratio is None:
                continue
            left, used, largest = parts
            if (ratio > TINY) != independent:
                result.drops.append((i, p))
                echelon.alive = False
            elif independent:
                echelon.add(i, left, used, largest * CLEAN)
            else:
                result.relations[i] |= {k for k, value in used.items() if abs(value) > CLEAN}
    return result


def equilibrated(rows: Sequence[SparseRow]) -> list[SparseRow]:
    """Scale rows, then columns, to largest entry one: units must not decide."""
    tops = [max(map(abs, row.values()), default=mpmath.mpf(0)) or mpmath.mpf(1) for row in rows]
    scaled = [{j: value / top for j, value in row.items()} for row, top in zip(rows, tops, strict=True)]
    columns: SparseRow = {}
    for row in scaled:
        for j, value in row.items():
            columns[j] = max(columns.get(j, mpmath.mpf(0)), abs(value))
    return [{j: value / columns[j] for j, value in row.items() if value} for row in scaled]


def _ratio(parts: tuple[SparseRow, SparseRow, Number] | None) -> Number | None:
    if parts is None:
        return None
    left, _, largest = parts
    return max(map(abs, left.values()), default=mpmath.mpf(0)) / largest if largest else mpmath.mpf(0)


def undetermined(rows: Sequence[SparseRow], n: int) -> list[int]:
    """Return the columns that take part in the right null space of the matrix: components of y' that are not determined."""
    columns: list[SparseRow] = [{} for _ in range(n)]
    for i, row in enumerate(equilibrated(rows)):
        for j, value in row.items():
            columns[j][i] = value
    found = split([columns], [True], range(n))
    return sorted({j for j, used in found.relations.items() for j in (j, *used)})
