"""Which determinants of [E; g_y] are to keep their signs along a run, where E alone does not determine y'."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from herk.codegen.block_form import filled as entries_of
from herk.codegen.block_form import gradient
from herk.codegen.equations import Equations
from herk.core import Dae, HerkError
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.linalg.orientation import diagonal_blocks
from herk.model.evaluate import jacobian

Pattern = NDArray[np.bool_]

SHARES = 1e-3, 2.3e-3  # of span and sizes: places near the start where g_y is compared with that there


def note_masses(asked: Request, y: Array, filled: Pattern, state: HalfExplicit) -> None:
    """Write down the blocks of [E; g_y] with a row of E in which something varies.

    If there is one choice of rows: n - m. Blocks of constraints alone have pivots, which `branches` looks at.
    """
    dae = asked.dae
    d, code = dae.n - dae.m, getattr(dae.generated, "code", None)
    rows = np.flatnonzero(filled.any(axis=1))
    if len(rows) != d:
        return
    if code is None:
        known = np.ones((dae.n, dae.n), dtype=bool)  # of callables nobody knows for sure which are not
        varying = known & (callable(dae.E) or _turns(dae, (asked.t0, asked.t1), y))
    else:
        rows, known, varying = _of_model(code.equations)
        if len(rows) != d:  # the value of a parameter hides one
            return
    row, column, start = diagonal_blocks(known)
    blocks = [slice(first, last) for first, last in pairwise(start)]
    mixed = [block for block in blocks if (row[block] < d).any()]
    kept = [block for block in mixed if varying[np.ix_(row[block], column[block])].any()]
    if not kept:
        return
    places = np.concatenate([np.arange(block.start, block.stop) for block in kept])
    where = np.concatenate([rows, np.arange(dae.n, dae.n + dae.m)])  # all rows of E stand before g_y
    state.e_blocks = len(kept)
    state.e_block_start[: len(kept) + 1] = np.cumsum([0, *(block.stop - block.start for block in kept)])
    state.e_block_row[: len(places)] = where[row[places]]
    state.e_block_column[: len(places)] = column[places]


def _of_model(system: Equations) -> tuple[NDArray[np.int64], Pattern, Pattern]:
    """Return the rows of E that are not zero; which entries of these over g_y are not, and which vary."""
    masses, states, fixed = entries_of(system.E), system.states, set(system.parameters)
    rows = sorted({i for i, _ in masses})
    found = {(rows.index(i), j): entry for (i, j), entry in masses.items()}
    number = {state: j for j, state in enumerate(states)}
    for i, constraint in enumerate(system.g):
        slopes = gradient(constraint, number)
        found |= {(len(rows) + i, number[state]): slope for state, slope in slopes.items()}
    known, varying = np.zeros((2, len(rows) + system.m, system.n), dtype=bool)
    for place, entry in found.items():
        known[place], varying[place] = True, bool(entry.free_symbols - fixed)
    return np.array(rows, dtype=np.int64), known, varying


def _turns(dae: Dae, t_span: tuple[float, float], y: Array) -> bool:
    """Tell whether g_y differs between places near the start."""
    t0, t1 = t_span
    try:
        here = jacobian(dae, t0, y)
        return any(
            (jacobian(dae, t0 + share * (t1 - t0), y + share * (np.abs(y) + 1e-2)) != here).any()
            for share in SHARES
        )
    except HerkError:  # outside the domain of g
        return True
