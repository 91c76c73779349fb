"""Algebraic components from 0 = g(t, y) for DAEs given as callables.

Simplified Newton with a kept factorisation.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.memory import (
    AT,
    AT_G,
    AT_JAC_G,
    CONTRACTION,
    DIFFERENTIAL,
    EPS,
    FLOOR,
    FRESH_SIZE,
    FULL_NEWTON,
    HAVE_JACOBIAN,
    JACOBIAN,
    LAST_STAGE,
    LU,
    LU_VALID,
    NGEV,
    NIT,
    NJEV,
    NLU,
    ORDER,
    PARAMETERS,
    PIVOT,
    RHS,
    YDOT,
    G,
    M,
    N,
)
from herk.integrate.steppers.half_explicit.signatures import parametric_at
from herk.jit.compiled import compiled, inner
from herk.jit.stack import view
from herk.linalg.dense import factor, substitute

MOST_ITERATIONS = 25
SLOW = 0.1  # contraction above which the Jacobian is renewed
CAUTION = 0.1  # a faster contraction is taken for luck


@inner()
def jacobian(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Evaluate dg/dy (m x n) at the point stored at mem[z:].

    By the user's function or by forward differences.
    """
    n, m, out, value = ints[N], ints[M], ints[AT + JACOBIAN], ints[AT + RHS]
    y, par = view(mem, z, n), view(mem, ints[AT + PARAMETERS], 1)
    ints[NJEV] += 1
    if ints[HAVE_JACOBIAN]:
        parametric_at(ints[AT_JAC_G])(t, y, par, view(mem, out, m * n))
        return
    base, shifted = view(mem, ints[AT + G], m), view(mem, value, m)
    parametric_at(ints[AT_G])(t, y, par, base)
    for j in range(n):
        kept = y[j]
        # The increment is a power-of-two-clean difference, scaled with the component (never smaller than its
        # floor).
        y[j] = kept + 1.5e-8 * (abs(kept) + mem[ints[AT + FLOOR] + j])
        increment = y[j] - kept
        parametric_at(ints[AT_G])(t, y, par, shifted)
        for i in range(m):
            mem[out + i * n + j] = (shifted[i] - base[i]) / increment
        y[j] = kept
    ints[NGEV] += n + 1


@inner()
def renew(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Factor the selected columns of dg/dy at mem[z:]; return False if they are singular."""
    n, m, nd = ints[N], ints[M], ints[DIFFERENTIAL]
    jacobian(t, z, mem, ints)
    jac, lu = ints[AT + JACOBIAN], ints[AT + LU]
    for i in range(m):
        for c in range(m):
            mem[lu + i * m + c] = mem[jac + i * n + ints[ORDER + nd + c]]
    smallest = factor(mem, lu, m, view(ints, ORDER + 4 * n, m))
    ints[NLU] += 1
    ints[LU_VALID] = 1
    sign = parity(view(ints, ORDER + 4 * n, m), m)
    for i in range(m):
        pivot = mem[lu + ints[ORDER + 4 * n + i] * m + i]
        sign = -sign if pivot < 0.0 else sign
        mem[ints[AT + PIVOT] + i] = abs(pivot)
    if m > 0:  # the sign of the determinant tells one branch of solutions from the next
        mem[ints[AT + PIVOT]] *= sign
    return smallest > 0.0


@inner()
def parity(order, m):  # type: ignore[no-untyped-def]
    """Return the sign of the permutation order[0:m]."""
    sign = 1.0
    for i in range(m):
        for j in range(i):
            if order[j] > order[i]:
                sign = -sign
    return sign


@compiled()
def complete(t, z, tolerance, mem, ints):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the algebraic components of the point at mem[z:], start values in place.

    Return the iterations, -1 on failure.
    """
    n, m, nd = ints[N], ints[M], ints[DIFFERENTIAL]
    if m == 0:
        return 0
    g, d, lu = ints[AT + G], ints[AT + YDOT], ints[AT + LU]
    y, residual, fresh, last = view(mem, z, n), view(mem, g, m), False, 0.0
    par = view(mem, ints[AT + PARAMETERS], 1)
    rate = mem[CONTRACTION]
    for iteration in range(MOST_ITERATIONS):
        parametric_at(ints[AT_G])(t, y, par, residual)
        ints[NGEV] += 1
        if ints[LU_VALID] and at_rounding(residual, y, view(mem, ints[AT + JACOBIAN], m * n)):
            if ints[LAST_STAGE] and m <= FRESH_SIZE and not renew(t, z, mem, ints):
                return -1
            return iteration
        if (
            not ints[LU_VALID]
            or (ints[FULL_NEWTON] and iteration > 0)
            or (iteration > 0 and rate > SLOW and not fresh)
        ):
            if not renew(t, z, mem, ints):
                return -1
            parametric_at(ints[AT_G])(t, y, par, residual)  # finite differences use the same memory
            fresh, last, rate = True, 0.0, 0.1
        substitute(mem, lu, m, view(ints, ORDER + 4 * n, m), residual, mem, d)
        size = 0.0
        for c in range(m):
            j = ints[ORDER + nd + c]
            y[j] -= mem[d + c]
            size = max(size, abs(mem[d + c]) / (abs(y[j]) + mem[ints[AT + FLOOR] + j]))
        ints[NIT] += 1
        if not size < 1e300:
            return -1
        if last > 0.0:
            rate = max(size / last, CAUTION)
            if rate > 2.0 and fresh:
                return -1
            fresh = fresh and rate < SLOW
        # The error left is about size * rate / (1 - rate); a rate measured in another solve is not trusted
        # for that.
        if size <= tolerance or (last > 0.0 and rate < 1.0 and size * rate / (1.0 - rate) <= tolerance):
            mem[CONTRACTION] = rate
            if (
                ints[LAST_STAGE] and m <= FRESH_SIZE and not renew(t, z, mem, ints)
            ):  # also for the first stages of the next step
                return -1
            return iteration + 1
        last = size
    return -1


@inner()
def at_rounding(residual, y, jac):  # type: ignore[no-untyped-def]
    """Tell whether every residual is as small as rounding errors in g allow.

    About eps times sum |dg/dy_j| |y_j|.
    """
    n = y.size
    for i in range(residual.size):
        noise = 0.0
        for j in range(n):
            noise += abs(jac[i * n + j] * y[j])
        if not abs(residual[i]) <= EPS * noise:
            return False
    return True


@compiled()
def residual(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Return the largest |g| at the point mem[z:]."""
    g, m = ints[AT + G], ints[M]
    largest = 0.0
    if m > 0:
        par = view(mem, ints[AT + PARAMETERS], 1)
        parametric_at(ints[AT_G])(t, view(mem, z, ints[N]), par, view(mem, g, m))
        ints[NGEV] += 1
        for i in range(m):
            largest = max(largest, abs(mem[g + i]))
    return largest
