"""A machine for many unknowns ready to step: patterns, functions on them, E by its places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.integrate.callables import Bound
from herk.integrate.matrix_callables import bound_on
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit import layout
from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.jit.state import Wholes
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_lu import SparseLU, analysed
from herk.model.equation_pattern import e_pattern
from herk.model.evaluate import Linearisation
from herk.model.jacobian_pattern import pattern_of

CROWDED = 0.2  # part of all entries: with more of them a matrix is a full one


@dataclass(frozen=True)
class SparseE:
    """E on its pattern: the rows and columns that are not zero, and the factors of what they have in common.

    They are square, and not singular.
    """

    pattern: Pattern
    values: Array
    rows: Wholes
    columns: Wholes
    diagonal: bool
    factors: SparseLU | None

    @property
    def free(self) -> tuple[int, ...]:
        """Return the components whose derivative does not occur."""
        idle = np.ones(self.pattern.shape[1], dtype=bool)
        idle[self.columns] = False
        return tuple(np.flatnonzero(idle).tolist())


def has_patterns(dae: Dae, here: Linearisation) -> bool:
    """Tell whether the matrices of a large system are values on patterns.

    Without constraints E is all there is; a full one stays full.
    """
    if dae.generated is not None:
        return hasattr(dae.generated, "sparse")
    return dae.m > 0 or not (callable(dae.E) or here.E.nnz > CROWDED * dae.n**2)


def sparse_e(asked: Request, y: Array, size: Array, here: Linearisation) -> SparseE | None:
    """Return E as a large run needs it; None if its non-zero part is not square or singular."""
    dae = asked.dae
    pattern = e_pattern(dae, (asked.t0, asked.t1), y, size, here.E)
    values = pattern.values(here.E)
    rows, columns = (np.flatnonzero(np.bincount(each)) for each in (pattern.rows, pattern.indices))
    varying = callable(dae.E) and not getattr(dae.generated, "constant_E", False)
    if len(rows) != len(columns):
        return None
    if not varying and (pattern.rows == pattern.indices).all():
        return SparseE(pattern, values, rows, columns, True, None) if values.all() else None
    reduced = Pattern.of(pattern.matrix(np.arange(1.0, pattern.nnz + 1))[rows])
    source = pattern.matrix(np.arange(float(pattern.nnz)))[rows].data.astype(
        np.int64
    )  # rows in order, so entries are too
    units = np.where(size > 0.0, size, 1.0)[pattern.indices]
    factors = analysed(reduced, columns, (values * units)[source])
    if factors is None:
        return None
    factors.source[:], factors.other_source[:] = source[factors.source], source[factors.other_source]
    return SparseE(pattern, values, rows, columns, False, factors)


def on_patterns(asked: Request, y: Array, E: SparseE) -> tuple[HalfExplicit, Pattern, Bound]:
    """Return the state of a large run with its patterns, and the functions it calls."""
    dae, tableau = asked.dae, asked.method
    assert isinstance(tableau, Tableau)
    pattern = pattern_of(dae, asked.t0, y)
    entries = pattern.nnz, E.pattern.nnz if not E.diagonal else dae.n
    state = layout.allocate(dae.n, dae.m, tableau, 0, getattr(dae.generated, "parameters", None), entries)
    state.bind("indptr", pattern.indptr)
    state.bind("indices", pattern.indices)
    if dae.jac_g is None:
        _bind_groups(state, pattern)
    _put_e(asked, state, E)
    state.looked, state.looked_t = -1, np.inf
    return state, pattern, bound_on(dae, pattern, E.pattern, asked.t0, y)


def _bind_groups(state: HalfExplicit, pattern: Pattern) -> None:
    """Tell compiled code which columns are differenced together."""
    group = pattern.groups[pattern.indices]
    starts = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
    state.groups = len(starts) - 1
    state.bind("group_start", starts)
    state.bind("group_entry", np.argsort(group, kind="stable").astype(np.int64))
    state.bind("entry_row", np.ascontiguousarray(pattern.rows))


def _put_e(asked: Request, state: HalfExplicit, E: SparseE) -> None:
    """Note how y' follows from E y' = f."""
    state.e_rank, count = len(E.rows), len(E.rows)
    state.e_rows[:count], state.e_columns[:count] = E.rows, E.columns
    state.required[list(E.free)] = 1
    if E.diagonal:
        state.e_mode = layout.E_DIAGONAL
        state.e_now[E.rows] = E.values
        return
    assert E.factors is not None
    varying = callable(asked.dae.E) and not getattr(asked.dae.generated, "constant_E", False)
    state.e_mode = layout.E_VARYING if varying else layout.E_CONSTANT
    state.e_blocks = int(varying)
    state.e_now[:] = E.values
    state.bind("e_entry", np.ascontiguousarray(E.pattern.indices, dtype=np.int64))
    state.e_factors = E.factors.address
