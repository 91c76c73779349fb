"""Whether a step led across a point at which E is singular: behind it E y' = f has other solutions, or none.

Stages lie beside such a point, so nothing else tells. A simple zero changes the sign of a determinant.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.derivative import renew_reduced
from herk.integrate.steppers.half_explicit.layout import E_VARYING, OK, HalfExplicit, function_at
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats
from herk.linalg.orientation import block_signs
from herk.linalg.sparse_lu import SparseLU


def orientate(t: float, y: Floats, out: Floats, own: HalfExplicit) -> None:
    """Write the signs of the determinants of E, block by block."""
    function_at(own.at_e)(t, y, own.parameters, own.e_whole)
    rows, columns, start = own.e_block_row, own.e_block_column, own.e_block_start
    block_signs(own.e_whole, own.n, rows, columns, start, own.e_blocks, out, own.e_block_order)


def begin_upright(t: float, own: HalfExplicit) -> None:
    """Take note of the signs at a start, or where Python hands the run back."""
    own.e_turns = INFINITE
    if own.sparse:
        begin_on_pattern(t, own)
    elif own.e_blocks > 0:
        orientate(t, own.y, own.e_new, own)
        for b in range(own.e_blocks):
            own.e_sign[b] = own.e_new[b]


def overturned(t: float, own: HalfExplicit) -> bool:
    """Tell whether a block that y' is computed from has another sign at the new point."""
    if own.e_blocks == 0 or own.e_mode != E_VARYING:
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
    """Tell whether a derivative is computed from a block: components that constraints determine have none."""
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
