"""One half-explicit Runge-Kutta step at run-time sizes (Algorithm 3.3).

Differential components by the tableau, the others by g = 0.

The new point is treated as one more stage, and so are the extra stages of dense output. A model brings stage
code of its own, reached by address; systems given by callables are solved by the Newton iteration and the
linear algebra of this room.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.memory import (
    ACCEPT,
    AT,
    BEST_PIVOT,
    BRANCH,
    COMPLETE,
    DETERIORATED,
    DIFFERENTIAL,
    ERROR,
    ESTIMATES,
    EXTRA,
    FLOOR,
    GENERAL,
    GUESSED,
    LAST_STAGE,
    NEW,
    NFEV,
    NGEV,
    NIT,
    NO_CONVERGENCE,
    NONFINITE,
    OK,
    ORDER,
    PARAMETERS,
    PIVOT,
    PIVOTS,
    PREDICTED,
    PROBE,
    PROBED,
    PROBES,
    RATE,
    RESIDUAL,
    ROUGHNESS,
    ROUGHNESS_FREE,
    SIGN,
    SLOPE,
    STAGE,
    STAGE_COMPLETE,
    STAGE_RATE,
    STAGE_RESIDUAL,
    STAGE_T,
    STAGES,
    STEP,
    TABLE_A,
    TABLE_C,
    TABLE_E,
    TIGHT,
    TOLERANCE,
    UNSEEN,
    WEIGHTS,
    WORK,
    WORSE,
    WORST_RESIDUAL,
    K,
    N,
    Y,
)
from herk.integrate.steppers.half_explicit.signatures import (
    complete_at,
    general_complete_at,
    general_rate_at,
    general_residual_at,
    rate_at,
    residual_at,
)
from herk.jit.compiled import compiled, inner
from herk.jit.stack import view


@inner()
def complete(t, z, tolerance, mem, ints):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the algebraic components of the point at mem[z:].

    Return the iterations, -1 on failure.
    """
    if ints[GENERAL]:
        return general_complete_at(ints[STAGE_COMPLETE])(t, z, tolerance, mem, ints)
    n = ints[N]
    point, floor, pivots = view(mem, z, n), view(mem, ints[AT + FLOOR], n), view(mem, ints[AT + PIVOT], n)
    work, par = view(mem, ints[AT + WORK], 1), view(mem, ints[AT + PARAMETERS], 1)
    iterations = complete_at(ints[STAGE_COMPLETE])(t, point, tolerance, floor, pivots, work, par)
    ints[NGEV] += 1
    ints[NIT] += max(iterations, 0)
    return iterations


@inner()
def rate(t, z, row, mem, ints):  # type: ignore[no-untyped-def]
    """Write the derivatives at the point mem[z:] into row `row` of the stages.

    In the order of the components.
    """
    if ints[GENERAL]:
        return general_rate_at(ints[STAGE_RATE])(t, z, row, mem, ints)
    n = ints[N]
    start = ints[AT + K] + row * n
    work, par = view(mem, ints[AT + WORK], 1), view(mem, ints[AT + PARAMETERS], 1)
    ints[NFEV] += 1
    return rate_at(ints[STAGE_RATE])(t, view(mem, z, n), view(mem, start, n), work, par)


