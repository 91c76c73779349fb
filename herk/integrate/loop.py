"""The stepping loop, compiled: attempt, judge, accept, keep the selection while it is good.

Back to Python after every chunk.
"""

from __future__ import annotations

from herk.integrate.controller import damping, error_norm, first_step, next_step, spread
from herk.integrate.steppers.half_explicit.memory import (
    ACCEPT,
    ANY_SIZE,
    AT,
    BEST_PIVOT,
    BRANCH,
    COMPLETE,
    DETERIORATED,
    DIFFERENTIAL,
    E_CHANGED,
    E_MODE,
    E_STACKED,
    EPS,
    FLOOR,
    GUESSED,
    JACOBIAN,
    KERNEL,
    LU_VALID,
    NEW,
    NREJECT,
    OK,
    ORDER,
    PIVOT,
    PIVOT_BEFORE,
    PIVOT_NOW,
    PIVOT_PEAK,
    PIVOTS,
    PREDICTED,
    PROBED,
    PROBES,
    RATE,
    ROUGH,
    ROUGHNESS,
    ROUGHNESS_FREE,
    SIGN,
    STAGE_COMPLETE,
    STEP,
    UNSEEN,
    WORSE,
    M,
    N,
    Y,
)
from herk.integrate.steppers.half_explicit.newton import jacobian
from herk.integrate.steppers.half_explicit.signatures import kernel_at
from herk.jit.compiled import compiled, inner
from herk.jit.stack import view
from herk.linalg.selection import IN_ANY_UNITS, RANK_TOLERANCE, eliminate, scale

# How a chunk of steps ends.
RUNNING, FINISHED, CHUNK_FULL, NEED_SELECTION, UNDERFLOW, STUCK, RANK_LOST = 0, 1, 2, 3, -1, -2, -3

# Places in `run` (floats); the absolute tolerances stand behind.
T, H, T_END, T_START, H_MAX, RTOL, OLD_ERROR, EXPONENT, H_TRIED, THRESHOLD, JUMP, H_LAST, RESOLVED = range(
    13
)  # H = 0: to be chosen
RUN_SCALARS = 16  # then atol (n), then the size of each component so far (n), then scratch (m, n, n)

# RESOLVED: how far algebraic components may be from a parabola within a step, beside their change.

# Places in `plan` (integers); the selection wanted from Python stands behind.
FIXED, INDEX, TOTAL, SLOT, KNOWN, COUNT, REJECTED, CAUSE, PENDING, ALWAYS, JUMPS = range(11)
# PENDING: select before stepping; ALWAYS: at every step
PLAN_SCALARS = 16  # then costs (n) of the columns, then the wanted algebraic components (m)

# Places in a row of the table of selections, followed by the order of the components.
ROW_KERNEL, ROW_DIFFERENTIAL, ROW_PREDICTED, ROW_GUESSED, ROW_PIVOTS = range(5)
ROW_STAGE = 5  # three addresses of stage code
ROW_ORDER = 8

# rejections in a row that put the selection under suspicion: it is made anew, by Procedure 3.11 to the letter
SUSPECT = 2
NEARLY_ZERO = 1e-6  # a pivot that turned back this close to zero was zero
TINY = 1e-9  # steps, beside the time, in which something that still is not resolved may be a jump
RECHECK = 0.95  # if the old selection is confirmed, it is looked at again after a further fall to this part


