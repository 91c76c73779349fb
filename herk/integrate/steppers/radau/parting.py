"""Whether one of several parts went over to another solution: parts that do so at once leave no other trace.

The determinant of [S E; g_y] is the product of those of its diagonal blocks. Two that change their signs in
the same step leave its sign as it is, so each of them is looked at by itself where there are several.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from herk.codegen.block_form import is_zero
from herk.core import Dae, HerkError
from herk.core.dae import Array
from herk.integrate.steppers.radau.equations import constraint_jacobian
from herk.integrate.steppers.radau.layout import Radau
from herk.integrate.steps import Loop
from herk.linalg.orientation import block_signs, diagonal_blocks
from herk.model.evaluate import jacobian

SHARES = 1e-3, 2.3e-3  # of span and sizes: places near the start where entries are compared with those there


def note_parts(dae: Dae, t_span: tuple[float, float], y: Array, state: Radau) -> None:
    """Write down the blocks that may change their signs, if there are several."""
    code = getattr(dae.generated, "code", None)
    if code is None or dae.m < 2:  # of callables nobody knows for sure which entries are zero
        return
    tied = np.asarray(code.structure, dtype=bool)  # whatever the parameters: a later run may have others
    mass = np.array([[not is_zero(entry) for entry in row] for row in code.equations.E.tolist()])
    row, column, start = diagonal_blocks(np.vstack([mass[mass.any(axis=1)], tied]))
    if len(row) != dae.n:
        return
    varying = np.zeros((dae.n, dae.n), dtype=bool)
    varying[dae.n - dae.m :] = _varying(dae, t_span, y)
    blocks = [slice(first, last) for first, last in pairwise(start)]
    kept = [block for block in blocks if varying[np.ix_(row[block], column[block])].any()]
    if len(kept) < 2:
        return
    places = np.concatenate([np.arange(dae.n)[block] for block in kept])
    state.parts = len(kept)
    state.e_block_start[: len(kept) + 1] = np.cumsum([0, *(block.stop - block.start for block in kept)])
    state.e_block_row[: len(places)], state.e_block_column[: len(places)] = row[places], column[places]


def _varying(dae: Dae, t_span: tuple[float, float], y: Array) -> Array:
    """Return which entries of g_y differ between places near the start."""
    (t0, t1), found = t_span, np.zeros((dae.m, dae.n), dtype=bool)
    try:
        here = jacobian(dae, t0, y)
        for share in SHARES:
            moved = y + share * (np.abs(y) + 1e-2) * np.linspace(1.0, 2.0, dae.n)
            found |= jacobian(dae, t0 + share * (t1 - t0), moved) != here
    except HerkError:  # outside the domain of g
        return np.ones((dae.m, dae.n), dtype=bool)
    return found


def parted(loop: Loop, own: Radau) -> bool:
    """Tell whether a block has another sign at the new point."""
    if own.parts == 0:
        return False
    now, before = own.e_new, own.e_sign
    if own.first:
        constraint_jacobian(loop.t, own.y, own)
        own.at_new = 0
        signs(own)
        for b in range(own.parts):
            before[b] = now[b]
    if not own.at_new:
        constraint_jacobian(loop.target, own.new, own)
        own.at_new = 1
    signs(own)
    for b in range(own.parts):
        if now[b] * before[b] < 0.0:
            return True
    for b in range(own.parts):
        before[b] = now[b] if now[b] != 0.0 else before[b]
    return False


def signs(own: Radau) -> None:
    """Write the sign of every block of [S E; g_y], with the g_y there is."""
    n, d, a = own.n, own.d, own.stacked
    for k in range(d * n):
        a[k] = own.mass[k]
    for k in range(own.m * n):
        a[d * n + k] = own.g_y[k]
    rows, columns, start = own.e_block_row, own.e_block_column, own.e_block_start
    block_signs(a, n, rows, columns, start, own.parts, own.e_new, own.used)