@inner()
def residual(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Return the largest |g| at the point mem[z:]."""
    if ints[GENERAL]:
        return general_residual_at(ints[STAGE_RESIDUAL])(t, z, mem, ints)
    work, par = view(mem, ints[AT + WORK], 1), view(mem, ints[AT + PARAMETERS], 1)
    return residual_at(ints[STAGE_RESIDUAL])(t, view(mem, z, ints[N]), work, par)


@inner()
def same_branch(mem, ints):  # type: ignore[no-untyped-def]
    """Tell whether every pivot has the sign it had when the selection was made.

    Where one changes, solutions of g = 0 meet.
    """
    for i in range(ints[PIVOTS]):
        if mem[ints[AT + PIVOT] + i] * mem[ints[AT + SIGN] + i] < 0.0:
            return False
    return True


@inner()
def roughness(mem, ints):  # type: ignore[no-untyped-def]
    """Measure how far the algebraic components are from a parabola within the step, beside their change.

    Their new values satisfy g = 0 whatever the step, so no error estimate limits it; but a step in which they
    are not resolved may pass a pole, or end on another branch. The parabola goes through start, first probe
    and end, and is compared at the others.
    """
    n, nd, y, new, probed = ints[N], ints[DIFFERENTIAL], ints[AT + Y], ints[AT + NEW], ints[AT + PROBED]
    mem[ROUGHNESS], mem[ROUGHNESS_FREE] = 0.0, 0.0
    if ints[PROBES] == 0:
        return
    for j in range(nd, n):
        c = ints[ORDER + j]
        start = mem[y + c]
        middle, end = mem[probed + c] - start, mem[new + c] - start
        early, late = mem[probed + n + c] - start, mem[probed + 2 * n + c] - start
        off = abs(early - mem[WEIGHTS] * middle - mem[WEIGHTS + 1] * end)
        off = max(off, abs(late - mem[WEIGHTS + 2] * middle - mem[WEIGHTS + 3] * end))
        change = max(abs(middle), abs(early), abs(late), abs(end))
        size = max(abs(start), abs(mem[new + c])) + mem[ints[AT + FLOOR] + c]
        place = ROUGHNESS_FREE if ints[ORDER + n + c] else ROUGHNESS
        mem[place] = max(mem[place], off / (change + UNSEEN * size))


@inner()
def stage(i, z, tolerance, t, h, mem, ints):  # type: ignore[no-untyped-def]
    """Compute stage i at mem[z:] and its derivatives (3.2a-c).

    The status is negative if it has no solution.
    """
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
    if not same_branch(mem, ints):
        return BRANCH
    for q in range(ints[PROBES]):
        if i == ints[PROBE + q]:
            for j in range(ints[DIFFERENTIAL], n):
                mem[ints[AT + PROBED] + q * n + ints[ORDER + j]] = mem[z + ints[ORDER + j]]
    return rate(t + node * h, z, i, mem, ints)


@inner()
def whole_step(t, h, mem, ints):  # type: ignore[no-untyped-def]
    """Compute all stages, the new point and the error estimates of the differential components."""
    n, stages, k = ints[N], ints[STAGES], ints[AT + K]
    for i in range(1, stages + 1):
        last = i == stages
        ints[LAST_STAGE] = last
        z = ints[AT + NEW] if last else ints[AT + STAGE]
        status = stage(i, z, mem[TIGHT] if last else mem[TOLERANCE], t, h, mem, ints)
        if status != OK:
            return status
    ints[LAST_STAGE] = 0
    for q in range(ints[ESTIMATES]):
        e = ints[AT + TABLE_E] + q * (stages + 1)
        for j in range(ints[DIFFERENTIAL]):
            total = 0.0
            for s in range(stages + 1):
                total += mem[e + s] * mem[k + s * n + j]
            mem[ints[AT + ERROR] + q * n + j] = h * total
    roughness(mem, ints)
    mem[RESIDUAL] = residual(t + h, ints[AT + NEW], mem, ints)
    total = 0.0
    for j in range(ints[DIFFERENTIAL]):  # the algebraic components were solved for
        total += 0.0 * mem[ints[AT + NEW] + ints[ORDER + j]]
    return OK if total == 0.0 else NONFINITE


@inner()
def accept(h, mem, ints):  # type: ignore[no-untyped-def]
    """Move on to the new point; WORSE if a pivot is clearly smaller than its best value so far."""
    n, y, new, k = ints[N], ints[AT + Y], ints[AT + NEW], ints[AT + K]
    width = ints[DIFFERENTIAL] + ints[PREDICTED]
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
        pivot, best = abs(mem[ints[AT + PIVOT] + i]), ints[AT + BEST_PIVOT] + i
        if not pivot >= DETERIORATED * mem[best]:
            status = WORSE
        mem[best] = max(mem[best], pivot)
    return status


@compiled()
def kernel(task, t, h, mem, ints):  # type: ignore[no-untyped-def]
    """Do one task at the point (t, mem[Y]).

    A step, its acceptance, the stages of dense output, derivatives, algebraic components.
    """
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