@inner(forceinline=True)  # once per step: a call would push every array on the stack
def attempt(mem, ints, run, plan, table):  # type: ignore[no-untyped-def]
    """Try steps from the current point until one is accepted.

    A failing stage asks for a new selection first, then for a shorter step.
    """
    fresh = False
    while True:
        h, target = plan_step(run, plan)
        run[H_TRIED] = h
        if h == 0.0:
            return UNDERFLOW
        status = kernel_at(ints[KERNEL])(STEP, run[T], h, mem, ints)
        damped = 1.0
        if status == OK and not plan[FIXED] and turning(h, mem, ints, run):
            plan[CAUSE] = BRANCH
            run[H] = 0.25 * h
            plan[REJECTED] += 1
            ints[NREJECT] += 1
            ints[LU_VALID] = 0
            shortest = 16.0 * EPS * (abs(run[T]) + 1e-3 * abs(run[T_END] - run[T_START]))
            if nearly_zero(mem, ints) or not abs(run[H]) > shortest:
                return UNDERFLOW
            continue
        if status == OK and not plan[FIXED]:
            damped = damping(mem, ints, run)
            status = spread(kernel_at(ints[KERNEL]), target, mem, ints)
        if status == OK:
            if plan[FIXED]:
                run[T] = target
                plan[INDEX] += 1
                plan[CAUSE] = OK
                return RUNNING
            error = damped * error_norm(mem, ints, run)
            run[H] = next_step(h, error, plan[REJECTED] > 0, run)
            if error <= 1.0 and resolved(target, mem, ints, run, plan):
                run[T] = target
                run[OLD_ERROR] = max(error, 1e-4)
                plan[REJECTED] = 0
                plan[CAUSE] = OK
                return RUNNING
            plan[CAUSE] = OK if error > 1.0 else ROUGH
        else:
            plan[CAUSE] = status
            if not fresh and ints[M] > 0:
                fresh = True
                if status == E_CHANGED:
                    ints[E_MODE] = E_STACKED
                outcome = reselect(mem, ints, run, plan, table)
                if outcome != RUNNING:
                    return outcome
                continue
            run[H] = 0.25 * h
        ints[LU_VALID] = 0
        if plan[FIXED]:
            return UNDERFLOW
        plan[REJECTED] += 1
        ints[NREJECT] += 1
        if plan[REJECTED] == SUSPECT and status == OK and ints[M] > 0:
            outcome = reselect(mem, ints, run, plan, table)
            if outcome != RUNNING:
                return outcome
        if not abs(run[H]) > 16.0 * EPS * (abs(run[T]) + 1e-3 * abs(run[T_END] - run[T_START])):
            return UNDERFLOW


@inner()
def turning(h, mem, ints, run):  # type: ignore[no-untyped-def]
    """Tell whether a pivot that was on its way to zero has turned back within the step.

    Where two branches of solutions cross, the pivot of either is zero, and a step across may go on along the
    wrong one with a pivot of the right sign. A pivot that only comes close to zero is followed by steps in
    which it is seen to turn.
    """
    if run[H_LAST] == 0.0:
        return False
    for i in range(ints[PIVOTS]):
        now, before, new = (
            mem[ints[AT + PIVOT_NOW] + i],
            mem[ints[AT + PIVOT_BEFORE] + i],
            mem[ints[AT + PIVOT] + i],
        )
        if (
            (now + (now - before) * (h / run[H_LAST])) * now < 0.0
            and new * now > 0.0
            and abs(now) < abs(before)
        ):
            return True
    return False


@inner()
def nearly_zero(mem, ints):  # type: ignore[no-untyped-def]
    """Tell whether a pivot is so small beside what it was that rounding hides on which side of zero it is.

    Half of its digits.
    """
    for i in range(ints[PIVOTS]):
        if abs(mem[ints[AT + PIVOT_NOW] + i]) < NEARLY_ZERO * mem[ints[AT + PIVOT_PEAK] + i]:
            return True
    return False


@inner(forceinline=True)
def resolved(target, mem, ints, run, plan):  # type: ignore[no-untyped-def]
    """Tell whether the algebraic components are resolved by this step.

    Limit the next one so that they stay so.

    Around a jump they never are. A component whose derivative does not occur may jump, as a force does when
    friction turns.
    """
    rough = max(mem[ROUGHNESS], mem[ROUGHNESS_FREE])
    if rough <= run[RESOLVED]:
        if rough > 1e-6 * run[RESOLVED]:
            limit = min((run[RESOLVED] / rough) ** (1.0 / 3.0), 2.0) * abs(run[H_TRIED])
            if abs(run[H]) > limit:
                run[H] = limit if run[H] > 0.0 else -limit
        return True
    run[H] = 0.25 * run[H_TRIED]
    if (
        abs(run[H]) > TINY * (abs(target) + 1e-3 * abs(run[T_END] - run[T_START]))
        or mem[ROUGHNESS] > run[RESOLVED]
    ):
        return False
    # Once more, with what the probes saw written down.
    if kernel_at(ints[ANY_SIZE])(STEP, run[T], run[H_TRIED], mem, ints) != OK or not plateaus(mem, ints):
        return False
    plan[JUMPS] += 1
    run[JUMP] = target
    run[H] = run[H_TRIED]
    return True


