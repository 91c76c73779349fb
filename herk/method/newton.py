"""Algebraic components from 0 = g(t, y) for DAEs given as callables: simplified Newton with a kept factorisation."""

from __future__ import annotations

from herk.core.jit import compiled
from herk.method.memory import (
    AT,
    AT_G,
    AT_JAC_G,
    CONTRACTION,
    DIFFERENTIAL,
    EPS,
    FLOOR,
    FULL_NEWTON,
    HAVE_JACOBIAN,
    JACOBIAN,
    LU,
    LU_VALID,
    NGEV,
    NIT,
    NJEV,
    NLU,
    ORDER,
    PIVOT,
    RHS,
    YDOT,
    G,
    M,
    N,
)
from herk.method.signatures import function_at
from herk.model.linear import factor, substitute

MOST_ITERATIONS = 25
SLOW = 0.1  # contraction above which the Jacobian is renewed
CAUTION = 0.1  # a faster contraction is taken for luck


@compiled()
def jacobian(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Evaluate dg/dy (m x n) at the point stored at mem[z:], by the user's function or by forward differences."""
    n, m, out, value = ints[N], ints[M], ints[AT + JACOBIAN], ints[AT + RHS]
    y = mem[z : z + n]
    ints[NJEV] += 1
    if ints[HAVE_JACOBIAN]:
        function_at(ints[AT_JAC_G])(t, y, mem[out : out + m * n])
        return
    base, shifted = mem[ints[AT + G] : ints[AT + G] + m], mem[value : value + m]
    function_at(ints[AT_G])(t, y, base)
    for j in range(n):
        kept = y[j]
        # The increment is a power-of-two-clean difference, scaled with the component (never smaller than its floor).
        y[j] = kept + 1.5e-8 * (abs(kept) + mem[ints[AT + FLOOR] + j])
        increment = y[j] - kept
        function_at(ints[AT_G])(t, y, shifted)
        for i in range(m):
            mem[out + i * n + j] = (shifted[i] - base[i]) / increment
        y[j] = kept
    ints[NGEV] += n + 1


@compiled()
def renew(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Factor the selected columns of dg/dy at mem[z:]; return False if they are singular."""
    n, m, nd = ints[N], ints[M], ints[DIFFERENTIAL]
    jacobian(t, z, mem, ints)
    jac, lu = ints[AT + JACOBIAN], ints[AT + LU]
    for i in range(m):
        for c in range(m):
            mem[lu + i * m + c] = mem[jac + i * n + ints[ORDER + nd + c]]
    largest = 0.0
    for i in range(m * m):
        largest = max(largest, abs(mem[lu + i]))
    smallest = factor(mem, lu, m, ints[ORDER + 4 * n :])
    ints[NLU] += 1
    ints[LU_VALID] = 1
    for i in range(m):
        mem[ints[AT + PIVOT] + i] = abs(mem[lu + ints[ORDER + 4 * n + i] * m + i])
    return smallest > 1e-14 * largest


@compiled()
def complete(t, z, tolerance, mem, ints):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the algebraic components of the point at mem[z:], start values in place; return the iterations, -1 on failure."""
    n, m, nd = ints[N], ints[M], ints[DIFFERENTIAL]
    if m == 0:
        return 0
    g, d, lu = ints[AT + G], ints[AT + YDOT], ints[AT + LU]
    y, residual, fresh, last = mem[z : z + n], mem[g : g + m], False, 0.0
    rate = mem[CONTRACTION]
    for iteration in range(MOST_ITERATIONS):
        function_at(ints[AT_G])(t, y, residual)
        ints[NGEV] += 1
        if ints[LU_VALID] and at_rounding(residual, y, mem[ints[AT + JACOBIAN] :]):
            return iteration
        if not ints[LU_VALID] or (ints[FULL_NEWTON] and iteration > 0) or (iteration > 0 and rate > SLOW and not fresh):
            if not renew(t, z, mem, ints):
                return -1
            function_at(ints[AT_G])(t, y, residual)  # finite differences use the same memory
            fresh, last, rate = True, 0.0, 0.1
        substitute(mem, lu, m, ints[ORDER + 4 * n :], residual, mem, d)
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
        # The error left is about size * rate / (1 - rate); a rate measured in another solve is not trusted for that.
        if size <= tolerance or (last > 0.0 and rate < 1.0 and size * rate / (1.0 - rate) <= tolerance):
            mem[CONTRACTION] = rate
            return iteration + 1
        last = size
    return -1


@compiled()
def at_rounding(residual, y, jac):  # type: ignore[no-untyped-def]
    """Tell whether every residual is as small as rounding errors in g allow: about eps times sum |dg/dy_j| |y_j|."""
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
        function_at(ints[AT_G])(t, mem[z : z + ints[N]], mem[g : g + m])
        ints[NGEV] += 1
        for i in range(m):
            largest = max(largest, abs(mem[g + i]))
    return largest
