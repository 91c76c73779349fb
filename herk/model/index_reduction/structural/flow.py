"""Derivatives along the flow: E y' = f solved, block by block, for as many y' as it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from herk.codegen.block_form import is_zero
from herk.codegen.gradient import gradient
from herk.codegen.shapes import CLOCK, STATE, Catalogue, Formula
from herk.core.dae import Array
from herk.model.index_reduction.structural.assignment import connected
from herk.model.index_reduction.structural.elimination import eliminated, ratio
from herk.model.index_reduction.structural.quality import quality
from herk.model.index_reduction.structural.rows import Rows


@dataclass(frozen=True)
class Rate:
    """y_j' = base + sum of over[q] y_q' for the q that E y' = f leaves open; `rows` were used."""

    base: Formula
    over: Mapping[int, Formula]
    rows: tuple[int, ...]


@dataclass
class Flow:
    """What E y' = f says: derivatives, rows that are constraints, rows that were used."""

    rates: dict[int, Rate] = field(default_factory=dict)
    constraints: list[tuple[int, Formula, tuple[int, ...]]] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    divisors: list[Formula] = field(default_factory=list)


def flow(rows: Rows, values: Sequence[Mapping[int, Array]]) -> Flow:
    """Return what E y' = f says; `values` are the entries of E at a few points."""
    found = Flow()
    for members in connected(dict(enumerate(rows.leading))):
        if len(members) == 1:
            _single(rows, values[members[0]], members[0], found)
        else:
            _block(rows, values, members, found)
    found.constraints.sort(key=lambda each: each[0])
    found.kept.sort()
    return found


def _single(rows: Rows, values: Mapping[int, Array], i: int, found: Flow) -> None:
    """Solve a row for the derivative with the simplest among the good factors."""
    entries, right = rows.leading[i], rows.right[i]
    if not entries:
        found.constraints.append((i, right, ()))
        return
    j = min(entries, key=lambda k: _cost(values, entries[k], k)) if len(entries) > 1 else next(iter(entries))
    over = {q: ratio(rows.catalogue, e, entries[j], -1) for q, e in entries.items() if q != j}
    found.rates[j] = Rate(ratio(rows.catalogue, right, entries[j]), over, (i,))
    found.kept.append(i)
    found.divisors.append(entries[j])


def _cost(values: Mapping[int, Array], entry: Formula, column: int) -> tuple[float, ...]:
    near, along = quality(values, column)
    return -near, -along, len(entry.at), entry.shape.operations, column


def _block(rows: Rows, values: Sequence[Mapping[int, Array]], members: Sequence[int], found: Flow) -> None:
    """Solve rows that hang together by elimination."""
    solved = eliminated(
        rows.catalogue,
        {i: rows.leading[i] for i in members},
        {i: rows.right[i] for i in members},
        {i: values[i] for i in members},
    )
    for column, row in solved.pivots.items():
        own = solved.entries[row]
        over = {q: ratio(rows.catalogue, e, own[column], -1) for q, e in own.items() if q != column}
        base = ratio(rows.catalogue, solved.right[row], own[column])
        found.rates[column] = Rate(base, over, tuple(members))
        found.kept.append(row)
    found.divisors += solved.divisors
    kept = tuple(solved.pivots.values())
    found.constraints += [(i, solved.right[i], tuple(sorted(kept))) for i in members if i not in kept]


def derivative(catalogue: Catalogue, flow: Flow, constraint: Formula) -> tuple[Formula, dict[int, Formula]]:
    """Return d/dt of a constraint: what is free of derivatives, and the factors of those left open."""
    slopes = catalogue.gradient(constraint)
    moved = [j for j in slopes if j in flow.rates]
    own = {j: slot for slot, j in enumerate(constraint.at) if constraint.shape.kinds[slot] == STATE}
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
        q: parts[0] if len(parts) == 1 else catalogue.compose("sum", parts, lambda e, _: _or_zero(sp.Add(*e)))
        for q, parts in terms.items()
    }
    return {q: each for q, each in sums.items() if not each.shape.zero}


def _or_zero(expr: sp.Expr) -> sp.Expr:
    return sp.S.Zero if is_zero(expr) else expr
