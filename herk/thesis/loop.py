"""The two loops of the program of 2017, compiled.

Constant steps, and step doubling with the coarse value kept.
"""

from __future__ import annotations

from math import sqrt

from herk.jit.program import Program
from herk.jit.state import Floats
from herk.thesis.layout import FINISHED, FULL, NOT_FINITE, OK, UNDERFLOW, Herkosidae
from herk.thesis.onestep import one_step


def note_selection(own: Herkosidae) -> None:
    """Remember the algebraic components of the step just made."""
    selected, components = own.selected, own.components
    for k in range(own.m):
        selected[k] = components[k]


def distance(a: Floats, b: Floats, n: int) -> float:
    """Return |a - b|_2 scaled by its largest entry so far, as the norm of the original does.

    Step counts depend on this rounding.
    """
    scale, total = 0.0, 1.0
    for i in range(n):
        size = abs(a[i] - b[i])
        if size != size:  # not a number, which no comparison below would notice
            return size
        if scale < size:
            total = 1.0 + total * (scale / size) * (scale / size)
            scale = size
        elif size > 0.0:
            total += (size / scale) * (size / scale)
    return scale * sqrt(total)


def trial(own: Herkosidae) -> tuple[int, float]:
    """Make the step whole and in halves.

    Return how it went and the estimate; the selection is that of the whole step.
    """
    t, h = own.t, own.h
    state = one_step(False, t, h, own.start, own.coarse, own)
    note_selection(own)
    if state == OK:
        state = one_step(True, t, h / 2.0, own.start, own.middle, own)
    if state == OK:
        state = one_step(False, t + h / 2.0, h / 2.0, own.middle, own.fine, own)
    error = 0.0
    if state == OK:
        error = distance(own.coarse, own.fine, own.n)
    return state, error / (2.0**own.order - 1.0)


def adaptive_step(own: Herkosidae) -> int:
    """Try until a step is accepted, then plan the next one.

    Growth and shrinkage have no limit, as in the original.

    The original would try for ever if the estimate is not a number, or if the step no longer moves t: here
    both end the run.
    """
    t, p, h, error = own.t, own.order, own.h, 0.0
    while True:
        h = own.h
        state, error = trial(own)
        if state != OK:
            return state
        if not error < 1e300:
            return NOT_FINITE
        if error <= own.eps0:
            break
        own.rejected += 1
        own.h = own.beta * h * (own.eps0 / error) ** (1.0 / p)
        if t + own.h == t:
            return UNDERFLOW
    if t + h == t:
        return UNDERFLOW
    after = t + h
    proposal = own.beta * h * (own.eps0 / error) ** (1.0 / (p + 1))
    own.h = own.t_end - after if after + proposal > own.t_end else proposal
    own.t = after
    return OK


def constant_step(own: Herkosidae) -> int:
    """Make one step of the given length from t0 + k h."""
    coarse, h = own.coarse, own.h
    t = own.t_start + own.done * h
    state = one_step(False, t, h, own.start, coarse, own)
    note_selection(own)
    if state == OK:
        own.done += 1
        own.t = t + h
        for i in range(own.n):
            if not abs(coarse[i]) < 1e300:
                state = NOT_FINITE
    return state


def keep(own: Herkosidae) -> None:
    """Go on from the value that is kept, and write it down."""
    n, row, start, points = own.n, own.accepted, own.start, own.points
    fine = own.keep_fine and own.adaptive
    for i in range(n):
        value = own.fine[i] if fine else own.coarse[i]
        start[i] = value
        points[row * n + i] = value
    own.times[row] = own.t
    own.widths[row] = own.h
    if selection_changed(own):
        own.change_rows[own.changes] = row
        own.changes += 1
    own.accepted = row + 1


def selection_changed(own: Herkosidae) -> bool:
    """Tell whether other components are algebraic than in the step before, and write them down."""
    m, selected, before, changed = own.m, own.selected, own.before, False
    for k in range(m):
        changed = changed or selected[k] != before[k]
    if changed:
        for k in range(m):
            before[k] = selected[k]
            own.change_components[own.changes * m + k] = selected[k]
    return changed


def advance(own: Herkosidae) -> int:
    """Make accepted steps until the end, a failure, or the arrays are full; `accepted` counts the points."""
    state = OK
    own.accepted = 0
    own.changes = 0
    while own.accepted < own.times.size:
        if own.adaptive:
            if not own.t < own.t_end:
                return FINISHED
            state = adaptive_step(own)
        else:
            if own.done >= own.steps:
                return FINISHED
            state = constant_step(own)
        if state != OK:
            return state
        keep(own)
    return FULL


PROGRAM = Program(advance)
