"""Derivatives along the flow: E y' = f solved, block by block, for as many y' as it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from herk.core.dae import Array
from herk.model.gradient import gradient
from herk.model.structural.rows import Rows
from herk.model.structural.shapes import CLOCK, Catalogue, Formula

LARGEST_BLOCK = 6  # rows that are solved together in formulas
_LOST = 1e-11  # of its terms: an entry that is zero where it was looked at


class UnfitError(Exception):
    """The structure does not show the hidden constraints; the message says why."""


@dataclass(frozen=True)
class Rate:
    """y_j' = base + sum of over[q] y_q' for the q whose derivatives E y' = f leaves open; `rows` were used."""

    base: Formula
    over: Mapping[int, Formula]
    rows: tuple[int, ...]


@dataclass
class Flow:
    """What E y' = f says: derivatives, rows that are constraints, rows that were used."""

    rates: dict[int, Rate] = field(default_factory=dict)
    constraints: list[tuple[int, Formula, tuple[int, ...]]] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)


@dataclass
class _Entry:
    """An entry of E while it is eliminated: its formula, its values at the points, the size of its terms."""

    formula: Formula
    values: Array
    sizes: Array

    @property
    def zero(self) -> bool:
        """Tell whether it vanishes at every point."""
        return bool((np.abs(self.values) <= _LOST * self.sizes).all())


def flow(rows: Rows, values: Sequence[Mapping[int, Array]]) -> Flow:
    """Return what E y' = f says; `values` are the entries of E at a few points."""
    found = Flow()
    for members in _components(rows.leading):
        if len(members) == 1:
            _single(rows, members[0], found)
        elif len(members) > LARGEST_BLOCK:
            raise UnfitError(f"{len(members)} rows of E y' = f can only be solved together")
        else:
            _block(rows, values, members, found)
    found.constraints.sort(key=lambda each: each[0])
    found.kept.sort()
    return found


