"""Values between steps, compiled.

The tableau's dense output where it has one, a shorter step of the same method otherwise.

Both ways the algebraic components are completed by g = 0, so interpolated points lie on the constraints like
accepted ones.
"""

from __future__ import annotations

from herk.integrate.loop import enter
from herk.integrate.steppers.half_explicit.memory import (
    AT,
    BRANCH,
    COMPLETE,
    DIFFERENTIAL,
    EXTEND,
    EXTRA,
    KERNEL,
    NEW,
    NONFINITE,
    OK,
    ORDER,
    PIVOT,
    PIVOTS,
    PREDICTED,
    RATE,
    SIGN,
    SLOPE,
    STAGE,
    STAGES,
    STEP,
    TABLE_B,
    YDOT,
    K,
    N,
    Y,
)
from herk.integrate.steppers.half_explicit.signatures import kernel_at
from herk.integrate.steppers.half_explicit.step import same_branch
from herk.jit.compiled import compiled, inner
from herk.jit.stack import view

SMALL_STEPS = 16


@inner()
def interval(t, time, forward):  # type: ignore[no-untyped-def]
    """Return the step that contains a time, by bisection."""
    low, high = 0, t.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if (t[middle] <= time) == forward:
            low = middle
        else:
            high = middle
    return low


@inner()
def prepare(kernel, t, h, ends, terms, branched, mem, ints):  # type: ignore[no-untyped-def]
    """Load the start of a step, the slopes between its ends as guesses and, for dense output.

    Repeat its stages.
    """
    n = ints[N]
    for c in range(n):
        mem[ints[AT + Y] + c] = ends[c]
        mem[ints[AT + NEW] + c] = ends[c]
        mem[ints[AT + SLOPE] + c] = (ends[n + c] - ends[c]) / h
    status = kernel(COMPLETE, t, 0.0, mem, ints)
    for i in range(ints[PIVOTS]):  # the branch this step is on
        mem[ints[AT + SIGN] + i] = mem[ints[AT + PIVOT] + i] if branched else 0.0
    if status == OK:
        status = kernel(RATE, t, 0.0, mem, ints)
    if status == OK and terms:
        status = kernel(EXTEND, t, h, mem, ints)
    return status


@inner()
def prepare_again(kernel, t, h, ends, before, gone, mem, ints):  # type: ignore[no-untyped-def]
    """Repeat the stages with the guesses the run had, from the step before.

    The chord of this step led to another branch.
    """
    n = ints[N]
    for c in range(n):
        mem[ints[AT + SLOPE] + c] = (ends[c] - before[c]) / gone
    return kernel(EXTEND, t, h, mem, ints)


@inner()
def polynomial(theta, h, terms, mem, ints):  # type: ignore[no-untyped-def]
    """Put the interpolated components that have derivatives into the new point.

    Y + h sum_j k_j b_j(theta), b_j in Bernstein form.
    """
    n, new = ints[N], ints[AT + NEW]
    width, degree = ints[DIFFERENTIAL] + ints[PREDICTED], terms - 1
    for j in range(width):
        mem[new + ints[ORDER + j]] = mem[ints[AT + Y] + ints[ORDER + j]]
    for s in range(ints[STAGES] + 1 + ints[EXTRA]):
        row = ints[AT + TABLE_B] + s * terms
        # From the nearer end on, since theta may round to 1.
        near, first, forth = (theta, 0, 1) if theta <= 0.5 else (1.0 - theta, degree, -1)
        weight, basis = 0.0, (1.0 - near) ** degree
        for d in range(terms):
            weight += basis * mem[row + first + forth * d]
            basis *= near / (1.0 - near) * (degree - d) / (d + 1)
        for j in range(width):
            mem[new + ints[ORDER + j]] += h * weight * mem[ints[AT + K] + s * n + j]


@inner()
def linear_guess(theta, ends, mem, ints):  # type: ignore[no-untyped-def]
    """Start the other algebraic components between their values at both ends of the step."""
    n = ints[N]
    for j in range(ints[DIFFERENTIAL] + ints[PREDICTED], n):
        c = ints[ORDER + j]
        mem[ints[AT + NEW] + c] = (1.0 - theta) * ends[c] + theta * ends[n + c]


@inner()
def follow(kernel, t, theta, h, terms, start, mem, ints):  # type: ignore[no-untyped-def]
    """Go from the start of the step to theta by small steps, each beginning where the one before ended.

    The guess was too far off.
    """
    n, new, kept = ints[N], ints[AT + NEW], ints[AT + STAGE]
    for c in range(n):
        mem[kept + c] = start[c]
    for part in range(1, SMALL_STEPS + 1):
        share = theta * part / SMALL_STEPS
        polynomial(share, h, terms, mem, ints)
        for j in range(ints[DIFFERENTIAL] + ints[PREDICTED], n):
            mem[new + ints[ORDER + j]] = mem[kept + ints[ORDER + j]]
        status = kernel(COMPLETE, t + share * h, 0.0, mem, ints)
        if status != OK:
            return status
        if not same_branch(mem, ints):
            return BRANCH
        for c in range(n):
            mem[kept + c] = mem[new + c]
    return OK


@compiled()
def sample(mem, ints, table, t, y, slots, times, branched, out):  # type: ignore[no-untyped-def]
    """Evaluate at `times` (any order, inside the steps t).

    Y holds the points by rows, slots[i] the selection of the step that led to i.
    """
    n, step = ints[N], -1
    terms = (ints[AT + YDOT] - ints[AT + TABLE_B]) // (ints[STAGES] + 1 + ints[EXTRA])
    forward = t[t.size - 1] >= t[0]
    for q in range(times.size):
        i = interval(t, times[q], forward)
        if times[q] == t[i + 1] or times[q] == t[i]:
            start = (i + 1) * n if times[q] == t[i + 1] else i * n
            for c in range(n):
                out[q, c] = y[start + c]
            continue
        h = t[i + 1] - t[i]
        if i != step:
            step = i
            enter(table[slots[i + 1]], ints)
            ends = view(y, i * n, 2 * n)
            status = prepare(kernel_at(ints[KERNEL]), t[i], h, ends, terms, branched, mem, ints)
            if status == BRANCH and i > 0:
                status = prepare_again(
                    kernel_at(ints[KERNEL]), t[i], h, ends, view(y, i * n - n, n), t[i] - t[i - 1], mem, ints
                )
            if status != OK:
                return status
        kernel = kernel_at(ints[KERNEL])
        theta = (times[q] - t[i]) / h
        if terms:
            polynomial(theta, h, terms, mem, ints)
            linear_guess(theta, view(y, i * n, 2 * n), mem, ints)
            status = kernel(COMPLETE, times[q], 0.0, mem, ints)
            if status != OK or not same_branch(mem, ints):
                status = follow(kernel, t[i], theta, h, terms, view(y, i * n, n), mem, ints)
        else:
            status = kernel(STEP, t[i], theta * h, mem, ints)
        if status != OK:
            return status
        total = 0.0
        for c in range(n):
            out[q, c] = mem[ints[AT + NEW] + c]
            total += 0.0 * out[q, c]
        if total != 0.0:
            return NONFINITE
    return OK
