"""Half-explicit Runge-Kutta as the loop sees it: begin, try a step, accept it."""

from __future__ import annotations

from herk.integrate.controller import starting_step
from herk.integrate.steppers.half_explicit.belief import compared, doubtful, unknown
from herk.integrate.steppers.half_explicit.branches import resolved, sinking, sunk, turning, unseen
from herk.integrate.steppers.half_explicit.error import damping, error_norm
from herk.integrate.steppers.half_explicit.layout import (
    ACCEPT,
    BRANCH,
    DERIVATIVE,
    E_CHANGED,
    E_STACKED,
    OK,
    OVERTURNED,
    ROUGH,
    SPREAD,
    STEP,
    TURNED,
    WORSE,
    HalfExplicit,
    kernel_at,
)
from herk.integrate.steppers.half_explicit.margin import margin
from herk.integrate.steppers.half_explicit.overturning import begin_upright, overturned
from herk.integrate.steppers.half_explicit.sample import sample
from herk.integrate.steppers.half_explicit.selecting import SUSPECT, jacobian_here, reselect, switch
from herk.integrate.steppers.half_explicit.stability import AT_ONCE, decaying, matters, restlessness, suspect
from herk.integrate.steppers.half_explicit.step import kernel, same_branch
from herk.integrate.steps import CONSIDER, ENDS, INFINITE, NEGLIGIBLE, RUNNING, STUCK, SUNK, Loop
from herk.jit.program import Program
from herk.jit.state import Floats

GROWN = 8.0


def begin(loop: Loop) -> int:
    """Put a selection in force where one is wanted; choose the first step."""
    own = HalfExplicit.at(loop.own)
    begin_upright(loop.t, own)
    if foreseen(loop):
        return CONSIDER
    if own.pending:
        status = reselect(loop, own)
        if status != RUNNING:
            return status
        own.resumed = loop.rejected
    if loop.h == 0.0:
        loop.h = first_step(loop, own)
    return RUNNING


def foreseen(loop: Loop) -> int:
    """Tell once, before the first step, whether another method should be thought about."""
    own = HalfExplicit.at(loop.own)
    if own.foreseen or own.patience == 0 or (own.general and not own.sparse):
        return 0
    if own.distant == AT_ONCE:
        own.foreseen = 1
        return 1
    if own.pending and reselect(loop, own) != RUNNING:
        return 0
    own.foreseen = 1
    own.fastest = decaying(loop.t, own.distant / abs(loop.t_end - loop.t), own)
    if not own.fastest > 0.0:
        return 0
    own.restless = restlessness(loop.t, 1.0 if loop.t_end > loop.t else -1.0, own)
    return 1


def settle(loop: Loop) -> int:
    """Put a selection in force at a new start and compute what it leaves open.

    `error` tells how far the values given are from the constraints, in units of the tolerance.
    """
    own = HalfExplicit.at(loop.own)
    status = reselect(loop, own)
    y, new, computed, missing = own.y, own.new, own.open, False
    for j in range(own.differential):
        if computed[own.order[j]]:  # this selection does not compute it
            return STUCK
    loop.error = 0.0
    for i in range(own.n):
        if computed[i]:
            y[i] = new[i]
            missing = True
        else:
            off = abs(new[i] - y[i]) / (loop.atol[i] + loop.rtol * abs(y[i]))
            loop.error = off if not off <= loop.error else loop.error
    if status == RUNNING and missing:
        status = kernel_at(own.kernel)(DERIVATIVE, loop.t, 0.0, own)
        own.nfev -= 1  # at the start it counts once
    return status


def resettle(loop: Loop, other: int, near: float, words: Floats, spare: Floats, at_y: int) -> int:
    """Do the same at a start the machine was not made for; what was checked where it was made must hold.

    No parameter vanishes (of `other` values), what is given is `near` the constraints, and no pivot of the
    first selection is near zero. What was computed has a size too, which a start that is given has from the
    first: with it all is done again, from the same state (`words`, kept in `spare` meanwhile, y at `at_y`).
    """
    own = HalfExplicit.at(loop.own)
    par, computed, missing = own.parameters, own.open, False
    for i in range(par.size):
        if other and (par[i] == 0.0 or not abs(par[i]) < INFINITE):
            return STUCK
    for i in range(own.n):
        missing = missing or computed[i] != 0
    if missing:
        for i in range(words.size):
            spare[i] = words[i]
        status = placed(loop, own, near)
        if status != RUNNING:
            return status
        for i in range(own.n):
            spare[at_y + i] = own.y[i]
        for i in range(words.size):
            words[i] = spare[i]
        for i in range(own.n):
            computed[i] = 0
        near = NEGLIGIBLE
    return placed(loop, own, near)


def placed(loop: Loop, own: HalfExplicit, near: float) -> int:
    """Settle a start with the sizes its components have there; refuse it where it is off, or near a zero."""
    y, n = own.y, own.n
    for i in range(n):
        if own.threshold < 1.0:  # selected by sizes
            own.size[i] = abs(y[i])
        own.floor[n + i] = abs(y[i]) + own.floor[i]
    status = settle(loop)
    if status == RUNNING and not loop.error <= min(near, NEGLIGIBLE):
        status = STUCK
    if status == RUNNING and own.slot == 0:
        for i in range(own.pivot.size):
            if not abs(own.pivot[i]) >= own.least[i]:
                status = STUCK
    return status