def _components(leading: Sequence[Mapping[int, Any]]) -> list[list[int]]:
    """Return the rows that have columns in common, directly or through others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(leading)
    places = [(i, n + j) for i, row in enumerate(leading) for j in row]
    ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(2 * n, 2 * n))
    _, labels = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(int(labels[i]), []).append(i)
    return list(groups.values())


def _single(rows: Rows, i: int, found: Flow) -> None:
    entries, right = rows.leading[i], rows.right[i]
    if not entries:
        found.constraints.append((i, right, ()))
        return
    j = min(entries, key=lambda k: (len(entries[k].at), sp.count_ops(entries[k].shape.expr), k))
    over = {q: _ratio(rows.catalogue, e, entries[j], -1) for q, e in entries.items() if q != j}
    found.rates[j] = Rate(_ratio(rows.catalogue, right, entries[j]), over, (i,))
    found.kept.append(i)


def _ratio(catalogue: Catalogue, a: Formula, b: Formula, sign: int = 1) -> Formula:
    if b.shape.expr is sp.S.One and sign == 1:
        return a
    return catalogue.compose(("ratio", sign), [a, b], lambda e, _: sign * e[0] / e[1])


def _minus(catalogue: Catalogue, a: Formula, b: Formula, c: Formula, d: Formula) -> Formula:
    """Return a - b c / d."""
    return catalogue.compose("minus", [a, b, c, d], lambda e, _: e[0] - e[1] * e[2] / e[3])


def _block(rows: Rows, values: Sequence[Mapping[int, Array]], members: Sequence[int], found: Flow) -> None:
    """Solve rows that hang together by elimination, the best pivots first."""
    catalogue, zero = rows.catalogue, rows.catalogue.read(sp.S.Zero)
    waiting = {
        i: {j: _Entry(e, values[i][j], np.abs(values[i][j])) for j, e in rows.leading[i].items()}
        for i in members
    }
    right = {i: rows.right[i] for i in members}
    done: dict[int, int] = {}  # pivots: row by column
    while True:
        live = {i: {j: e for j, e in waiting[i].items() if not e.zero} for i in waiting if i not in done.values()}
        for i, entries in live.items():
            waiting[i] = entries
        pivots = [(i, j) for i, entries in live.items() for j in entries]
        if not pivots:
            break
        row, column = max(pivots, key=lambda place: _quality(waiting[place[0]], place[1]))
        pivot = waiting[row][column]
        for i in waiting:
            factor = waiting[i].get(column)
            if i == row or factor is None:
                continue
            new = {j: e for j, e in waiting[i].items() if j != column}
            for j, e in waiting[row].items():
                if j != column:
                    old = new.get(j, _Entry(zero, np.zeros_like(e.values), np.zeros_like(e.values)))
                    product = factor.values * e.values / pivot.values
                    formula = _minus(catalogue, old.formula, factor.formula, e.formula, pivot.formula)
                    new[j] = _Entry(formula, old.values - product, np.maximum(old.sizes, np.abs(product)))
            waiting[i] = {j: e for j, e in new.items() if not e.zero}
            right[i] = _minus(catalogue, right[i], factor.formula, right[row], pivot.formula)
        done[column] = row
    for column, row in done.items():
        own = waiting[row]
        over = {q: _ratio(catalogue, e.formula, own[column].formula, -1) for q, e in own.items() if q != column}
        found.rates[column] = Rate(_ratio(catalogue, right[row], own[column].formula), over, tuple(members))
        found.kept.append(row)
    lost = [i for i in members if i not in done.values()]
    found.constraints += [(i, right[i], tuple(k for k in members if k not in lost)) for i in lost]


def _quality(entries: Mapping[int, _Entry], column: int) -> tuple[float, int]:
    """Return how good a pivot is at the worst of the points, and how simple."""
    tops = np.max([np.abs(e.values) for e in entries.values()], axis=0)
    worst = float(np.min(np.abs(entries[column].values) / tops))
    return min(worst, 0.1), -int(sp.count_ops(entries[column].formula.shape.expr))


def derivative(catalogue: Catalogue, flow: Flow, constraint: Formula) -> tuple[Formula, dict[int, Formula]]:
    """Return d/dt of a constraint: what is free of derivatives, and the factors of those left open."""
    slopes = catalogue.gradient(constraint)
    moved = [j for j in slopes if j in flow.rates]
    own = {j: slot for slot, j in enumerate(constraint.at) if constraint.shape.kinds[slot] == "y"}
    slots = tuple(own[j] for j in moved)

    def total(exprs: list[sp.Expr], slots_of: Any) -> sp.Expr:
        partials = gradient(exprs[0])
        terms = [partials.get(slots_of[0][s], sp.S.Zero) * e for s, e in zip(slots, exprs[1:], strict=True)]
        return sp.Add(partials.get(CLOCK, sp.S.Zero), *terms)

    base = catalogue.compose(("flow", slots), [constraint, *(flow.rates[j].base for j in moved)], total)
    return base, _open(catalogue, flow, slopes)


def _open(catalogue: Catalogue, flow: Flow, slopes: Mapping[int, Formula]) -> dict[int, Formula]:
    """Return the factors of derivatives that E y' = f leaves open."""
    terms: dict[int, list[Formula]] = {}
    for j, slope in slopes.items():
        if j not in flow.rates:
            terms.setdefault(j, []).append(slope)
            continue
        for q, factor in flow.rates[j].over.items():
            product = catalogue.compose("product", [slope, factor], lambda e, _: e[0] * e[1])
            terms.setdefault(q, []).append(product)
    sums = {
        q: parts[0] if len(parts) == 1 else catalogue.compose("sum", parts, lambda e, _: _tidy(sp.Add(*e)))
        for q, parts in terms.items()
    }
    return {q: each for q, each in sums.items() if not each.shape.zero}


def _tidy(expr: sp.Expr) -> sp.Expr:
    from herk.model.structure import is_zero

    return sp.S.Zero if is_zero(expr) else expr
