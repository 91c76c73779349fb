"""Whether a step led across a point at which E, or [S E; g_y], is singular: behind it y' is another one.

Newton's method need not notice: stages lie beside such a point.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.branches import determinant
from herk.integrate.steppers.radau.equations import constraint_jacobian
from herk.integrate.steppers.radau.layout import Radau, function_at
from herk.integrate.steppers.radau.on_patterns import in_units, measure
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats, view
from herk.linalg.orientation import block_signs
from herk.linalg.sparse_lu import SparseLU, refactor


def orientate(e: Floats, out: Floats, own: Radau) -> None:
    """Write the signs of the determinants of E, block by block."""
    rows, columns, start = own.e_block_row, own.e_block_column, own.e_block_start
    block_signs(e, own.n, rows, columns, start, own.e_blocks, out, own.used)


def begin_upright(t: float, own: Radau) -> None:
    """Take note of the signs at a start, where E is known."""
    own.e_sign[0], own.e_turns = 0.0, INFINITE
    if own.sparse and own.e_blocks > 0:
        own.e_sign[0] = orientation(t, own.y, own)
    if own.m == 0 and own.e_blocks > 0 and not own.sparse:
        orientate(own.e_here, own.e_new, own)
        for b in range(own.e_blocks):
            own.e_sign[b] = own.e_new[b]


def overturned(t: float, own: Radau) -> bool:
    """Tell whether a block of E has another sign at the new point."""
    if own.e_blocks == 0:
        return False
    if own.sparse:
        found = orientation(t, own.new, own)
        own.at_new = 1
        if found * own.e_sign[0] < 0.0:
            own.e_turns = t
            return True
        own.e_sign[0] = found if found != 0.0 else own.e_sign[0]
        return False
    if own.m > 0:
        return with_constraints(t, own)
    now, before = own.e_new, own.e_sign
    function_at(own.at_e)(t, own.new, own.parameters, view(own.stacked, 0, own.e_here.size))
    orientate(own.stacked, now, own)
    for b in range(own.e_blocks):
        if now[b] * before[b] < 0.0:
            own.e_turns = t
            return True
    for b in range(own.e_blocks):
        if now[b] != 0.0:
            before[b] = now[b]
    return False


def with_constraints(t: float, own: Radau) -> bool:
    """Tell whether det [S E; g_y] has another sign at the new point, where there is one choice of rows.

    `branches` looks at the constraints alone, with the E that the step was made with.
    """
    n, mass, kept = own.n, own.mass, own.e_new
    function_at(own.at_e)(t, own.new, own.parameters, view(own.stacked, 0, own.e_here.size))
    for k in range(own.d):
        for j in range(n):
            kept[k * n + j] = mass[k * n + j]
            mass[k * n + j] = own.stacked[own.rows[k] * n + j]
    constraint_jacobian(t, own.new, own)
    own.at_new = 1
    found = determinant(own) * own.sign
    for k in range(own.d * n):
        mass[k] = kept[k]
    if found < 0.0:
        own.e_turns = t
    return found < 0.0


def orientation(t: float, y: Floats, own: Radau) -> float:
    """Return the sign of det [S E; g_y] on its pattern at a point; 0 where the order of pivots is unfit."""
    e = own.im  # a complex matrix is not being made
    function_at(own.at_e)(t, y, own.parameters, e)
    for p in range(own.first_g):
        own.stacked[p] = 0.0
    for p in range(own.e_place.size):
        own.stacked[own.e_place[p]] = e[p]
    if own.m > 0:
        constraint_jacobian(t, y, own)
        for p in range(own.g_y.size):
            own.stacked[own.first_g + p] = own.g_y[p]
    measure(own.width, own)
    in_units(own.stacked, own.width, own.right_1, own)
    factors = SparseLU.at(own.of_masses)
    return factors.sign if refactor(own.stacked, factors) else 0.0
