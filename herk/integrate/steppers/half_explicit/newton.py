"""Algebraic components from 0 = g(t, y) for DAEs given as callables: simplified Newton, factors are kept."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import EPS, FRESH_SIZE, HalfExplicit, function_at
from herk.jit.state import Floats, Wholes, view
from herk.linalg.dense import factor, substitute, times

MOST_ITERATIONS = 25
NEAR_ZERO = 1e-3  # of the size below which an unknown does not matter
SLOW = 0.1  # contraction above which the Jacobian is renewed
CAUTION = 0.1  # a faster contraction is taken for luck
STALLED = 0.5  # contraction of corrections that may be nothing but rounding in g,
LOUD = 16 * EPS  # which is several times that of its sums where g is a long formula


def jacobian(t: float, y: Floats, own: HalfExplicit) -> None:
    """Evaluate dg/dy (m x n) at a point, by the user's function or by forward differences."""
    n, m, out = own.n, own.m, own.jacobian
    own.njev += 1
    if own.have_jacobian:
        function_at(own.at_jac_g)(t, y, own.parameters, out)
        return
    if own.sparse:
        grouped_differences(t, y, own)
        return
    base, shifted, floor = own.g, view(own.rhs, 0, m), own.floor
    function_at(own.at_g)(t, y, own.parameters, base)
    for j in range(n):
        kept = y[j]
        # The increment is a power-of-two-clean difference, scaled with the component or its floor.
        y[j] = kept + 1.5e-8 * (abs(kept) + floor[j])
        increment = y[j] - kept
        function_at(own.at_g)(t, y, own.parameters, shifted)
        for i in range(m):
            out[i * n + j] = (shifted[i] - base[i]) / increment
        if abs(kept) <= NEAR_ZERO * floor[j]:  # or half of y**2 over y would be taken for an entry
            y[j] = kept - increment
            function_at(own.at_g)(t, y, own.parameters, shifted)
            own.ngev += 1
            for i in range(m):
                other = (base[i] - shifted[i]) / (kept - y[j])
                if abs(other) < 1e300:
                    out[i * n + j] = 0.5 * (out[i * n + j] + other)
        y[j] = kept
    own.ngev += n + 1


def grouped_differences(t: float, y: Floats, own: HalfExplicit) -> None:
    """Evaluate dg/dy on its pattern: one difference for all columns of a group."""
    base, shifted, floor, kept = own.g, view(own.rhs, 0, own.m), own.floor, own.stacked
    function_at(own.at_g)(t, y, own.parameters, base)
    for j in range(own.n):
        kept[j] = y[j]
    for group in range(own.groups):
        for p in range(own.group_start[group], own.group_start[group + 1]):
            j = own.indices[own.group_entry[p]]
            y[j] = kept[j] + 1.5e-8 * (abs(kept[j]) + floor[j])
        function_at(own.at_g)(t, y, own.parameters, shifted)
        for p in range(own.group_start[group], own.group_start[group + 1]):
            entry = own.group_entry[p]
            i, j = own.entry_row[entry], own.indices[entry]
            own.jacobian[entry] = (shifted[i] - base[i]) / (y[j] - kept[j])
        for p in range(own.group_start[group], own.group_start[group + 1]):
            j = own.indices[own.group_entry[p]]
            y[j] = kept[j]
    own.ngev += own.groups + 1


def renew(t: float, y: Floats, own: HalfExplicit) -> bool:
    """Factor the selected columns of dg/dy at a point; return False if they are singular."""
    jacobian(t, y, own)
    own.nlu += 1
    own.lu_valid = 1
    return renewed_dense(own)


