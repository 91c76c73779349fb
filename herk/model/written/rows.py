"""Formulas that are zero -> E y' = f: which derivatives are states, and which row says what.

A derivative that enters nonlinearly cannot stand in E y'; it becomes an unknown of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from herk.model.written.jets import Jet


@dataclass(frozen=True)
class Rows:
    """E and f row by row, the states in order, and what was done to get there, in sentences."""

    states: tuple[Jet, ...]
    E: list[dict[int, sp.Expr]]  # entries by columns
    f: list[sp.Expr]
    notes: tuple[str, ...]
    implicit: tuple[int, ...] = ()  # states that are derivatives which enter nonlinearly


def rows(
    residuals: Sequence[sp.Expr], orders: Mapping[str, int], t: sp.Symbol, symbols: Mapping[Jet, sp.Symbol]
) -> Rows:
    """Return the system of first order; `symbols` has one for every unknown and derivative that occurs."""
    written = _written(t, symbols)
    plain = [residual.xreplace(written) for residual in residuals]
    leading = {Jet(name, order) for name, order in orders.items() if order}
    ends_of = {symbols[jet]: jet for jet in leading}
    curved = _nonlinear(plain, ends_of)
    coupled = _coupled(plain, ends_of, set(symbols.values())) - set(curved)
    raised = coupled | set(curved)
    length = {name: max(1, order + (Jet(name, order) in raised)) for name, order in orders.items()}
    states = tuple(sorted((Jet(name, k) for name in orders for k in range(length[name])), key=_place(orders)))
    column = {jet: j for j, jet in enumerate(states)}
    E, f = list[dict[int, sp.Expr]](), list[sp.Expr]()
    for jet in states:  # x' = dx
        above = Jet(jet.name, jet.order + 1)
        if above in column:
            E.append({column[jet]: sp.S.One})
            f.append(symbols[above])
    ends = {symbols[jet]: column[Jet(jet.name, jet.order - 1)] for jet in leading - raised}
    for residual in plain:
        row, rest = _split(residual, ends)
        E.append(row)
        f.append(rest)
    implicit = tuple(column[jet] for jet in curved)
    return Rows(states, E, f, _notes(states, curved, coupled), implicit)


def _place(orders: Mapping[str, int]) -> Callable[[Jet], tuple[bool, int, int]]:
    """Return the rule of order: unknowns, their derivatives, and last the purely algebraic unknowns."""
    number = {name: i for i, name in enumerate(orders)}
    return lambda jet: (not orders[jet.name], jet.order, number[jet.name])


def _written(t: sp.Symbol, symbols: Mapping[Jet, sp.Symbol]) -> dict[sp.Expr, sp.Symbol]:
    """Return function or derivative -> symbol."""
    functions = {name: sp.Function(name, real=True)(t) for name, _ in symbols}
    return {
        sp.Derivative(functions[jet.name], (t, jet.order)) if jet.order else functions[jet.name]: symbol
        for jet, symbol in symbols.items()
    }


def _nonlinear(residuals: Sequence[sp.Expr], leading: Mapping[sp.Symbol, Jet]) -> dict[Jet, int]:
    """Return the leading derivatives that enter nonlinearly, each with the equation where it does so."""
    found: dict[Jet, int] = {}
    for number, residual in enumerate(residuals):
        for symbol in sorted(residual.free_symbols & leading.keys(), key=str):
            slope = sp.diff(residual, symbol)
            if slope.free_symbols & leading.keys():
                slope = sp.expand(slope)
            partners = slope.free_symbols & leading.keys()
            for each in {symbol, *partners} if partners else ():
                found.setdefault(leading[each], number)
    return found


def _coupled(
    residuals: Sequence[sp.Expr], leading: Mapping[sp.Symbol, Jet], unknowns: set[sp.Symbol]
) -> set[Jet]:
    """Return leading derivatives that stand together with factors that depend on the state.

    Beside constraints only: their derivatives would hold the inverse of the matrix of these factors. With the
    derivatives as unknowns the formulas are short. The index is the same if there are as many equations for
    them, a mass matrix; otherwise all stays as it is.
    """
    found: set[sp.Symbol] = set()
    for residual in residuals:
        inside = residual.free_symbols & leading.keys()
        if len(inside) > 1 and any(sp.diff(residual, each).free_symbols & unknowns for each in inside):
            found |= inside
    equations = sum(bool(residual.free_symbols & found) for residual in residuals)
    constrained = any(not residual.free_symbols & leading.keys() for residual in residuals)
    return {leading[each] for each in found} if constrained and equations == len(found) else set()


def _split(residual: sp.Expr, ends: Mapping[sp.Symbol, int]) -> tuple[dict[int, sp.Expr], sp.Expr]:
    """Return the row of E and its f of an equation in which the symbols `ends` are linear."""
    row, inside = {}, residual.free_symbols & ends.keys()
    for symbol in inside:
        slope = sp.diff(residual, symbol)
        row[ends[symbol]] = sp.expand(slope) if slope.free_symbols & ends.keys() else slope
    return row, -residual.xreplace(dict.fromkeys(inside, sp.S.Zero))


def _notes(states: Sequence[Jet], curved: Mapping[Jet, int], coupled: set[Jet]) -> tuple[str, ...]:
    notes = []
    usual = [jet for jet in states if jet.order and jet not in curved and jet not in coupled]
    if usual:
        listed = ", ".join(map(str, usual))
        notes.append(f"States of their own, with a row that says so: {listed}.")
    notes += [
        f"{jet} enters equation {curved[jet]} nonlinearly: it is an unknown of its own, and its start value"
        " is computed unless it is given."
        for jet in sorted(curved)
    ]
    if coupled:
        listed = ", ".join(str(jet) for jet in states if jet in coupled)
        notes.append(
            f"The factors of {listed} depend on the state: they are unknowns of their own, so that no formula"
            " holds the inverse of a matrix."
        )
    return tuple(notes)