@inner()
def plateaus(mem, ints):  # type: ignore[no-untyped-def]
    """Tell whether the algebraic components have, within the step.

    Their old or their new values and none between: a jump, no pole.
    """
    n, y, new, probed = ints[N], ints[AT + Y], ints[AT + NEW], ints[AT + PROBED]
    for j in range(ints[DIFFERENTIAL], n):
        c = ints[ORDER + j]
        start, end = mem[y + c], mem[new + c]
        slack = (
            1e-3 * abs(end - start) + UNSEEN * (max(abs(start), abs(end)) + mem[ints[AT + FLOOR] + c]) * 1e-3
        )
        for q in range(ints[PROBES]):
            value = mem[probed + q * n + c]
            if not min(abs(value - start), abs(value - end)) <= slack:
                return False
    return True


@inner(forceinline=True)
def plan_step(run, plan):  # type: ignore[no-untyped-def]
    """Return the step to try and the time it leads to; the end is hit exactly."""
    if plan[FIXED]:
        target = run[T_END] if plan[INDEX] + 1 >= plan[TOTAL] else run[T_START] + (plan[INDEX] + 1) * run[H]
        return target - run[T], target
    left = run[T_END] - run[T]
    h = run[H]
    if abs(h) > run[H_MAX]:
        h = run[H_MAX] if left > 0.0 else -run[H_MAX]
    if abs(left) <= 1.0001 * abs(h):
        return left, run[T_END]
    if abs(left) < 2.0 * abs(h):
        h = 0.5 * left  # two equal steps rather than a long one and a stump
    target = run[T] + h
    return target - run[T], target  # the step that is made, not the one that was meant: t + h is rounded


@inner()
def reselect(mem, ints, run, plan, table):  # type: ignore[no-untyped-def]
    """Apply Procedure 3.11 at the current point.

    Switch if it prefers other components, ask Python if they have no kernel yet.
    """
    n, m = ints[N], ints[M]
    wanted = view(plan, PLAN_SCALARS + n, m)
    jacobian(run[T], ints[AT + Y], mem, ints)
    a = view(mem, ints[AT + JACOBIAN], m * n)
    required = view(ints, ORDER + n, n)
    threshold = 1.0 if plan[REJECTED] >= SUSPECT else run[THRESHOLD]
    cost, size, scratch = (
        view(plan, PLAN_SCALARS, n),
        view(run, RUN_SCALARS + n, n),
        view(run, RUN_SCALARS + 2 * n, m),
    )
    if eliminate(a, m, n, required, cost, size, scratch, threshold, IN_ANY_UNITS, wanted) < m:
        weight, relative = view(run, RUN_SCALARS + 2 * n + m, n), view(run, RUN_SCALARS + 3 * n + m, n)
        for i in range(n):
            weight[i] = size[i] + mem[ints[AT + FLOOR] + i]
            relative[i] = size[i] / weight[i]
        jacobian(run[T], ints[AT + Y], mem, ints)
        scale(a, m, n, weight)
        if eliminate(a, m, n, required, cost, relative, scratch, threshold, RANK_TOLERANCE, wanted) < m:
            return RANK_LOST
    for slot in range(plan[KNOWN]):
        if algebraic_match(table[slot], n, m, wanted):
            if slot == plan[SLOT] and not plan[PENDING] and plan[CAUSE] == OK:
                for i in range(ints[PIVOTS]):
                    mem[ints[AT + BEST_PIVOT] + i] = RECHECK / DETERIORATED * abs(mem[ints[AT + PIVOT] + i])
                return RUNNING
            plan[PENDING] = 0
            return switch(mem, ints, run, plan, table, slot)
    plan[PENDING] = 1
    return NEED_SELECTION


@inner()
def algebraic_match(row, n, m, wanted):  # type: ignore[no-untyped-def]
    """Tell whether a row of the table has just the wanted algebraic components (the last m of its order)."""
    for i in range(m):
        found = False
        for j in range(n - m, n):
            found = found or row[ROW_ORDER + j] == wanted[i]
        if not found:
            return False
    return True


