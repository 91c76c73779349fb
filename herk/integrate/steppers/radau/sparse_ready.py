"""Patterns of a large system for Radau, and a state with values on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.callables import Bound
from herk.integrate.matrix_callables import bound_on
from herk.integrate.options import Request
from herk.integrate.steppers.radau.groups import groups_of
from herk.integrate.steppers.radau.held import Structure
from herk.integrate.steppers.radau.layout import Radau, RadauMethod, allocate
from herk.integrate.steppers.radau.machine import Machine
from herk.integrate.steppers.radau.order import rows_of
from herk.integrate.steppers.radau.sparse_machine import SparseMachine
from herk.jit.state import Wholes
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_selection import Selector, partners
from herk.model import evaluate
from herk.model.equation_pattern import e_pattern, equations_pattern, near
from herk.model.evaluate import Linearisation
from herk.model.jacobian_pattern import pattern_of

CROWDED = 0.2  # part of all entries: with more of them, full matrices serve as long as they are reasonable


def structure_at(asked: Request, y: Array, here: Linearisation) -> Structure | None:
    """Return the structure of a large system at its start; None: use full matrices.

    That is so where E has entries in more rows than columns, or the other way round, and where functions of
    the user have entries nearly everywhere.
    """
    dae, method = asked.dae, asked.method
    assert isinstance(method, RadauMethod)
    if not here.sparse or method.full:
        return None
    if asked.generate and hasattr(dae.generated, "sparse"):
        return structure_of(asked, dae.generated.sparse.patterns, here.E)  # type: ignore[union-attr]
    if dae.generated is not None:
        return None
    spread = callable(dae.E) and not hasattr(evaluate.call("E", dae.E, asked.t0, y), "tocsr")
    if spread and dae.n <= method.largest:
        return None  # nothing tells where it may have entries later
    E = e_pattern(dae, (asked.t0, asked.t1), y, np.abs(y) + asked.atol / asked.rtol, here.E)
    if len(np.unique(E.rows)) != len(np.unique(E.indices)):
        return None  # before all the functions are tried
    found = structure_of(asked, _tried_patterns(asked, y, E), here.E)
    crowded = found is not None and found.whole.nnz > CROWDED * dae.n * (dae.n + dae.m)
    return None if crowded and dae.n <= method.largest else found


def _tried_patterns(asked: Request, y: Array, E: Pattern) -> dict[str, Pattern]:
    """Return the patterns of callables, found once for a system."""
    dae, known = asked.dae, asked.dae.__dict__
    if "_equations" not in known:
        known["_equations"] = equations_pattern(dae, near(asked.t0, y, asked.t1 - asked.t0))
    none = Pattern(E.shape, np.zeros(dae.n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    constraints = pattern_of(dae, asked.t0, y)
    return {"E": E, "jac_f": known["_equations"], "jac_Ey": none, "jac_g": constraints}


def structure_of(asked: Request, patterns: Mapping[str, Pattern], E: Any) -> Structure | None:
    """Return the structure of a system with these patterns and values of E; None if rows are left over."""
    n, m = asked.dae.n, asked.dae.m
    partner = _partners(patterns["E"], E)
    if partner is None:
        return None
    upper = patterns["E"].union(patterns["jac_f"]).union(patterns["jac_Ey"])
    lower = patterns["jac_g"]
    starts = np.concatenate([upper.indptr, upper.nnz + lower.indptr[1:]])
    whole = Pattern((n + m, n), starts, np.concatenate([upper.indices, lower.indices]))
    masses = np.ones(whole.nnz, dtype=np.int64)
    masses[: upper.nnz] = 0
    masses[places(whole, patterns["E"])] = 1
    free = np.flatnonzero(partner < 0).astype(np.int64)
    cost = np.bincount(lower.indices, minlength=n).astype(np.int64)
    return Structure(whole, masses, patterns, partner, Selector(free, cost, asked.atol / asked.rtol))


def _partners(pattern: Pattern, E: Any) -> Wholes | None:
    """Return for each unknown a row of E of its own, one with a large entry; None if rows are left over."""
    rows, columns = np.unique(pattern.rows), np.unique(pattern.indices)
    if len(rows) != len(columns):
        return None
    reduced = pattern.matrix(pattern.values(E))[rows]
    found = partners(reduced, np.zeros(pattern.shape[1], dtype=np.int64), 0.0)
    if (found < 0).any():
        return None
    partner = np.full(pattern.shape[1], -1, dtype=np.int64)
    partner[found] = rows
    return partner


def places(whole: Pattern, part: Pattern) -> Wholes:
    """Return where the entries of a pattern stand in one that contains it."""
    width = whole.shape[1]
    found: Wholes = np.searchsorted(whole.rows * width + whole.indices, part.rows * width + part.indices)
    return found.astype(np.int64)


def on_patterns(asked: Request, structure: Structure, E: Any) -> Radau:
    """Return the state of a large run with its patterns, and code for derivatives; E is written."""
    method, known, values = asked.method, structure.parts, getattr(asked.dae.generated, "parameters", None)
    assert isinstance(method, RadauMethod)
    n, m, whole = asked.dae.n, asked.dae.m, structure.whole
    count = 1 if values is None else values.size
    lengths = dict.fromkeys(("mass", "jacobian", "lu", "re", "im", "stacked"), whole.nnz)
    lengths |= {"e_here": known["E"].nnz, "g_y": known["jac_g"].nnz}
    lengths |= {"whole": max(known["jac_f"].nnz, known["jac_Ey"].nnz)}
    lengths |= {"of_pairs": max(method.most // 2, 1), "peak": 0, "e_new": 0}
    lengths |= dict.fromkeys(("unit", "width", "response"), n)
    state = allocate(n, m, count, method, rows_of(method.fewest, method.most), lengths)
    state.sparse, state.general, state.first_g = 1, 1, int(whole.indptr[n])
    state.bind("start", whole.indptr)
    state.bind("column", whole.indices)
    state.bind("e_start", known["E"].indptr)
    state.bind("e_column", known["E"].indices)
    for name, part in (("e_place", "E"), ("f_place", "jac_f"), ("ey_place", "jac_Ey")):
        state.bind(name, places(whole, known[part]))
    state.e_here[:] = known["E"].values(E)
    return state


def functions_on_patterns(
    asked: Request, structure: Structure, y: Array, state: Radau
) -> tuple[Bound, tuple[Any, ...]]:
    """Return the functions for the loop, and what else their state refers to: code or groups of columns."""
    dae, known = asked.dae, structure.parts
    bound = bound_on(dae, known["jac_g"], known["E"], asked.t0, y)
    if dae.generated is not None:
        code: Any = dae.generated.sparse.functions  # type: ignore[attr-defined]
        state.at_jac_f, state.at_jac_ey = code["jac_f"].entry, code["jac_Ey"].entry
        return bound, ()
    state.tried, state.forgiven = dae.jac_f_sparsity is None, 1
    return bound, put_groups(structure, state, have_jacobian=bound.have_jacobian)


def put_groups(structure: Structure, state: Radau, *, have_jacobian: bool) -> tuple[Any, ...]:
    """Tell a state which columns are differenced together; return what must be kept for it."""
    known = structure.parts
    equations = groups_of(known["jac_f"], state.f_place)
    state.of_equations = equations.address
    if have_jacobian:
        return (equations,)
    constraints = groups_of(known["jac_g"], np.arange(known["jac_g"].nnz))
    state.of_constraints = constraints.address
    return equations, constraints


def of_many(machine: Machine, structure: Structure, jac_g: Any) -> SparseMachine:
    """Return the same machine for values on patterns, its rows selected."""
    made = SparseMachine(**vars(machine), structure=structure)
    made.state.g_y[:] = structure.parts["jac_g"].values(jac_g)
    made.first_selection()
    return made