def first_step(loop: Loop, own: HalfExplicit) -> float:
    """Return a first step size from the sizes of y, y' and y'', y'' from one trial step."""
    n, nd, k, y, order, scratch = own.n, own.differential, own.k, own.y, own.order, own.ydot
    span = loop.t_end - loop.t
    most = min(abs(span), loop.h_max)
    for j in range(nd):
        scratch[j] = y[order[j]]
    d0 = weighted(scratch, loop, own)
    d1 = weighted(k, loop, own)
    h = min(0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6 * abs(span), most)
    for _ in range(8):
        trial = h if span > 0.0 else -h
        if kernel_at(own.kernel)(STEP, loop.t, trial, own) == OK:
            break
        h *= 0.1
    last = own.stages * n
    for j in range(nd):
        scratch[j] = (k[last + j] - k[j]) / h
    return starting_step(h, d1, weighted(scratch, loop, own), most, loop)


def weighted(values: Floats, loop: Loop, own: HalfExplicit) -> float:
    """Return the weighted root mean square of values of the differential components, in their order."""
    nd, y, atol, order = own.differential, own.y, loop.atol, own.order
    total = 0.0
    for j in range(nd):
        i = order[j]
        total += (values[j] / (atol[i] + loop.rtol * abs(y[i]))) ** 2
    return (total / nd) ** 0.5 if nd > 0 else 0.0


def try_step(loop: Loop) -> int:
    """Try a step; one that fails gets a new selection first."""
    own = HalfExplicit.at(loop.own)
    if loop.rejected > 0:
        own.lu_valid = 0
        doubtful = own.m > 0 and (loop.cause == OK or loop.cause == ROUGH)
        if doubtful and loop.rejected == SUSPECT and own.resumed != SUSPECT:
            status = reselect(loop, own)
            if status != RUNNING:
                return status
    status = judged(loop, own)
    if status == SUNK:
        status = unless_units_help(loop, own)
        return judged(loop, own) if status == RUNNING else status
    if status >= OK or status <= ENDS or status in (TURNED, ROUGH, OVERTURNED) or own.fresh or own.m == 0:
        return status
    own.fresh = 1
    if status == E_CHANGED:
        own.e_mode = E_STACKED
    loop.cause = status
    status = reselect(loop, own)
    return judged(loop, own) if status == RUNNING else status


def judged(loop: Loop, own: HalfExplicit) -> int:
    """Make a step from the current point and estimate its error."""
    h = loop.h_tried
    own.asking = 1 if matters(h, loop.t_end - loop.target, own) else 0
    status = kernel_at(own.kernel)(STEP, loop.t, h, own)
    if status != OK:
        return status
    if loop.fixed:
        return OVERTURNED if overturned(loop.target, own) else OK
    if own.sparse and own.m > 0:
        own.pivot[1] = margin(loop.target, own.new, own)
        if not same_branch(own):
            return BRANCH
    if own.smooth and (turning(h, own) or (own.probes > 0 and unseen(loop.rejected, own))):
        loop.cause = BRANCH
        return SUNK if sunk(loop, own) else TURNED
    damped = damping(loop, own)
    status = kernel_at(own.kernel)(SPREAD, loop.target, 0.0, own)
    if status != OK:
        return status
    loop.error = damped * error_norm(loop, own)
    if not loop.error <= 1.0:
        return OK
    if unknown(h, own) and doubtful(loop, own):
        loop.error = max(loop.error, compared(loop, own))
        status = kernel_at(own.kernel)(STEP, loop.t, h, own)
        if status != OK or not loop.error <= 1.0:
            return status
    status = resolved(loop, own)
    return OVERTURNED if status == OK and overturned(loop.target, own) else status


def accept(loop: Loop) -> int:
    """Move on to the new point; look at the selection again where its pivots have become worse."""
    own = HalfExplicit.at(loop.own)
    worse = kernel_at(own.kernel)(ACCEPT, loop.t, loop.h_tried, own) == WORSE
    own.fresh, own.resumed = 0, 0
    own.h_last, own.h_known = loop.h_tried, loop.h_tried
    if not loop.fixed:
        now, before, peak, pivot = own.pivot_now, own.pivot_before, own.pivot_peak, own.pivot
        for i in range(own.pivots + own.sparse):
            before[i] = now[i]
            now[i] = pivot[i]
            peak[i] = max(peak[i], abs(pivot[i]))
        if own.smooth and loop.t != loop.t_end and sinking(loop, own):
            loop.cause = BRANCH
            return unless_units_help(loop, own)
    if not own.always:  # Procedure 3.11 to the letter knows no sizes
        size, y = own.size, own.y
        for i in range(own.n):
            size[i] = max(size[i], abs(y[i]))
    if loop.t == loop.t_end:
        return RUNNING
    if worse or own.always:
        return reselect(loop, own)
    if not loop.fixed and outgrown(own):
        own.h_last = 0.0  # pivots in old units tell nothing
        own.marked = 0
        return switch(loop, own, own.slot)
    return CONSIDER if own.patience > 0 and suspect(loop.h_tried, own) else RUNNING


def unless_units_help(loop: Loop, own: HalfExplicit) -> int:
    """End the run at a singular point, unless other components are better ones in units of the unknowns."""
    if own.in_units or own.m == 0:
        return SUNK
    own.in_units = 1
    slot = own.slot
    status = reselect(loop, own)
    return SUNK if status == RUNNING and own.slot == slot else status


def outgrown(own: HalfExplicit) -> bool:
    """Take note of components that have become much larger than ever before: they are units of pivots."""
    n, y, floor, found = own.n, own.y, own.floor, False
    for i in range(n):
        if abs(y[i]) > GROWN * floor[n + i]:
            floor[n + i] = abs(y[i])
            found = True
    return found


PROGRAM = Program(begin, foreseen, resettle, try_step, accept, kernel, sample, jacobian_here)
