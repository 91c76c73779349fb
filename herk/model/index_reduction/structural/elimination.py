"""Few rows that hang together, solved in formulas: Gaussian elimination with pivots chosen by numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from herk.codegen.shapes import CLOCK, STATE, Catalogue, Formula
from herk.core.dae import Array
from herk.model.index_reduction.structural.minors import Solved, by_minors
from herk.model.index_reduction.structural.quality import LOST, Quality, decisive, quality

LARGEST_BLOCK, LARGEST_CONSTANT_BLOCK = 8, 40  # rows; formulas of more would grow beyond use


class UnfitError(Exception):
    """The structure does not show the hidden constraints; the message says why."""


@dataclass(frozen=True)
class Eliminated:
    """Rows after elimination: pivots (row by column), entries, right sides; a row without pivot is empty."""

    pivots: dict[int, int]
    entries: dict[int, dict[int, Formula]]
    right: dict[int, Formula]

    @property
    def divisors(self) -> list[Formula]:
        """Return what was divided by."""
        return [self.entries[row][column] for column, row in self.pivots.items()]


@dataclass
class _Entry:
    """An entry on the way: its formula, its values at the points, the size of its terms."""

    formula: Formula
    values: Array
    sizes: Array

    @property
    def zero(self) -> bool:
        """Tell whether it vanishes at every point."""
        return bool((decisive(np.abs(self.values)) <= LOST * decisive(self.sizes)).all())


_Rows = dict[int, dict[int, _Entry]]


def eliminated(
    catalogue: Catalogue,
    leading: Mapping[int, Mapping[int, Formula]],
    right: Mapping[int, Formula],
    values: Mapping[int, Mapping[int, Array]],
) -> Eliminated:
    """Eliminate as far as possible; `values` are the entries where their quality is looked at."""
    constant = all(is_constant(e) for row in leading.values() for e in row.values())
    if len(leading) > (LARGEST_CONSTANT_BLOCK if constant else LARGEST_BLOCK):
        raise UnfitError(f"{len(leading)} equations can only be solved for derivatives together")
    solved = None if constant else by_minors(catalogue, leading, right, values)
    return Eliminated(*(solved or _by_pivots(catalogue, leading, right, values)))


def _by_pivots(
    catalogue: Catalogue,
    leading: Mapping[int, Mapping[int, Formula]],
    right: Mapping[int, Formula],
    values: Mapping[int, Mapping[int, Array]],
) -> Solved:
    """Eliminate by the best pivots, one after the other."""
    rows: _Rows = {
        i: {j: _Entry(e, values[i][j], np.abs(values[i][j])) for j, e in row.items()}
        for i, row in leading.items()
    }
    sides, pivots = dict(right), dict[int, int]()
    while True:
        waiting = [(i, j) for i, row in rows.items() if i not in pivots.values() for j in row]
        if not waiting:
            break
        row, column = max(waiting, key=lambda place: _quality(rows[place[0]], *place))
        for i in rows:
            if i != row and column in rows[i]:
                factor = rows[i].pop(column)
                with np.errstate(all="ignore"):
                    rows[i] = _reduced(catalogue, rows[i], factor, rows[row], column)
                parts = [sides[i], factor.formula, sides[row], rows[row][column].formula]
                sides[i] = catalogue.compose("minus", parts, _minus)
        pivots[column] = row
    entries = {i: {j: e.formula for j, e in row.items()} for i, row in rows.items()}
    return pivots, entries, sides


def _reduced(
    catalogue: Catalogue, row: dict[int, _Entry], factor: _Entry, other: Mapping[int, _Entry], column: int
) -> dict[int, _Entry]:
    """Return a row minus a multiple of another, entries that vanish left out."""
    pivot, new = other[column], dict(row)
    nothing = catalogue.read(sp.S.Zero)
    for j, e in other.items():
        if j == column:
            continue
        product = factor.values * e.values / pivot.values
        old = new.get(j, _Entry(nothing, np.zeros_like(product), np.zeros_like(product)))
        parts = [old.formula, factor.formula, e.formula, pivot.formula]
        sizes = np.maximum(old.sizes, np.abs(product))
        new[j] = _Entry(catalogue.compose("minus", parts, _minus), old.values - product, sizes)
    return {j: e for j, e in new.items() if not e.zero}


def _minus(parts: list[sp.Expr], _: object) -> sp.Expr:
    whole, factor, other, pivot = parts
    return whole - factor * other / pivot


def ratio(catalogue: Catalogue, a: Formula, b: Formula, sign: int = 1) -> Formula:
    """Return a / b, or its negative."""
    if b.shape.expr is sp.S.One and sign == 1:
        return a
    return catalogue.compose(("ratio", sign), [a, b], lambda e, _: sign * e[0] / e[1])


def _quality(entries: Mapping[int, _Entry], row: int, column: int) -> tuple[Quality, int, int]:
    """Return how good a pivot is, how simple, and how early its row comes."""
    good = quality({j: e.values for j, e in entries.items()}, column)
    return good, -entries[column].formula.shape.operations, -row


def is_constant(formula: Formula) -> bool:
    """Tell whether a formula is made of numbers and parameters alone."""
    return STATE not in formula.shape.kinds and CLOCK not in formula.shape.expr.free_symbols
