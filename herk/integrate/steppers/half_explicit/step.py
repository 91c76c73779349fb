"""One half-explicit Runge-Kutta step at run-time sizes (Algorithm 3.3).

Differential components follow from the tableau, the others from g = 0. The new point is treated as one more
stage, and so are the extra stages of dense output. A model brings stage code of its own, reached by address;
systems given by callables are solved by newton.py and derivative.py.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit import derivative as general_derivative
from herk.integrate.steppers.half_explicit import newton, parts
from herk.integrate.steppers.half_explicit.guesses import extrapolate, led_away
from herk.integrate.steppers.half_explicit.layout import (
    ACCEPT,
    ALGEBRAIC,
    BRANCH,
    DERIVATIVE,
    DETERIORATED,
    FAINTEST,
    FALLEN,
    NO_CONVERGENCE,
    NO_DIFFERENCE,
    NONFINITE,
    OK,
    SINGULAR,
    SPREAD,
    STEP,
    UNSEEN,
    WORSE,
    HalfExplicit,
    algebraic_at,
    derivative_at,
    residual_at,
)
from herk.jit.state import Floats, view

general_rates, general_solve, general_residual, solve_in_parts = (
    general_derivative.derivative,
    newton.solve_algebraic,
    newton.residual,
    parts.solve_in_parts,
)


def solve_algebraic(t: float, z: Floats, tolerance: float, own: HalfExplicit) -> int:
    """Solve g = 0 for the algebraic components of a point; return the iterations, -1 on failure."""
    if own.sparse:
        return solve_in_parts(t, z, tolerance, own)
    if own.general:
        return general_solve(t, z, tolerance, own)
    code = own.stage_algebraic
    iterations = algebraic_at(code)(t, z, tolerance, own.floor, own.pivot, own.work, own.parameters)
    own.ngev += 1
    own.nit += max(iterations, 0)
    return iterations


def derivative(t: float, z: Floats, row: int, own: HalfExplicit) -> int:
    """Write the derivatives at a point into row `row` of the stages, in the order of the components."""
    if own.general:
        return general_rates(t, z, row, own)
    own.nfev += 1
    n = own.n
    code, out = own.stage_derivative, view(own.k, row * n, n)
    return OK if derivative_at(code)(t, z, out, own.floor, own.work, own.parameters) == 0 else SINGULAR


def residual(t: float, z: Floats, own: HalfExplicit) -> float:
    """Return the largest |g| at a point."""
    if own.general:
        return general_residual(t, z, own)
    return residual_at(own.stage_residual)(t, z, own.work, own.parameters)


def same_branch(own: HalfExplicit) -> bool:
    """Tell whether every pivot has the sign it had when the selection was made.

    Where one changes, solutions of g = 0 meet.
    """
    pivot, sign = own.pivot, own.sign
    for i in range(own.pivots + own.sparse):
        if pivot[i] * sign[i] < 0.0:
            return False
    return True


def probe(i: int, z: Floats, own: HalfExplicit) -> None:
    """Keep the algebraic components and the pivots of a stage that is a probe."""
    n, m, order, probed, pivot = own.n, own.m, own.order, own.probed, own.pivot
    for q in range(own.probes):
        if i == (own.probe_0 if q == 0 else own.probe_1 if q == 1 else own.probe_2):
            for j in range(own.differential, n):
                probed[q * n + order[j]] = z[order[j]]
            for j in range(own.pivots):
                own.pivot_probed[q * (m + 1) + j] = pivot[j]


def roughness(own: HalfExplicit) -> None:
    """Measure how far the algebraic components are from a parabola within the step, beside their change.

    Their new values satisfy g = 0 whatever the step, so no error estimate limits it; but a step in which they
    are not resolved may pass a pole, or end on another branch. The parabola goes through start, first probe
    and end, and is compared at the others.
    """
    n, y, new, probed, order, required, floor = (
        own.n,
        own.y,
        own.new,
        own.probed,
        own.order,
        own.required,
        own.floor,
    )
    own.roughness, own.roughness_free = 0.0, 0.0
    if own.probes == 0:
        return
    for j in range(own.differential, n):
        c = order[j]
        start = y[c]
        middle, end = probed[c] - start, new[c] - start
        early, late = probed[n + c] - start, probed[2 * n + c] - start
        off = abs(early - own.weight_0 * middle - own.weight_1 * end)
        off = max(off, abs(late - own.weight_2 * middle - own.weight_3 * end))
        change = max(abs(middle), abs(early), abs(late), abs(end))
        rough = off / (change + UNSEEN * (max(abs(start), abs(new[c])) + floor[c]))
        if required[c]:
            own.roughness_free = max(own.roughness_free, rough)
        else:
            own.roughness = max(own.roughness, rough)


def sum_up(count: int, weights: Floats, z: Floats, h: float, own: HalfExplicit) -> None:
    """Put the sums over `count` stages into a point, stage by stage: all in the order of memory."""
    n, y, k, order, total = own.n, own.y, own.k, own.order, own.f
    width = own.differential + own.predicted
    for j in range(width):
        total[j] = 0.0
    for s in range(count):
        if weights[s] != 0.0:
            weight, row = weights[s], view(k, s * n, n)
            for j in range(width):
                total[j] += weight * row[j]
    for j in range(width):
        c = order[j]
        z[c] = y[c] + h * total[j]


def stage(i: int, z: Floats, tolerance: float, t: float, h: float, own: HalfExplicit) -> int:
    """Compute stage i at z and its derivatives (3.2a-c); the status is negative if it has no solution."""
    n, y, k, a, order, slope = own.n, own.y, own.k, own.table_a, own.order, own.slope
    rows, width = own.stages + 1 + own.extra, own.differential + own.predicted
    node = own.table_c[i]
    if own.sparse:
        sum_up(min(i, rows), view(a, i * rows, rows), z, h, own)
    else:
        for j in range(width):
            total = 0.0
            for s in range(min(i, rows)):
                total += a[i * rows + s] * k[s * n + j]
            component = order[j]
            z[component] = y[component] + h * total
    if own.sparse and i > 1 and own.table_c[i - 1] > 0.0:
        extrapolate(i, z, h, own)
    else:
        for j in range(width, n):
            component = order[j]
            z[component] = y[component] + h * node * slope[component]
    own.stage_t = t + node * h
    guessed = own.sparse and own.h_last != 0.0
    for j in range(width, n if guessed else width):
        own.f[j] = z[order[j]]
    if solve_algebraic(t + node * h, z, tolerance, own) < 0:
        return NO_CONVERGENCE
    if not same_branch(own) or (guessed and led_away(z, own)):
        return BRANCH
    probe(i, z, own)
    return derivative(t + node * h, z, i, own)


def dominating(own: HalfExplicit) -> None:
    """Estimate the dominating eigenvalue from the last stage and the new point.

    Where they differ by less than rounding in units of the tolerance, by what is more than rounding of its
    own: a current of 1e-19 A through blocking diodes makes voltages.
    """
    n, new, stage, k, last = own.n, own.new, own.stage, own.k, own.stages * own.n
    top, bottom = 0.0, 0.0
    for j in range(own.differential):
        c = own.order[j]
        weight = 1.0 / (abs(new[c]) + own.floor[c])
        top += ((k[last + j] - k[last - n + j]) * weight) ** 2
        bottom += ((new[c] - stage[c]) * weight) ** 2
    least = NO_DIFFERENCE
    if not bottom > NO_DIFFERENCE:
        top, bottom, least = 0.0, 0.0, FAINTEST
        for j in range(own.differential):
            c = own.order[j]
            if (new[c] - stage[c]) ** 2 > NO_DIFFERENCE * new[c] ** 2:
                weight = 1.0 / (abs(new[c]) + own.floor[c])
                top += ((k[last + j] - k[last - n + j]) * weight) ** 2
                bottom += ((new[c] - stage[c]) * weight) ** 2
    own.fastest = (top / bottom) ** 0.5 if bottom > least else 0.0


def whole_step(t: float, h: float, own: HalfExplicit) -> int:
    """Compute all stages, the new point and the error estimates of the differential components."""
    n, stages, k, e, error, new, order = own.n, own.stages, own.k, own.table_e, own.error, own.new, own.order
    for i in range(1, stages):
        status = stage(i, own.stage, own.tolerance, t, h, own)
        if status != OK:
            return status
    own.last_stage = 1
    status = stage(stages, new, own.tight, t, h, own)
    own.last_stage = 0
    if status != OK:
        return status
    for q in range(own.estimates):
        for j in range(own.differential):
            total = 0.0
            for s in range(stages + 1):
                total += e[q * (stages + 1) + s] * k[s * n + j]
            error[q * n + j] = h * total
    if own.asking:
        dominating(own)
    roughness(own)
    own.residual = residual(t + h, new, own)
    total = 0.0
    for j in range(own.differential):  # the algebraic components were solved for
        total += 0.0 * new[order[j]]
    return OK if total == 0.0 else NONFINITE


def spread(t: float, own: HalfExplicit) -> int:
    """Turn the error estimate of the differential components into one of all components, in place.

    The embedded result is completed by the constraints like the new point; the estimate is the difference of
    two points on the constraints. So it does not depend on which components are algebraic, and sees where
    they amplify errors.
    """
    n, nd, new, other, error, order = own.n, own.differential, own.new, own.stage, own.error, own.order
    for i in range(n):
        other[i] = new[i]
    for j in range(nd):
        other[order[j]] += error[j]
    own.near = 1
    status = solve_algebraic(t, other, own.tolerance if own.sparse else own.tight, own) if nd < n else 0
    own.near = 0
    if status < 0:
        return NO_CONVERGENCE
    for i in range(n):
        error[i] = other[i] - new[i]
    return OK


def accept(h: float, own: HalfExplicit) -> int:
    """Move on to the new point; WORSE if a pivot is clearly smaller than its best value so far."""
    n, y, new, k, order, slope, best = own.n, own.y, own.new, own.k, own.order, own.slope, own.best_pivot
    width, last = own.differential + own.predicted, own.stages * own.n
    for j in range(width):
        k[j] = k[last + j]
    for j in range(width, own.differential + own.guessed):
        slope[order[j]] = (new[order[j]] - y[order[j]]) / h
    for i in range(n):
        y[i] = new[i]
    own.worst_residual = max(own.worst_residual, own.residual)
    status, least = OK, FALLEN if own.sparse else DETERIORATED
    for i in range(own.pivots):
        pivot = abs(own.pivot[i])
        if not pivot >= least * best[i]:
            status = WORSE
        best[i] = max(best[i], pivot)
    return status


def kernel(task: int, t: float, h: float, number: int) -> int:
    """Do one task at the current point.

    A step, its error estimate, its acceptance, stages of dense output, derivatives, algebraic components.
    """
    own = HalfExplicit.at(number)
    if task == STEP:
        return whole_step(t, h, own)
    if task == ACCEPT:
        return accept(h, own)
    if task == SPREAD:
        return spread(t, own)
    if task == DERIVATIVE:
        return derivative(t, own.y, 0, own)
    if task == ALGEBRAIC:
        return OK if solve_algebraic(t, own.new, own.tight, own) >= 0 else NO_CONVERGENCE
    status = whole_step(t, h, own)
    for i in range(own.stages + 1, own.stages + 1 + own.extra):
        if status == OK:
            status = stage(i, own.stage, own.tolerance, t, h, own)
    return status
