"""Selections on the way: Procedure 3.11 at the current point, and a change to the components it prefers."""

from __future__ import annotations

from math import log

from herk.integrate.steppers.half_explicit.layout import (
    ALGEBRAIC,
    DERIVATIVE,
    DETERIORATED,
    OK,
    ROW_DIFFERENTIAL,
    ROW_GUESSED,
    ROW_KERNEL,
    ROW_ORDER,
    ROW_PIVOTS,
    ROW_PREDICTED,
    ROW_STAGE,
    HalfExplicit,
    kernel_at,
)
from herk.integrate.steppers.half_explicit.margin import margin
from herk.integrate.steppers.half_explicit.newton import jacobian
from herk.integrate.steps import NEED_PYTHON, RANK_LOST, RUNNING, STUCK, Loop
from herk.jit.state import Wholes, view
from herk.linalg.selection import IN_ANY_UNITS, RANK_TOLERANCE, eliminate, level_required, scale

SUSPECT = (
    2  # rejections in a row that put the selection under suspicion: made anew, Procedure 3.11 to the letter
)
POOR = 0.3  # of the largest volume, in units of the unknowns
RECHECK = 0.95  # a selection that was confirmed is looked at again after a further fall to this part


def reselect(loop: Loop, own: HalfExplicit) -> int:
    """Apply Procedure 3.11 at the current point.

    Switch if it prefers other components; ask Python if they have no kernel yet.
    """
    if own.sparse:
        return reselect_in_python(loop, own)
    n, m, wanted, best = own.n, own.m, own.wanted, own.best_pivot
    njev, ngev = own.njev, own.ngev
    if not chosen(loop, own):
        return RANK_LOST
    for slot in range(own.known):
        if algebraic_match(view(own.table, slot * (ROW_ORDER + n), ROW_ORDER + n), n, m, wanted):
            if slot == own.slot and not own.pending and loop.cause == OK:
                for i in range(own.pivots):
                    best[i] = RECHECK / DETERIORATED * abs(own.pivot[i])
                return RUNNING
            own.pending = 0
            return switch(loop, own, slot)
    own.pending = 1
    own.njev, own.ngev = njev, ngev  # all this is done again
    return NEED_PYTHON


def reselect_in_python(loop: Loop, own: HalfExplicit) -> int:
    """Ask for a selection, once at a point and for each kind of failure there; put the one made in force."""
    if own.pending and own.answered:
        own.pending = 0
        own.answered = 0
        return switch(loop, own, own.chosen) if own.chosen >= 0 else RANK_LOST
    state = 2 * loop.rejected if loop.cause == OK else 2 * loop.rejected + 1
    if own.looked_t == loop.t and own.looked == state:
        return RUNNING
    own.looked_t = loop.t
    own.looked = state
    own.pending = 1
    return NEED_PYTHON


def jacobian_here(t: float, own: HalfExplicit) -> None:
    """Evaluate dg/dy at the current point, for a selection that is made in Python."""
    jacobian(t, own.y, own)
    own.njev -= 1  # counted where it is used


def chosen(loop: Loop, own: HalfExplicit) -> bool:
    """Write the components Procedure 3.11 prefers; False if dg/dy has lost rank, in any units.

    Entries are compared as they are, unless what that chooses is poor in units of the unknowns.
    """
    n, m, a, wanted = own.n, own.m, own.stacked, own.wanted
    threshold = 1.0 if loop.rejected >= SUSPECT else own.threshold
    jacobian(loop.t, own.y, own)
    for i in range(m * n):  # what is eliminated is a copy: Newton's method goes on with dg/dy
        a[i] = own.jacobian[i]
    if not own.in_units and m == eliminate(
        a, m, n, own.required, own.cost, own.size, own.heaviest, own.left, threshold, IN_ANY_UNITS, wanted
    ):
        if own.threshold < 1.0 and poor(threshold, own):
            for i in range(m):
                wanted[i] = own.other[i]
        return True
    return in_units(own.required, threshold, wanted, own)