@inner()
def switch(mem, ints, run, plan, table, slot):  # type: ignore[no-untyped-def]
    """Put a selection in force at the current point: order of components, first stage, reference pivots."""
    n, m = ints[N], ints[M]
    enter(table[slot], ints)
    if slot != plan[SLOT]:
        for i in range(m + 1):
            mem[ints[AT + PIVOT_PEAK] + i] = 0.0
    plan[SLOT] = slot
    for i in range(n):
        mem[ints[AT + NEW] + i] = mem[ints[AT + Y] + i]
    kernel = kernel_at(ints[KERNEL])
    status = kernel(COMPLETE, run[T], 0.0, mem, ints)
    if status == OK:
        status = kernel(RATE, run[T], 0.0, mem, ints)
    for i in range(m + 1):
        mem[ints[AT + BEST_PIVOT] + i] = abs(mem[ints[AT + PIVOT] + i])
        mem[ints[AT + SIGN] + i] = 0.0 if plan[FIXED] else mem[ints[AT + PIVOT] + i]
        mem[ints[AT + PIVOT_NOW] + i] = mem[ints[AT + PIVOT] + i]
        mem[ints[AT + PIVOT_PEAK] + i] = max(mem[ints[AT + PIVOT_PEAK] + i], abs(mem[ints[AT + PIVOT] + i]))
    run[H_LAST] = 0.0
    if status != OK:
        plan[CAUSE] = status
        return STUCK
    return RUNNING


@inner()
def enter(row, ints):  # type: ignore[no-untyped-def]
    """Copy a row of the table of selections to where kernels look for it."""
    ints[KERNEL] = row[ROW_KERNEL]
    ints[DIFFERENTIAL] = row[ROW_DIFFERENTIAL]
    ints[PREDICTED] = row[ROW_PREDICTED]
    ints[GUESSED] = row[ROW_GUESSED]
    ints[PIVOTS] = row[ROW_PIVOTS]
    ints[LU_VALID] = 0
    for i in range(3):
        ints[STAGE_COMPLETE + i] = row[ROW_STAGE + i]
    for i in range(ints[N]):
        ints[ORDER + i] = row[ROW_ORDER + i]


@compiled()
def advance(mem, ints, run, plan, table, t_out, y_out, slot_out):  # type: ignore[no-untyped-def]
    """Make accepted steps until the chunk is full, the end is reached, or Python is needed.

    Points go to t_out, y_out.
    """
    plan[COUNT] = 0
    if plan[PENDING]:
        status = reselect(mem, ints, run, plan, table)
        if status != RUNNING:
            return status
    if run[H] == 0.0:
        run[H] = first_step(kernel_at(ints[KERNEL]), mem, ints, run)
    n, y, count, status = ints[N], ints[AT + Y], 0, RUNNING
    sizes = RUN_SCALARS + n
    while status == RUNNING and count < t_out.size:
        status = attempt(mem, ints, run, plan, table)
        if status == RUNNING:
            worse = kernel_at(ints[KERNEL])(ACCEPT, run[T], run[H_TRIED], mem, ints) == WORSE
            run[H_LAST] = run[H_TRIED]
            for i in range(ints[PIVOTS]):
                mem[ints[AT + PIVOT_BEFORE] + i] = mem[ints[AT + PIVOT_NOW] + i]
                mem[ints[AT + PIVOT_NOW] + i] = mem[ints[AT + PIVOT] + i]
                mem[ints[AT + PIVOT_PEAK] + i] = max(
                    mem[ints[AT + PIVOT_PEAK] + i], abs(mem[ints[AT + PIVOT] + i])
                )
            for i in range(n):
                y_out[count, i] = mem[y + i]
                if not plan[ALWAYS]:  # Procedure 3.11 to the letter knows no sizes
                    run[sizes + i] = max(run[sizes + i], abs(mem[y + i]))
            t_out[count] = run[T]
            slot_out[count] = plan[SLOT]
            count += 1
            plan[COUNT] = count
            if run[T] == run[T_END]:
                status = FINISHED
            elif worse or plan[ALWAYS]:
                status = reselect(mem, ints, run, plan, table)
    return CHUNK_FULL if status == RUNNING else status
