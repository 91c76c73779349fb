"""One half-explicit Runge-Kutta step at run-time sizes (Algorithm 3.3): differential components by the tableau, the others by g = 0.

The new point is treated as one more stage, and so are the extra stages of dense output. The functions `complete` and `rate` are looked
up by name, like `residual`: here they work on callables; in a generated kernel they work on the code of a model, under the same text.
"""

from __future__ import annotations

from herk.core.jit import compiled
from herk.method.memory import (
    ACCEPT,
    AT,
    BEST_PIVOT,
    COMPLETE,
    DETERIORATED,
    DIFFERENTIAL,
    ERROR,
    ESTIMATES,
    EXTRA,
    FRESH_SIZE,
    GUESSED,
    LU_VALID,
    NEW,
    NO_CONVERGENCE,
    NONFINITE,
    OK,
    ORDER,
    PIVOT,
    PIVOTS,
    PREDICTED,
    RATE,
    RESIDUAL,
    SLOPE,
    STAGE,
    STAGE_T,
    STAGES,
    STEP,
    TABLE_A,
    TABLE_C,
    TABLE_E,
    TIGHT,
    TOLERANCE,
    WORSE,
    WORST_RESIDUAL,
    K,
    M,
    N,
    Y,
)
from herk.method.newton import complete, residual
from herk.method.rate import rate


@compiled()
def stage(i, z, tolerance, t, h, mem, ints):  # type: ignore[no-untyped-def]
    """Compute stage i at mem[z:] and its derivatives (3.2a-c); the status is negative if it has no solution."""
    n, width, y, k = ints[N], ints[DIFFERENTIAL] + ints[PREDICTED], ints[AT + Y], ints[AT + K]
    rows = ints[STAGES] + 1 + ints[EXTRA]
    a = ints[AT + TABLE_A] + i * rows
    node = mem[ints[AT + TABLE_C] + i]
    for j in range(width):
        total = 0.0
        for s in range(min(i, rows)):
            total += mem[a + s] * mem[k + s * n + j]
        component = ints[ORDER + j]
        mem[z + component] = mem[y + component] + h * total
    for j in range(width, n):
        component = ints[ORDER + j]
        mem[z + component] = mem[y + component] + h * node * mem[ints[AT + SLOPE] + component]
    mem[STAGE_T] = t + node * h
    iterations = complete(t + node * h, z, tolerance, mem, ints)
    if iterations < 0:
        return NO_CONVERGENCE
    return rate(t + node * h, z, i, mem, ints)


@compiled()
def whole_step(t, h, mem, ints):  # type: ignore[no-untyped-def]
    """Compute all stages, the new point and the error estimates of the differential components."""
    n, stages, k = ints[N], ints[STAGES], ints[AT + K]
    for i in range(1, stages + 1):
        last = i == stages
        z = ints[AT + NEW] if last else ints[AT + STAGE]
        status = stage(i, z, mem[TIGHT] if last else mem[TOLERANCE], t, h, mem, ints)
        if status != OK:
            return status
    for q in range(ints[ESTIMATES]):
        e = ints[AT + TABLE_E] + q * (stages + 1)
        for j in range(ints[DIFFERENTIAL]):
            total = 0.0
            for s in range(stages + 1):
                total += mem[e + s] * mem[k + s * n + j]
            mem[ints[AT + ERROR] + q * n + j] = h * total
    mem[RESIDUAL] = residual(t + h, ints[AT + NEW], mem, ints)
    total = 0.0
    for j in range(ints[DIFFERENTIAL]):  # the algebraic components were solved for
        total += 0.0 * mem[ints[AT + NEW] + ints[ORDER + j]]
    return OK if total == 0.0 else NONFINITE


@compiled()
def accept(h, mem, ints):  # type: ignore[no-untyped-def]
    """Move on to the new point; WORSE if a pivot has become clearly smaller than its best value since the selection."""
    n, y, new, k = ints[N], ints[AT + Y], ints[AT + NEW], ints[AT + K]
    width = ints[DIFFERENTIAL] + ints[PREDICTED]
    if ints[M] <= FRESH_SIZE:
        ints[LU_VALID] = 0
    for j in range(width):
        mem[k + j] = mem[k + ints[STAGES] * n + j]
    for j in range(width, ints[DIFFERENTIAL] + ints[GUESSED]):
        i = ints[ORDER + j]
        mem[ints[AT + SLOPE] + i] = (mem[new + i] - mem[y + i]) / h
    for i in range(n):
        mem[y + i] = mem[new + i]
    mem[WORST_RESIDUAL] = max(mem[WORST_RESIDUAL], mem[RESIDUAL])
    status = OK
    for i in range(ints[PIVOTS]):
        pivot, best = mem[ints[AT + PIVOT] + i], ints[AT + BEST_PIVOT] + i
        if not pivot >= DETERIORATED * mem[best]:
            status = WORSE
        mem[best] = max(mem[best], pivot)
    return status


@compiled()
def kernel(task, t, h, mem, ints):  # type: ignore[no-untyped-def]
    """Do one task at the point (t, mem[Y]): a step, its acceptance, the stages of dense output, derivatives, algebraic components."""
    if task == STEP:
        return whole_step(t, h, mem, ints)
    if task == ACCEPT:
        return accept(h, mem, ints)
    if task == RATE:
        return rate(t, ints[AT + Y], 0, mem, ints)
    if task == COMPLETE:
        return OK if complete(t, ints[AT + NEW], mem[TIGHT], mem, ints) >= 0 else NO_CONVERGENCE
    status = whole_step(t, h, mem, ints)
    for i in range(ints[STAGES] + 1, ints[STAGES] + 1 + ints[EXTRA]):
        if status == OK:
            status = stage(i, ints[AT + STAGE], mem[TOLERANCE], t, h, mem, ints)
    return status
