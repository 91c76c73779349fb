"""Values between steps, compiled: the tableau's dense output where it has one, a shorter step of the same method otherwise.

Both ways the algebraic components are completed by g = 0, so interpolated points lie on the constraints like accepted ones.
"""

from __future__ import annotations

from herk.core.jit import compiled
from herk.method.drive import enter
from herk.method.memory import (
    AT,
    COMPLETE,
    DIFFERENTIAL,
    EXTEND,
    EXTRA,
    KERNEL,
    NEW,
    NONFINITE,
    OK,
    ORDER,
    PREDICTED,
    RATE,
    SLOPE,
    STAGES,
    STEP,
    TABLE_B,
    YDOT,
    K,
    N,
    Y,
)
from herk.method.signatures import kernel_at


@compiled()
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


@compiled()
def prepare(kernel, t, h, ends, terms, mem, ints):  # type: ignore[no-untyped-def]
    """Load the start of a step, the slopes between its ends as guesses and, for dense output, repeat its stages."""
    n = ints[N]
    for c in range(n):
        mem[ints[AT + Y] + c] = ends[c]
        mem[ints[AT + SLOPE] + c] = (ends[n + c] - ends[c]) / h
    status = kernel(RATE, t, 0.0, mem, ints)
    if status == OK and terms:
        status = kernel(EXTEND, t, h, mem, ints)
    return status


@compiled()
def polynomial(theta, h, terms, mem, ints):  # type: ignore[no-untyped-def]
    """Put the interpolated components that have derivatives into the new point: y + h sum_j k_j b_j(theta), b_j in Bernstein form."""
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


@compiled()
def linear_guess(theta, ends, mem, ints):  # type: ignore[no-untyped-def]
    """Start the other algebraic components between their values at both ends of the step."""
    n = ints[N]
    for j in range(ints[DIFFERENTIAL] + ints[PREDICTED], n):
        c = ints[ORDER + j]
        mem[ints[AT + NEW] + c] = (1.0 - theta) * ends[c] + theta * ends[n + c]


@compiled()
def sample(mem, ints, table, t, y, slots, times, out):  # type: ignore[no-untyped-def]
    """Evaluate at `times` (any order, inside the steps t): y holds the points by rows, slots[i] the selection of the step that led to i."""
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
            status = prepare(kernel_at(ints[KERNEL]), t[i], h, y[i * n : (i + 2) * n], terms, mem, ints)
            if status != OK:
                return status
        kernel = kernel_at(ints[KERNEL])
        theta = (times[q] - t[i]) / h
        if terms:
            polynomial(theta, h, terms, mem, ints)
            linear_guess(theta, y[i * n : (i + 2) * n], mem, ints)
            status = kernel(COMPLETE, times[q], 0.0, mem, ints)
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
