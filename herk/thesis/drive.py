"""The two loops of the program of 2017, compiled.

Constant steps, and step doubling with the coarse value kept.
"""

from __future__ import annotations

from math import sqrt

from herk.jit.compiled import compiled
from herk.thesis.memory import (
    ACCEPTED,
    ADAPTIVE,
    BETA,
    COARSE,
    DONE,
    EPS0,
    FINE,
    FINISHED,
    FULL,
    KEEP_FINE,
    LISTS,
    MIDDLE,
    NOT_FINITE,
    OK,
    ORDER,
    REJECTED,
    START,
    STEP,
    STEPS,
    T_END,
    T_START,
    UNDERFLOW,
    M,
    N,
    T,
)  # fmt: skip
from herk.thesis.onestep import one_step

ADVANCE = (
    "int64(float64[::1], int64[::1], int64[::1], float64[:, ::1], float64[::1], float64[::1], "
    "float64[:, ::1], float64[::1], float64[::1], int64[::1])"
)


@compiled()
def chosen(ints):  # type: ignore[no-untyped-def]
    """Return the algebraic components as bits."""
    mask = 0
    for k in range(ints[M]):
        mask |= 1 << (ints[LISTS + k] & 63)
    return mask


@compiled(forceinline=True)
def distance(a, b, n):  # type: ignore[no-untyped-def]
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


@compiled()
def trial(control, ints, at, weights, nodes, mem):  # type: ignore[no-untyped-def]
    """Make the step whole and in halves.

    Return how it went, the estimate, and the selection of the whole step.
    """
    n = ints[N]
    t, h = control[T], control[STEP]
    start, coarse = mem[at[START] : at[START + 1]], mem[at[COARSE] : at[COARSE + 1]]
    middle, fine = mem[at[MIDDLE] : at[MIDDLE + 1]], mem[at[FINE] : at[FINE + 1]]
    state = one_step(False, t, h, start, coarse, control, ints, at, weights, nodes, mem)
    mask = chosen(ints)
    if state == OK:
        state = one_step(True, t, h / 2, start, middle, control, ints, at, weights, nodes, mem)
    if state == OK:
        state = one_step(False, t + h / 2, h / 2, middle, fine, control, ints, at, weights, nodes, mem)
    error = distance(coarse, fine, n) if state == OK else 0.0
    return state, error / (2.0 ** ints[ORDER] - 1.0), mask


@compiled()
def adaptive_step(control, ints, at, weights, nodes, mem):  # type: ignore[no-untyped-def]
    """Try until a step is accepted, then plan the next one.

    Growth and shrinkage have no limit, as in the original.

    The original would try for ever if the estimate is not a number, or if the step no longer moves t: here
    both end the run.
    """
    t, p = control[T], ints[ORDER]
    while True:
        h = control[STEP]
        state, error, mask = trial(control, ints, at, weights, nodes, mem)
        if state != OK:
            return state, mask
        if not error < 1e300:
            return NOT_FINITE, mask
        if error <= control[EPS0]:
            break
        ints[REJECTED] += 1
        control[STEP] = control[BETA] * h * (control[EPS0] / error) ** (1.0 / p)
        if t + control[STEP] == t:
            return UNDERFLOW, mask
    if t + h == t:
        return UNDERFLOW, mask
    t += h
    proposal = control[BETA] * h * (control[EPS0] / error) ** (1.0 / (p + 1))
    control[STEP] = control[T_END] - t if t + proposal > control[T_END] else proposal
    control[T] = t
    return OK, mask


@compiled()
def constant_step(control, ints, at, weights, nodes, mem):  # type: ignore[no-untyped-def]
    """Make one step of the given length from t0 + k h."""
    h = control[STEP]
    t = control[T_START] + ints[DONE] * h
    state = one_step(
        False,
        t,
        h,
        mem[at[START] : at[START + 1]],
        mem[at[COARSE] : at[COARSE + 1]],
        control,
        ints,
        at,
        weights,
        nodes,
        mem,
    )
    mask = chosen(ints)
    if state == OK:
        ints[DONE] += 1
        control[T] = t + h
        for i in range(ints[N]):
            if not abs(mem[at[COARSE] + i]) < 1e300:
                state = NOT_FINITE
    return state, mask


@compiled(ADVANCE)
def advance(control, ints, at, weights, nodes, mem, points, times, steps, masks):  # type: ignore[no-untyped-def]
    """Make accepted steps until the end, a failure, or the arrays are full.

    Ints[ACCEPTED] counts the rows written.
    """
    n = ints[N]
    ints[ACCEPTED] = 0
    while ints[ACCEPTED] < times.shape[0]:
        if ints[ADAPTIVE] == 1:
            if not control[T] < control[T_END]:
                return FINISHED
            state, mask = adaptive_step(control, ints, at, weights, nodes, mem)
        else:
            if ints[DONE] >= ints[STEPS]:
                return FINISHED
            state, mask = constant_step(control, ints, at, weights, nodes, mem)
        if state != OK:
            return state
        kept = at[FINE] if ints[KEEP_FINE] == 1 and ints[ADAPTIVE] == 1 else at[COARSE]
        row = ints[ACCEPTED]
        for i in range(n):
            mem[at[START] + i] = mem[kept + i]
            points[row, i] = mem[kept + i]
        times[row] = control[T]
        steps[row] = control[STEP]
        masks[row] = mask
        ints[ACCEPTED] = row + 1
    return FULL
