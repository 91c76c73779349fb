"""Values between steps: the tableau's dense output where it has one, else a shorter step of the method.

Both ways the algebraic components are completed by g = 0, so interpolated points lie on the constraints like
accepted ones.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import (
    ALGEBRAIC,
    BRANCH,
    DERIVATIVE,
    EXTEND,
    NO_CONVERGENCE,
    NONFINITE,
    OK,
    STEP,
    HalfExplicit,
    kernel_at,
)
from herk.integrate.steppers.half_explicit.selecting import enter
from herk.integrate.steppers.half_explicit.step import same_branch
from herk.jit.state import Floats, Wholes, view

SMALL_STEPS = 16


def interval(t: Floats, time: float, forward: bool) -> int:
    """Return the step that contains a time, by bisection."""
    low, high = 0, t.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if (t[middle] <= time) == forward:
            low = middle
        else:
            high = middle
    return low


def load(t: float, h: float, ends: Floats, branched: int, own: HalfExplicit) -> int:
    """Load the start of a step, its chord as guesses."""
    n, y, new, slope = own.n, own.y, own.new, own.slope
    own.h_last = 0.0
    for c in range(n):
        y[c] = ends[c]
        new[c] = ends[c]
        slope[c] = (ends[n + c] - ends[c]) / h
    status = kernel_at(own.kernel)(ALGEBRAIC, t, 0.0, own)
    for i in range(own.pivots + own.sparse):  # the branch this step is on
        own.sign[i] = own.pivot[i] if branched else 0.0
    return status if status != OK else kernel_at(own.kernel)(DERIVATIVE, t, 0.0, own)


def prepare(t: float, h: float, ends: Floats, terms: int, branched: int, own: HalfExplicit) -> int:
    """Load the start of a step; for dense output repeat its stages."""
    status = load(t, h, ends, branched, own)
    return kernel_at(own.kernel)(EXTEND, t, h, own) if status == OK and terms > 0 else status


def prepare_again(t: float, h: float, ends: Floats, before: Floats, gone: float, own: HalfExplicit) -> int:
    """Repeat the stages with the guesses of the run, from the step before; the chord led astray."""
    own.h_last = gone
    for c in range(own.n):
        own.slope[c] = (ends[c] - before[c]) / gone
    return kernel_at(own.kernel)(EXTEND, t, h, own)


def polynomial(theta: float, h: float, terms: int, own: HalfExplicit) -> None:
    """Put the interpolated components that have derivatives into the new point.

    y + h sum_j k_j b_j(theta), b_j in Bernstein form.
    """
    n, new, y, k, order, b = own.n, own.new, own.y, own.k, own.order, own.table_b
    width, degree = own.differential + own.predicted, terms - 1
    near = theta if theta <= 0.5 else 1.0 - theta  # from the nearer end on, since theta may round to 1
    for j in range(width):
        new[order[j]] = y[order[j]]
    for s in range(own.stages + 1 + own.extra):
        first = s * terms if theta <= 0.5 else s * terms + degree
        forth = 1 if theta <= 0.5 else -1
        weight, basis = 0.0, (1.0 - near) ** degree
        for d in range(terms):
            weight += basis * b[first + forth * d]
            basis *= near / (1.0 - near) * (degree - d) / (d + 1)
        for j in range(width):
            new[order[j]] += h * weight * k[s * n + j]


def linear_guess(theta: float, ends: Floats, own: HalfExplicit) -> None:
    """Start the other algebraic components between their values at both ends of the step."""
    n, order = own.n, own.order
    for j in range(own.differential + own.predicted, n):
        c = order[j]
        own.new[c] = (1.0 - theta) * ends[c] + theta * ends[n + c]


def follow(t: float, theta: float, h: float, terms: int, start: Floats, own: HalfExplicit) -> int:
    """Go from the start of the step to theta by small steps: the guess was too far off."""
    n, new, kept, order = own.n, own.new, own.stage, own.order
    for c in range(n):
        kept[c] = start[c]
    for part in range(1, SMALL_STEPS + 1):
        share = theta * part / SMALL_STEPS
        polynomial(share, h, terms, own)
        for j in range(own.differential + own.predicted, n):
            new[order[j]] = kept[order[j]]
        status = kernel_at(own.kernel)(ALGEBRAIC, t + share * h, 0.0, own)
        if status != OK:
            return status
        if not same_branch(own):
            return BRANCH
        for c in range(n):
            kept[c] = new[c]
    return OK


def by_steps(time: float, t: float, h: float, ends: Floats, branched: int, own: HalfExplicit) -> int:
    """Go from the start of a step to a time in short ones: stages of the long one left the branch."""
    n, y, new, k, last, part = own.n, own.y, own.new, own.k, own.stages * own.n, (time - t) / SMALL_STEPS
    status = load(t, h, ends, branched, own)
    for i in range(SMALL_STEPS):
        if status != OK:
            return status
        status = kernel_at(own.kernel)(STEP, t + i * part, part, own)
        for c in range(n):
            own.slope[c] = (new[c] - y[c]) / part
            y[c] = new[c]
            k[c] = k[last + c]
        own.h_last = part
    return status


def between(time: float, t: float, h: float, ends: Floats, terms: int, own: HalfExplicit) -> int:
    """Put the state at a time within the prepared step into the new point."""
    theta = (time - t) / h
    if terms == 0:
        return kernel_at(own.kernel)(STEP, t, theta * h, own)
    polynomial(theta, h, terms, own)
    linear_guess(theta, ends, own)
    status = kernel_at(own.kernel)(ALGEBRAIC, time, 0.0, own)
    if status == OK and same_branch(own):
        return OK
    return follow(t, theta, h, terms, ends, own)


def sample(
    own: HalfExplicit, t: Floats, y: Floats, slots: Wholes, times: Floats, branched: int, out: Floats
) -> int:
    """Evaluate at `times` (any order, inside the steps t).

    y holds the points by rows, slots[i] the selection of the step that led to i.
    """
    n, step, prepared = own.n, -1, OK
    terms = own.table_b.size // (own.stages + 1 + own.extra)
    forward = t[t.size - 1] >= t[0]
    for q in range(times.size):
        i = interval(t, times[q], forward)
        h, ends, total = t[i + 1] - t[i], view(y, i * n, 2 * n), 0.0
        if times[q] == t[i + 1] or times[q] == t[i]:
            start = n if times[q] == t[i + 1] else 0
            for c in range(n):
                out[q * n + c] = ends[start + c]
            continue
        if i != step:
            step = i
            enter(slots[i + 1], own)
            prepared = prepare(t[i], h, ends, terms, branched, own)
            if prepared in (BRANCH, NO_CONVERGENCE) and i > 0:
                prepared = prepare_again(t[i], h, ends, view(y, i * n - n, n), t[i] - t[i - 1], own)
        status = prepared if prepared != OK else between(times[q], t[i], h, ends, terms, own)
        if prepared in (BRANCH, NO_CONVERGENCE):
            status = by_steps(times[q], t[i], h, ends, branched, own)
        if status != OK:
            return status
        for c in range(n):
            out[q * n + c] = own.new[c]
            total += 0.0 * own.new[c]
        if total != 0.0:
            return NONFINITE
    return OK