def renewed_dense(own: HalfExplicit) -> bool:
    """Factor a full matrix; the pivot reported is the determinant where it is smooth.

    Its rows are measured by what they were when the selection was made. In units of what they are now, one
    that vanishes as a whole would not be seen to vanish.
    """
    n, m, nd, level = own.n, own.m, own.differential, own.level
    jac, lu, order, rows, pivots = own.jacobian, own.lu, own.order, own.newton_order, own.pivot
    for i in range(m):
        size = 0.0
        for c in range(m):
            lu[i * m + c] = jac[i * n + order[nd + c]]
            size = max(size, abs(lu[i * m + c]))
        if level[i] == 0.0:
            level[i] = size
    smallest = factor(lu, 0, m, rows)
    pivots[0] = 0.0
    if not smallest > 0.0:
        return False
    determinant = parity(rows, m)
    for i in range(m):
        determinant = times(determinant, lu[rows[i] * m + i] / level[rows[i]])
    # Its sign tells branches of solutions apart. Of many constraints it falls too fast to be a pivot.
    pivots[0] = determinant
    if not own.smooth:
        pivots[0] = smallest if determinant > 0.0 else -smallest
    return True


def parity(order: Wholes, m: int) -> float:
    """Return the sign of the permutation order[0:m]."""
    sign = 1.0
    for i in range(m):
        for j in range(i):
            if order[j] > order[i]:
                sign = -sign
    return sign


def solve_algebraic(t: float, y: Floats, tolerance: float, own: HalfExplicit) -> int:
    """Solve g = 0 for the algebraic components of a point, start values in place.

    Return the iterations, -1 on failure.
    """
    m, g = own.m, own.g
    if m == 0:
        return 0
    fresh, last, rate = False, 0.0, own.contraction
    for iteration in range(MOST_ITERATIONS):
        function_at(own.at_g)(t, y, own.parameters, g)
        own.ngev += 1
        if own.lu_valid and at_rounding(g, y, EPS, own):
            return iteration if settled(t, y, own) else -1
        slow = iteration > 0 and rate > SLOW and not fresh
        if not own.lu_valid or (own.full_newton and iteration > 0) or slow:
            if not renew(t, y, own):
                return -1
            function_at(own.at_g)(t, y, own.parameters, g)  # finite differences use the same memory
            fresh, last, rate = True, 0.0, CAUTION
        substitute(own.lu, 0, m, own.newton_order, g, own.ydot, 0)
        size = corrected(y, own)
        own.nit += 1
        if not size < 1e300:
            return -1
        if last > 0.0:
            rate = max(size / last, CAUTION)
            if rate > STALLED and at_rounding(g, y, LOUD, own):
                return iteration + 1 if settled(t, y, own) else -1
            if rate > 2.0 and fresh:
                return -1
            fresh = fresh and rate < SLOW
        # The error left is about size * rate / (1 - rate); a rate measured in another solve is not trusted.
        if size <= tolerance or (last > 0.0 and rate < 1.0 and size * rate / (1.0 - rate) <= tolerance):
            own.contraction = rate
            return iteration + 1 if settled(t, y, own) else -1
        last = size
    return -1


def corrected(y: Floats, own: HalfExplicit) -> float:
    """Subtract Newton's correction; return its size beside the components."""
    nd, order, floor, d = own.differential, own.order, own.floor, own.ydot
    size = 0.0
    for c in range(own.m):
        j = order[nd + c]
        y[j] -= d[c]
        size = max(size, abs(d[c]) / (abs(y[j]) + floor[j]))
    return size


def settled(t: float, y: Floats, own: HalfExplicit) -> bool:
    """Renew the factors at the new point of a small system, also for the first stages of the next step."""
    if own.last_stage and own.m <= FRESH_SIZE:
        return renew(t, y, own)
    return True


def at_rounding(residual: Floats, y: Floats, unit: float, own: HalfExplicit) -> bool:
    """Tell whether every residual is as small as rounding in g allows: unit * sum |dg/dy_j| |y_j|."""
    n, jac = own.n, own.jacobian
    for i in range(own.m):
        noise = 0.0
        for j in range(n):
            noise += abs(jac[i * n + j] * y[j])
        if not abs(residual[i]) <= unit * noise:
            return False
    return True


def residual(t: float, y: Floats, own: HalfExplicit) -> float:
    """Return the largest |g| at a point."""
    g, m = own.g, own.m
    largest = 0.0
    if m > 0:
        function_at(own.at_g)(t, y, own.parameters, g)
        own.ngev += 1
        for i in range(m):
            largest = max(largest, abs(g[i]))
    return largest
