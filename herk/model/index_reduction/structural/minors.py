"""Few rows with factors that move, solved by Cramer's rule: formulas that divide by one determinant only.

Pivots of an elimination vanish now and then where rows turn, though the rows are as independent as ever. A
determinant does not; and what rows that are more than their derivatives leave of their right sides is
multiplied by it, and divides by nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from herk.codegen.shapes import Catalogue, Formula
from herk.core.dae import Array
from herk.model.index_reduction.structural.quality import LOST, Quality, decisive, quality, steadiness

MOST_PIVOTS = 4  # determinants of more rows have too many terms

Rows = Mapping[int, Mapping[int, Formula]]
Layout = tuple[tuple[int, ...], ...]
Solved = tuple[dict[int, int], dict[int, dict[int, Formula]], dict[int, Formula]]


def by_minors(
    catalogue: Catalogue,
    leading: Rows,
    right: Mapping[int, Formula],
    values: Mapping[int, Mapping[int, Array]],
) -> Solved | None:
    """Return pivots (row by column), entries and right sides of the rows solved; None if too many."""
    pivots, others = _chosen(leading, values)
    if len(pivots) > MOST_PIVOTS:
        return None
    columns, rows = list(pivots), list(pivots.values())
    square = [[leading[i].get(j) for j in columns] for i in rows]
    whole = _determinant(catalogue, square)
    sides = {i: right[i] for i in rows}
    entries: dict[int, dict[int, Formula]] = {i: {} for i in leading}
    solved = {}
    for k, (column, row) in enumerate(pivots.items()):
        entries[row][column] = whole
        for q in others[row]:
            entries[row][q] = _determinant(
                catalogue, _with_column(square, k, [leading[i].get(q) for i in rows])
            )
        solved[row] = _determinant(catalogue, _with_column(square, k, list(sides.values())))
    for i in leading.keys() - set(rows):
        own = [leading[i].get(j) for j in columns]
        solved[i] = _left_over(catalogue, [*square, own], [*sides.values(), right[i]])
    return pivots, entries, solved


def _chosen(
    leading: Rows, values: Mapping[int, Mapping[int, Array]]
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return the pivots of an elimination in numbers, and the columns left in each row."""
    rows = {i: dict(row) for i, row in values.items()}
    sizes = {i: {j: np.abs(e) for j, e in row.items()} for i, row in values.items()}
    pivots: dict[int, int] = {}

    def worth(place: tuple[int, int]) -> tuple[Quality, float, int, int]:
        i, j = place
        free = [own for r, own in rows.items() if r not in pivots.values()]
        column = np.hypot.reduce([own[j] for own in free if j in own])
        simple = leading[i][j].shape.operations if j in leading[i] else 1 << 30
        return quality(rows[i], j), steadiness(column), -simple, -i

    with np.errstate(all="ignore"):
        while waiting := [(i, j) for i, row in rows.items() if i not in pivots.values() for j in row]:
            row, column = max(waiting, key=worth)
            for i in rows.keys() - {row}:
                if column in rows[i]:
                    factor = rows[i].pop(column) / rows[row][column]
                    _subtract(rows[i], sizes[i], factor, {j: e for j, e in rows[row].items() if j != column})
            pivots[column] = row
    return pivots, {i: sorted(row.keys() - {j for j in pivots if pivots[j] == i}) for i, row in rows.items()}


def _subtract(row: dict[int, Array], sizes: dict[int, Array], factor: Array, other: dict[int, Array]) -> None:
    """Subtract a multiple of another row, and leave out what vanishes."""
    for j, e in other.items():
        product = factor * e
        row[j] = row.get(j, 0.0 * product) - product
        sizes[j] = np.maximum(sizes.get(j, np.abs(product)), np.abs(product))
        if (np.abs(decisive(row[j])) <= LOST * decisive(sizes[j])).all():
            del row[j]


def _with_column(
    square: Sequence[Sequence[Formula | None]], k: int, new: Sequence[Formula | None]
) -> list[list[Formula | None]]:
    """Return the matrix with another column k: Cramer's rule."""
    return [[*row[:k], e, *row[k + 1 :]] for row, e in zip(square, new, strict=True)]


def _determinant(catalogue: Catalogue, matrix: Sequence[Sequence[Formula | None]]) -> Formula:
    """Return the determinant; None is an entry that is zero."""
    parts, layout = _parts(matrix)

    def made(exprs: list[sp.Expr], _: object) -> sp.Expr:
        return _expanded(_laid_out(layout, exprs))

    return catalogue.compose(("determinant", layout), parts, made)


def _left_over(
    catalogue: Catalogue, matrix: Sequence[Sequence[Formula | None]], sides: Sequence[Formula]
) -> Formula:
    """Return the combination of right sides in which derivatives cancel, for one row more than columns."""
    parts, layout = _parts(matrix)

    def made(exprs: list[sp.Expr], _: object) -> sp.Expr:
        rows = _laid_out(layout, exprs)
        factors = [(-1) ** (r + 1) * _expanded(rows[:r] + rows[r + 1 :]) for r in range(len(rows))]
        return sp.Add(*(f * e for f, e in zip(_coprime(factors), exprs[len(parts) :], strict=True)))

    return catalogue.compose(("left over", layout), [*parts, *sides], made)


def _coprime(factors: list[sp.Expr]) -> list[sp.Expr]:
    """Return factors without what stands in all of them: where that vanishes, nothing would be said."""
    powers = [factor.as_powers_dict() for factor in factors if factor != 0]
    common = {
        base: min(each[base] for each in powers)
        for base in powers[0]
        if not base.is_number and all(base in each and each[base].is_number for each in powers)
    }
    shared = sp.Mul(*(base**power for base, power in common.items()))
    return [factor / shared for factor in factors]


def _parts(matrix: Sequence[Sequence[Formula | None]]) -> tuple[list[Formula], Layout]:
    """Return the entries that are not zero, and where they stand."""
    parts = [e for row in matrix for e in row if e is not None]
    number = iter(range(len(parts)))
    return parts, tuple(tuple(-1 if e is None else next(number) for e in row) for row in matrix)


def _laid_out(layout: Layout, exprs: Sequence[sp.Expr]) -> list[list[sp.Expr]]:
    return [[sp.S.Zero if k < 0 else exprs[k] for k in row] for row in layout]


def _expanded(matrix: list[list[sp.Expr]]) -> sp.Expr:
    """Return the determinant by its row with the fewest entries."""
    if not matrix:
        return sp.S.One
    r = min(range(len(matrix)), key=lambda i: sum(e != 0 for e in matrix[i]))
    rest = matrix[:r] + matrix[r + 1 :]
    terms = [
        (-1) ** (r + k) * e * _expanded([row[:k] + row[k + 1 :] for row in rest])
        for k, e in enumerate(matrix[r])
        if e != 0
    ]
    return sp.Add(*terms)