def in_units(required: Wholes, threshold: float, wanted: Wholes, own: HalfExplicit) -> bool:
    """Write the components Procedure 3.11 prefers where unknowns and rows are of size one.

    If there are none, where it may be the guess at the size of one that must be taken, without that guess.
    """
    n, m, a, weight, relative = own.n, own.m, own.stacked, own.weight, own.relative
    for i in range(n):
        weight[i] = own.size[i] + own.floor[i]
        relative[i] = own.size[i] / weight[i]
    for guessed in range(1, -1, -1):
        for i in range(m * n):
            a[i] = own.jacobian[i]
        scale(a, m, n, weight)
        if not guessed:
            level_required(a, m, n, own.required)
        if m == eliminate(
            a, m, n, required, own.cost, relative, own.heaviest, own.left, threshold, RANK_TOLERANCE, wanted
        ):
            return True
    return False


def poor(threshold: float, own: HalfExplicit) -> bool:
    """Tell whether errors grow where the wanted components are computed, beside others that are written.

    By Cramer's rule the selection of the largest volume enlarges no error, and one whose volume is a part of
    it enlarges errors up to the inverse of that part. What is still zero may turn out to have any size.
    """
    n, m, wanted, other, flags = own.n, own.m, own.wanted, own.other, own.flags
    for i in range(n):
        flags[i] = 0
    for i in range(m):
        if own.size[wanted[i]] == 0.0 and not own.required[wanted[i]]:
            return False
        flags[wanted[i]] = 1
    if not in_units(own.required, threshold, other, own):
        return False
    best, same = volume(other, own), True
    for i in range(m):
        same = same and flags[other[i]] == 1
    if same:  # another elimination would find the same volume
        return False
    return not in_units(flags, 1.0, own.forced, own) or volume(own.forced, own) < best + log(POOR)


def volume(order: Wholes, own: HalfExplicit) -> float:
    """Return the logarithm of the product of the pivots that an elimination left behind."""
    total = 0.0
    for i in range(own.m):
        total += log(abs(own.stacked[i * own.n + order[i]]))
    return total


def algebraic_match(row: Wholes, n: int, m: int, wanted: Wholes) -> bool:
    """Tell whether a row of the table has just the wanted algebraic components (the last m of its order)."""
    for i in range(m):
        found = False
        for j in range(n - m, n):
            found = found or row[ROW_ORDER + j] == wanted[i]
        if not found:
            return False
    return True


def switch(loop: Loop, own: HalfExplicit, slot: int) -> int:
    """Put a selection in force at the current point: order of components, first stage, reference pivots."""
    n, m, pivot, peak = own.n, own.m, own.pivot, own.pivot_peak
    enter(0 if own.sparse else slot, own)
    if slot != own.slot:
        own.h_last = 0.0  # nothing is known of its pivots
        own.marked = 0
        for i in range(m + 1):
            peak[i] = 0.0
        for i in range(m):
            own.level[i] = 0.0
    own.slot = slot
    loop.slot = slot
    for i in range(n):
        own.new[i] = own.y[i]
    status = kernel_at(own.kernel)(ALGEBRAIC, loop.t, 0.0, own)
    if status == OK:
        status = kernel_at(own.kernel)(DERIVATIVE, loop.t, 0.0, own)
    if own.sparse and m > 0 and status == OK and not loop.fixed:
        pivot[1] = margin(loop.t, own.y, own)
    for i in range(m + 1):
        own.best_pivot[i] = abs(pivot[i])
        own.sign[i] = 0.0 if loop.fixed else pivot[i]
        own.pivot_now[i] = pivot[i]
        peak[i] = max(peak[i], abs(pivot[i]))
    if status != OK:
        loop.cause = status
        return STUCK
    return RUNNING


def enter(slot: int, own: HalfExplicit) -> None:
    """Copy a row of the table of selections to where kernels look for it."""
    n, order = own.n, own.order
    row = view(own.table, slot * (ROW_ORDER + n), ROW_ORDER + n)
    own.kernel = row[ROW_KERNEL]
    own.differential = row[ROW_DIFFERENTIAL]
    own.predicted = row[ROW_PREDICTED]
    own.guessed = row[ROW_GUESSED]
    own.pivots = row[ROW_PIVOTS]
    own.lu_valid = 0
    own.stage_algebraic, own.stage_derivative = row[ROW_STAGE], row[ROW_STAGE + 1]
    own.stage_residual = row[ROW_STAGE + 2]
    for i in range(n):
        order[i] = row[ROW_ORDER + i]
