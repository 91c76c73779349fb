"""Whether a step led across a point at which E, or [E; g_y], is singular: behind it y' is another one.

Stages lie beside such a point, so nothing else tells. A simple zero changes the sign of a determinant.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.derivative import renew_reduced
from herk.integrate.steppers.half_explicit.layout import E_STACKED, E_VARYING, OK, HalfExplicit, function_at
from herk.integrate.steppers.half_explicit.newton import jacobian
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats, view
from herk.linalg.orientation import block_signs
from herk.linalg.sparse_lu import SparseLU


def watched(own: HalfExplicit) -> bool:
    """Tell whether the blocks noted at the start mean something: not where E has another structure since."""
    from_the_first = own.e_mode == E_STACKED and own.e_rank == 0
    return own.e_blocks > 0 and (own.e_mode == E_VARYING or from_the_first)


def orientate(t: float, y: Floats, out: Floats, own: HalfExplicit) -> None:
    """Write the signs of the determinants of E, or of [E; g_y], block by block."""
    rows, columns, start = own.e_block_row, own.e_block_column, own.e_block_start
    if own.e_mode == E_STACKED:
        stack_masses(t, y, own)
        block_signs(own.stacked, own.n, rows, columns, start, own.e_blocks, out, own.e_block_order)
        return
    function_at(own.at_e)(t, y, own.parameters, own.e_whole)
    block_signs(own.e_whole, own.n, rows, columns, start, own.e_blocks, out, own.e_block_order)


def stack_masses(t: float, y: Floats, own: HalfExplicit) -> None:
    """Write all rows of [E; g_y] at a point."""
    square, a = own.n * own.n, own.stacked
    if own.m > 0:
        jacobian(t, y, own)
        for i in range(own.m * own.n):
            a[square + i] = own.jacobian[i]
    if own.have_e:
        function_at(own.at_e)(t, y, own.parameters, view(a, 0, square))
        return
    for i in range(square):
        a[i] = own.e_now[i]


def begin_upright(t: float, own: HalfExplicit) -> None:
    """Take note of the signs at a start, or where Python hands the run back."""
    own.e_turns = INFINITE
    if own.sparse:
        begin_on_pattern(t, own)
    elif watched(own):
        orientate(t, own.y, own.e_new, own)
        for b in range(own.e_blocks):
            own.e_sign[b] = own.e_new[b]


def overturned(t: float, own: HalfExplicit) -> bool:
    """Tell whether a block that y' is computed from has another sign at the new point."""
    if not watched(own):
        return False
    now, before = own.e_new, own.e_sign
    if own.sparse:
        return overturned_on_pattern(SparseLU.at(own.e_factors), own)
    orientate(t, own.new, now, own)
    for b in range(own.e_blocks):
        if now[b] * before[b] < 0.0 and needed(b, own):
            own.e_turns = t
            return True
    for b in range(own.e_blocks):
        if now[b] != 0.0:
            before[b] = now[b]
    return False


def needed(b: int, own: HalfExplicit) -> bool:
    """Tell whether a derivative is computed from a block: components that constraints determine have none.

    Of [E; g_y] none is left over.
    """
    if own.e_mode == E_STACKED:
        return True
    for p in range(own.e_block_start[b], own.e_block_start[b + 1]):
        for j in range(own.differential):
            if own.order[j] == own.e_block_column[p]:
                return True
    return False


def begin_on_pattern(t: float, own: HalfExplicit) -> None:
    """Take note of the signs of the factors at the current point."""
    for b in range(own.n):
        own.e_sign[b] = 0.0
    if own.e_blocks > 0 and own.e_mode == E_VARYING and renew_reduced(t, own.y, own) == OK:
        own.nlu -= 1
        signs(SparseLU.at(own.e_factors), own.e_sign)


def signs(factors: SparseLU, out: Floats) -> None:
    """Write the sign of every block of factors."""
    last = 0
    for b in range(factors.blocks):
        first = last
        last = factors.block_start[b + 1]
        out[b] = 1.0
        for i in range(first, last):
            if factors.inverse[i] < 0.0:
                out[b] = -out[b]


def overturned_on_pattern(factors: SparseLU, own: HalfExplicit) -> bool:
    """Tell the same by the factors at the new point, which are those of its derivative."""
    before, now, last, differential = own.e_sign, own.e_new, 0, own.flags
    signs(factors, now)
    for j in range(own.n):
        differential[j] = 0
    for j in range(own.differential):
        differential[own.order[j]] = 1
    for b in range(factors.blocks):
        first = last
        last = factors.block_start[b + 1]
        used = False
        for i in range(first, last):
            used = used or differential[own.e_columns[factors.column[i]]] == 1
        if used and now[b] * before[b] < 0.0:
            return True
    for b in range(factors.blocks):
        before[b] = now[b]
    return False
