"""Values between steps: the tableau's dense output where it has one, else a shorter step of the method.

Both ways the algebraic components are completed by g = 0, so interpolated points lie on the constraints like
accepted ones. g = 0 may have other solutions, far away with pivots of the same sign: what is found must be
among the values the step has. Else it is followed from the nearest of them, or by shorter steps.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import (
    ACCEPT,
    ALGEBRAIC,
    BRANCH,
    DERIVATIVE,
    EXTEND,
    NO_CONVERGENCE,
    NONFINITE,
    OK,
    STEP,
    UNSEEN,
    HalfExplicit,
    kernel_at,
)
from herk.integrate.steppers.half_explicit.selecting import enter
from herk.integrate.steppers.half_explicit.step import same_branch
from herk.jit.state import Floats, Wholes, view

SMALL_STEPS = 16
SHORTEST = 64  # parts of the way that is gone by steps of the method
APART = 1e-2  # of a component: a step that is repeated ends there


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
    """Put the start of a step in force, its chord as guess of slopes."""
    n, y, new, slope = own.n, own.y, own.new, own.slope
    own.h_last = 0.0
    for c in range(n):
        y[c] = ends[c]
        new[c] = ends[c]
        slope[c] = (ends[n + c] - ends[c]) / h
    status = kernel_at(own.kernel)(ALGEBRAIC, t, 0.0, own)
    for i in range(own.pivots + own.sparse):  # the branch this step is on
        own.sign[i] = own.pivot[i] if branched else 0.0
    return kernel_at(own.kernel)(DERIVATIVE, t, 0.0, own) if status == OK else status


def prepare(t: float, h: float, ends: Floats, terms: int, branched: int, own: HalfExplicit) -> int:
    """Load the start of a step; for dense output repeat its stages."""
    status = load(t, h, ends, branched, own)
    if status == OK and terms > 0:
        status = kernel_at(own.kernel)(EXTEND, t, h, own)
        if status == OK and astray(ends, own):
            return NO_CONVERGENCE
    return status


def astray(ends: Floats, own: HalfExplicit) -> bool:
    """Tell whether a step that was repeated is another one than that of the run."""
    for c in range(own.n):
        end = ends[own.n + c]
        if not abs(own.new[c] - end) <= APART * (abs(end) + abs(ends[c]) + own.floor[c]):
            return True
    return max(own.roughness, own.roughness_free) > 2.0 * own.resolved


def prepare_again(t: float, h: float, ends: Floats, before: Floats, gone: float, own: HalfExplicit) -> int:
    """Repeat the stages with the guesses of the run, from the step before; the chord led astray."""
    own.h_last = gone
    for c in range(own.n):
        own.slope[c] = (ends[c] - before[c]) / gone
    status = kernel_at(own.kernel)(EXTEND, t, h, own)
    return NO_CONVERGENCE if status == OK and astray(ends, own) else status


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


def enclose(ends: Floats, probes: int, own: HalfExplicit) -> None:
    """Note between which values the algebraic components are in this step.

    They are resolved, so near a parabola: between the values known it leaves their range by less than its
    width.
    """
    lowest, highest = own.weight, own.relative  # free: no selection is made here
    for j in range(own.differential, own.n):
        c = own.order[j]
        low, high = min(ends[c], ends[own.n + c]), max(ends[c], ends[own.n + c])
        for q in range(1, probes + 1):
            low, high = min(low, known(q, c, ends, own)), max(high, known(q, c, ends, own))
        room = high - low + UNSEEN * max(abs(low), abs(high)) + own.floor[c]
        lowest[c], highest[c] = low - room, high + room


def among(own: HalfExplicit) -> bool:
    """Tell whether the algebraic components are between these values."""
    new, lowest, highest, order = own.new, own.weight, own.relative, own.order
    for j in range(own.differential, own.n):
        c = order[j]
        if not (lowest[c] <= new[c] <= highest[c]):
            return False
    return True


def bracket(theta: float, side: float, own: HalfExplicit) -> int:
    """Return which value of a step is nearest before (side < 0) or behind: 0 start, 1-3 probes, 4 end."""
    nearest = 0 if side < 0.0 else 4
    for q in range(1, own.probes + 1):
        if (node(q, own) - theta) * side >= 0.0 and (node(q, own) - node(nearest, own)) * side < 0.0:
            nearest = q
    return nearest


def node(q: int, own: HalfExplicit) -> float:
    """Return where in the step a value is known."""
    if q == 0 or q == 4:
        return 0.0 if q == 0 else 1.0
    return own.node_0 if q == 1 else own.node_1 if q == 2 else own.node_2


def known(q: int, c: int, ends: Floats, own: HalfExplicit) -> float:
    """Return the value of an algebraic component there."""
    if q == 0 or q == 4:
        return ends[c] if q == 0 else ends[own.n + c]
    return own.probed[(q - 1) * own.n + c]


def follow(t: float, theta: float, h: float, terms: int, ends: Floats, own: HalfExplicit) -> int:
    """Go from the nearest value of the step to theta by small steps: the guess was too far off."""
    n, new, kept, order = own.n, own.new, own.stage, own.order
    before, behind = bracket(theta, -1.0, own), bracket(theta, 1.0, own)
    near = before if theta - node(before, own) <= node(behind, own) - theta else behind
    for c in range(n):
        kept[c] = known(near, c, ends, own)
    for part in range(1, SMALL_STEPS + 1):
        share = node(near, own) + (theta - node(near, own)) * part / SMALL_STEPS
        polynomial(share, h, terms, own)
        for j in range(own.differential, n):
            new[order[j]] = kept[order[j]]
        status = kernel_at(own.kernel)(ALGEBRAIC, t + share * h, 0.0, own)
        if status != OK:
            return status
        if not same_branch(own):
            return BRANCH
        for c in range(n):
            kept[c] = new[c]
    return OK


def walk(t: float, gone: float, h: float, ends: Floats, branched: int, own: HalfExplicit) -> int:
    """Go from the start of a step by ever shorter steps of the method, until all of them are resolved.

    Across a jump none is; then a value between those at both ends of the step is one of it.
    """
    parts, status = 1, BRANCH
    while parts <= SHORTEST:
        status = load(t, h, ends, branched, own)
        for part in range(parts):
            if status == OK:
                status = kernel_at(own.kernel)(STEP, t + gone * part / parts, gone / parts, own)
            if status == OK and max(own.roughness, own.roughness_free) > own.resolved:
                status = BRANCH
            if status == OK and part < parts - 1:
                kernel_at(own.kernel)(ACCEPT, t, gone / parts, own)
        if status == OK:
            return OK
        parts *= 2
    if load(t, h, ends, branched, own) == OK and kernel_at(own.kernel)(STEP, t, gone, own) == OK:
        enclose(ends, 0, own)
        return OK if among(own) else status
    return status


def between(time: float, t: float, h: float, ends: Floats, terms: int, own: HalfExplicit) -> int:
    """Put the state at a time within the prepared step into the new point."""
    theta = (time - t) / h
    if terms == 0:
        status = kernel_at(own.kernel)(STEP, t, theta * h, own)
        rough = max(own.roughness, own.roughness_free) > own.resolved
        return BRANCH if status == OK and rough else status
    polynomial(theta, h, terms, own)
    linear_guess(theta, ends, own)
    status = kernel_at(own.kernel)(ALGEBRAIC, time, 0.0, own)
    if status == OK and same_branch(own) and among(own):
        return OK
    status = follow(t, theta, h, terms, ends, own)
    if status == OK and own.probes > 0 and not among(own):
        return BRANCH
    return status


def sample(
    own: HalfExplicit, t: Floats, y: Floats, slots: Wholes, times: Floats, branched: int, out: Floats
) -> int:
    """Evaluate at `times` (any order, inside the steps t).

    y holds the points by rows, slots[i] the selection of the step that led to i.
    """
    n, step, status = own.n, -1, OK
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
            status = prepare(t[i], h, ends, terms, branched, own)
            if status in (BRANCH, NO_CONVERGENCE) and i > 0:
                status = prepare_again(t[i], h, ends, view(y, i * n - n, n), t[i] - t[i - 1], own)
            enclose(ends, own.probes, own)
        if status == OK:
            status = between(times[q], t[i], h, ends, terms, own)
        if status in (BRANCH, NO_CONVERGENCE):
            status = walk(t[i], times[q] - t[i], h, ends, branched, own)
            step = -1  # what was prepared is gone
        if status != OK:
            return status
        for c in range(n):
            out[q * n + c] = own.new[c]
            total += 0.0 * own.new[c]
        if total != 0.0:
            return NONFINITE
    return OK
