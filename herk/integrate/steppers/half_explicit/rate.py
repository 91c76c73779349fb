"""Derivatives from E(t,y) y' = f(t,y) for DAEs given as callables.

Diagonal, constant, varying or general E.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.memory import (
    AT,
    AT_E,
    AT_F,
    AT_G,
    AT_G_T,
    DIFFERENTIAL,
    E_CHANGED,
    E_DIAGONAL,
    E_LU,
    E_MODE,
    E_NOW,
    E_RANK,
    E_STACKED,
    E_VALID,
    E_VARYING,
    HAVE_E,
    HAVE_G_T,
    JACOBIAN,
    NFEV,
    NGEV,
    NLU,
    OK,
    ORDER,
    PARAMETERS,
    PREDICTED,
    RHS,
    SINGULAR,
    STACKED,
    YDOT,
    F,
    G,
    M,
    N,
)
from herk.integrate.steppers.half_explicit.memory import K as K_BLOCK
from herk.integrate.steppers.half_explicit.newton import jacobian
from herk.integrate.steppers.half_explicit.signatures import parametric_at
from herk.jit.compiled import compiled, inner
from herk.jit.stack import view
from herk.linalg.dense import factor, solve_stacked, substitute


@compiled()
def rate(t, z, row, mem, ints):  # type: ignore[no-untyped-def]
    """Write the derivatives at the point mem[z:] into row `row` of the stages.

    In the order of the components.
    """
    n, ydot, k = ints[N], ints[AT + YDOT], ints[AT + K_BLOCK] + row * ints[N]
    f = ints[AT + F]
    parametric_at(ints[AT_F])(t, view(mem, z, n), view(mem, ints[AT + PARAMETERS], 1), view(mem, f, n))
    ints[NFEV] += 1
    mode = ints[E_MODE]
    if mode == E_DIAGONAL:
        for i in range(n):
            diagonal = mem[ints[AT + E_NOW] + i * n + i]
            mem[ydot + i] = mem[f + i] / diagonal if diagonal != 0.0 else 0.0
        status = OK
    elif mode == E_STACKED:
        status = stacked(t, z, mem, ints)
    else:
        status = reduced(t, z, mem, ints)
    for j in range(ints[DIFFERENTIAL] + ints[PREDICTED]):
        mem[k + j] = mem[ydot + ints[ORDER + j]]
    return status


@inner()
def reduced(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Solve the square system of the non-zero rows and columns of E.

    Its factors are kept as long as E stays the same.
    """
    n, rank = ints[N], ints[E_RANK]
    f, ydot, rhs = ints[AT + F], ints[AT + YDOT], ints[AT + RHS]
    rows, columns, order = ORDER + 2 * n, ORDER + 3 * n, ORDER + 5 * n
    if ints[E_MODE] == E_VARYING or not ints[E_VALID]:
        status = renew_reduced(t, z, mem, ints)
        if status != OK:
            return status
    for i in range(rank):
        mem[rhs + i] = mem[f + ints[rows + i]]
    scratch = ints[AT + STACKED]
    substitute(mem, ints[AT + E_LU], rank, view(ints, order, rank), view(mem, rhs, rank), mem, scratch)
    for i in range(n):
        mem[ydot + i] = 0.0
    for i in range(rank):
        mem[ydot + ints[columns + i]] = mem[scratch + i]
    return OK


@inner()
def renew_reduced(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Evaluate E; factor its reduced part if it differs from the one factored last.

    And check that its zeros are where they were.
    """
    n, rank = ints[N], ints[E_RANK]
    now, fresh = ints[AT + E_NOW], ints[AT + STACKED]
    rows, columns, order = ORDER + 2 * n, ORDER + 3 * n, ORDER + 5 * n
    if ints[E_MODE] == E_VARYING:
        par = view(mem, ints[AT + PARAMETERS], 1)
        parametric_at(ints[AT_E])(t, view(mem, z, n), par, view(mem, fresh, n * n))
        same = ints[E_VALID] == 1
        for i in range(n * n):
            same = same and mem[fresh + i] == mem[now + i]
            mem[now + i] = mem[fresh + i]
        if same:
            return OK
        for i in range(n):
            for j in range(n):
                if mem[now + i * n + j] != 0.0 and not (
                    listed(i, rows, rank, ints) and listed(j, columns, rank, ints)
                ):
                    return E_CHANGED
    lu = ints[AT + E_LU]
    for i in range(rank):
        for j in range(rank):
            mem[lu + i * rank + j] = mem[now + ints[rows + i] * n + ints[columns + j]]
    ints[NLU] += 1
    ints[E_VALID] = 1
    return OK if factor(mem, lu, rank, view(ints, order, rank)) > 0.0 else SINGULAR


@inner()
def listed(value, start, count, ints):  # type: ignore[no-untyped-def]
    """Tell whether a value stands among ints[start : start + count]."""
    for i in range(count):
        if ints[start + i] == value:
            return True
    return False


@inner()
def stacked(t, z, mem, ints):  # type: ignore[no-untyped-def]
    """Solve [E; g_y] y' = [f; -g_t], which determines y' for every regularised system.

    Whatever the shape of E.
    """
    n, m = ints[N], ints[M]
    a, b, f, ydot = ints[AT + STACKED], ints[AT + RHS], ints[AT + F], ints[AT + YDOT]
    y, g_t, par = view(mem, z, n), view(mem, b + n, m), view(mem, ints[AT + PARAMETERS], 1)
    if m:
        jacobian(t, z, mem, ints)
        for i in range(m * n):
            mem[a + n * n + i] = mem[ints[AT + JACOBIAN] + i]
        time_derivative(t, y, g_t, view(mem, ints[AT + G], m), par, ints)
    if ints[HAVE_E]:
        parametric_at(ints[AT_E])(t, y, par, view(mem, a, n * n))
    else:
        for i in range(n * n):
            mem[a + i] = mem[ints[AT + E_NOW] + i]
    for i in range(n):
        mem[b + i] = mem[f + i]
    for i in range(m):
        mem[b + n + i] = -mem[b + n + i]
    smallest = solve_stacked(view(mem, a, (n + m) * n), n + m, n, view(mem, b, n + m), view(mem, ydot, n))
    for i in range(n):
        mem[ydot + i] = mem[b + i]
    return OK if smallest > 0.0 else SINGULAR


@inner()
def time_derivative(t, y, out, scratch, par, ints):  # type: ignore[no-untyped-def]
    """Evaluate dg/dt by the user's function or by a central difference in t.

    A one-sided one where the domain of g ends.
    """
    if ints[HAVE_G_T]:
        parametric_at(ints[AT_G_T])(t, y, par, out)
        return
    step = 6e-6 * (abs(t) + 1.0)
    for low, high in ((-step, step), (0.0, step), (-step, 0.0)):
        parametric_at(ints[AT_G])(t + high, y, par, out)
        parametric_at(ints[AT_G])(t + low, y, par, scratch)
        ints[NGEV] += 2
        finite = True
        for i in range(out.size):
            out[i] = (out[i] - scratch[i]) / ((t + high) - (t + low))
            finite = finite and abs(out[i]) < 1e300
        if finite:
            return
