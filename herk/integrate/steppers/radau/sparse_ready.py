"""Patterns of a large model for Radau, and a state with values on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core import Dae
from herk.integrate.callables import NAMES, Bound
from herk.integrate.options import Request
from herk.integrate.steppers.radau.layout import Radau, RadauMethod, allocate
from herk.integrate.steppers.radau.machine import Machine
from herk.integrate.steppers.radau.order import rows_of
from herk.integrate.steppers.radau.sparse_machine import SparseMachine, Structure
from herk.jit.state import Wholes
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_selection import Selector, partners


def structure_of(asked: Request, E: Any) -> Structure | None:
    """Return the structure of a large model with values of E at the start; None: use full matrices.

    That is so where E has entries in more rows than columns, or the other way round.
    """
    patterns, n, m = asked.dae.generated.sparse.patterns, asked.dae.n, asked.dae.m  # type: ignore[union-attr]
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
    return Structure(whole, masses, lower, partner, Selector(free, cost, asked.atol / asked.rtol))


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
    generated: Any = asked.dae.generated
    method, known, code = asked.method, generated.sparse.patterns, generated.sparse.functions
    assert isinstance(method, RadauMethod)
    n, m, whole = asked.dae.n, asked.dae.m, structure.whole
    lengths = dict.fromkeys(("mass", "jacobian", "lu", "re", "im", "stacked"), whole.nnz)
    lengths |= {"e_here": known["E"].nnz, "g_y": known["jac_g"].nnz}
    lengths |= {"whole": max(known["jac_f"].nnz, known["jac_Ey"].nnz)}
    lengths |= {"of_pairs": max(method.most // 2, 1), "unit": n, "width": n, "peak": 0}
    state = allocate(n, m, generated.parameters.size, method, rows_of(method.fewest, method.most), lengths)
    state.sparse, state.general, state.first_g = 1, 1, int(whole.indptr[n])
    state.bind("start", whole.indptr)
    state.bind("column", whole.indices)
    state.bind("e_start", known["E"].indptr)
    state.bind("e_column", known["E"].indices)
    for name, part in (("e_place", "E"), ("f_place", "jac_f"), ("ey_place", "jac_Ey")):
        state.bind(name, places(whole, known[part]))
    state.at_jac_f, state.at_jac_ey = code["jac_f"].entry, code["jac_Ey"].entry
    state.e_here[:] = known["E"].values(E)
    return state


def code_on_patterns(dae: Dae) -> Bound:
    """Return the functions of a large model for the loop."""
    code = dae.generated.sparse.functions  # type: ignore[union-attr]
    return Bound(tuple(code[name] for name in NAMES))


def of_many(machine: Machine, structure: Structure, jac_g: Any) -> SparseMachine:
    """Return the same machine for values on patterns, its rows selected."""
    made = SparseMachine(**vars(machine), structure=structure)
    made.state.g_y[:] = structure.constraints.values(jac_g)
    made.first_selection()
    return made
