"""One step of Algorithm 3.3 as the program of 2017 makes it.

Selectors at the first stage, Newton from the stage before.
"""

from __future__ import annotations

from herk.jit.compiled import compiled
from herk.jit.pointers import at as typed
from herk.thesis.leading import exceeds, factor_leading, is_diagonal, solve_leading
from herk.thesis.memory import (
    BEYOND,
    BEYOND_AT_START,
    BLOCK,
    CHANGED,
    DELTA,
    DIAGONAL,
    E_AT,
    ESTAT,
    F_AT,
    FACTORED,
    FUNCTION,
    G_AT,
    ILL,
    INVERSE,
    IRREDUCIBLE,
    JAC,
    JAC_AT,
    JOPT,
    LEADING,
    LIMIT,
    LISTS,
    MAX_NORM,
    NEWTON,
    NOPT,
    OK,
    PTOL,
    RANK,
    RATES,
    REQUIRED,
    RESIDUAL,
    RIGHT,
    ROWS,
    SOLVER,
    SOLVER_AT,
    SOLVES,
    STAGES,
    T_FAILED,
    TOL,
    UPDATES,
    UPPER,
    VECTOR,
    M,
    N,
)  # fmt: skip
from herk.thesis.newton import (
    ILL_CONDITIONED,
    MOST_TESTS,
    differences,
    eliminate,
    invert,
    misfit,
    near_miss,
    pick,
)
from herk.thesis.selectors import select

function_at, solver_at = typed(FUNCTION), typed(SOLVER)


@compiled()
def factor_at(t, x, e, rows, columns, ints):  # type: ignore[no-untyped-def]
    """Evaluate and factor E; a constant matrix stands in `e` already.

    And is factored once, at the first evaluation.
    """
    n = ints[N]
    if ints[E_AT] != 0:
        function_at(ints[E_AT])(t, x, e)
    rank = factor_leading(e, n, rows, columns)
    if rank < 0 or n - rank > ints[M]:
        return IRREDUCIBLE
    ints[RANK] = rank
    ints[REQUIRED] = n - rank
    ints[DIAGONAL] = 1 if is_diagonal(e, n, rank) else 0
    ints[FACTORED] = ints[ESTAT]
    return OK


@compiled(forceinline=True)
def search(m, n, t, x, control, ints, at, mem):  # type: ignore[no-untyped-def]
    """Put the algebraic components first in the order of the components.

    If all are required nothing has to be searched.
    """
    required = ints[REQUIRED]
    order, columns = ints[LISTS : LISTS + n], ints[LISTS + 2 * n : LISTS + 3 * n]
    if required == m:
        for k in range(n):
            order[k] = columns[n - m + k] if k < m else columns[k - m]
        return
    jac, vector = mem[at[JAC] : at[JAC + 1]], mem[at[VECTOR] : at[VECTOR + 1]]
    for k in range(n):
        order[k] = k
    if ints[JOPT] == 1:
        rows = mem[at[ROWS] : at[ROWS + 1]]
        function_at(ints[JAC_AT])(t, x, rows)
        pick(rows, order, n, n, m, jac)
    else:
        residual, changed = mem[at[RESIDUAL] : at[RESIDUAL + 1]], mem[at[CHANGED] : at[CHANGED + 1]]
        g = function_at(ints[G_AT])
        for k in range(n):
            vector[k] = x[k]
        g(t, x, residual)
        differences(g, t, vector, order, n, control[DELTA], m, residual, changed, jac)
    select(jac, m, n, order, columns[n - required :], required, control[PTOL])


@compiled()
def choose(t, x, control, ints, at, mem):  # type: ignore[no-untyped-def]
    """Search; the size of a plane mechanism has code of its own, in which all loops are written out."""
    m, n = ints[M], ints[N]
    if m == 3 and n == 5:
        search(3, 5, t, x, control, ints, at, mem)
    else:
        search(m, n, t, x, control, ints, at, mem)


@compiled(forceinline=True)
def block_at(g, m, t, x, order, residual, block, control, ints, at, mem):  # type: ignore[no-untyped-def]
    """Write the algebraic columns of dg/dx (by columns) into `block`; `residual` is g(t, x)."""
    n = ints[N]
    if ints[JOPT] == 1:
        rows = mem[at[ROWS] : at[ROWS + 1]]
        function_at(ints[JAC_AT])(t, x, rows)
        pick(rows, order, m, n, m, block)
        return
    vector, changed = mem[at[VECTOR] : at[VECTOR + 1]], mem[at[CHANGED] : at[CHANGED + 1]]
    for k in range(n):
        vector[k] = x[k]
    differences(g, t, vector, order, m, control[DELTA], m, residual, changed, block)


@compiled(forceinline=True)
def iterate(m, t, x, order, pivots, residual, block, upper, inverse, control, ints, at, mem):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the algebraic components with one Jacobian, inverted by QR with column pivoting."""
    g, max_norm, tol = function_at(ints[G_AT]), ints[MAX_NORM] == 1, control[TOL]
    g(t, x, residual)
    block_at(g, m, t, x, order, residual, block, control, ints, at, mem)
    for k in range(m):
        pivots[k] = order[k]
    if not invert(block, upper, inverse, pivots, m) <= ILL_CONDITIONED:
        ints[ILL] += 1
    for test in range(MOST_TESTS):
        off = misfit(residual, m, max_norm)
        if off < tol:
            ints[UPDATES] += test
            return OK
        if test == MOST_TESTS - 1:
            return near_miss(off, control, ints)
        for i in range(m):
            total = inverse[i] * residual[0]
            for j in range(1, m):
                total += inverse[j * m + i] * residual[j]
            x[pivots[i]] -= total
        g(t, x, residual)
    return NEWTON


@compiled(forceinline=True)
def simplified(t, x, order, pivots, residual, block, upper, inverse, control, ints, at, mem):  # type: ignore[no-untyped-def]
    """Solve g = 0 by simplified Newton, by the code made for this g if there is any."""
    if ints[SOLVER_AT] != 0:
        return solver_at(ints[SOLVER_AT])(t, x, order, control, ints)
    return iterate(ints[M], t, x, order, pivots, residual, block, upper, inverse, control, ints, at, mem)


@compiled()
def classical(t, x, order, residual, block, control, ints, at, mem):  # type: ignore[no-untyped-def]
    """Solve g = 0 for the algebraic components with a new Jacobian for every update, by LU."""
    m, g, max_norm = ints[M], function_at(ints[G_AT]), ints[MAX_NORM] == 1
    g(t, x, residual)
    for test in range(MOST_TESTS):
        off = misfit(residual, m, max_norm)
        if off < control[TOL]:
            ints[UPDATES] += test
            return OK
        if test == MOST_TESTS - 1:
            return near_miss(off, control, ints)
        block_at(g, m, t, x, order, residual, block, control, ints, at, mem)
        eliminate(block, residual, m)
        for k in range(m):
            x[order[k]] -= residual[k]
        g(t, x, residual)
    return NEWTON


@compiled(forceinline=True)
def stage_rates(f, t, x, h, i, e, rows, columns, right, rates, control, ints):  # type: ignore[no-untyped-def]
    """Write h x' of stage i, and count where f has entries that E does not reach."""
    n = ints[N]
    if ints[FACTORED] == 0:
        state = factor_at(t, x, e, rows, columns, ints)
        if state != OK:
            return state
    f(t, x, right)
    beyond = 1 if exceeds(n, ints[RANK], rows, right, control[LIMIT]) else 0
    ints[BEYOND] += beyond
    if i == 0:
        ints[BEYOND_AT_START] = beyond
    solve_leading(e, n, ints[RANK], ints[DIAGONAL], rows, columns, right, h, rates, i * n)
    return OK


@compiled()
def one_step(again, t, h, start, x, control, ints, at, weights, nodes, mem):  # type: ignore[no-untyped-def]
    """Make one step from `start` to x.

    The row s of `weights` with node 1 is the new point, a stage like the others.

    again: the step of twice the length was made just before from the same point, so the selectors are known,
    and the first h x' is half the old one. The original computes both anew, with the same result.
    """
    n, m, s = ints[N], ints[M], ints[STAGES]
    order, rows = ints[LISTS : LISTS + n], ints[LISTS + n : LISTS + 2 * n]
    columns, pivots = ints[LISTS + 2 * n : LISTS + 3 * n], ints[LISTS + 3 * n : LISTS + 4 * n]
    rates, e, right = (
        mem[at[RATES] : at[RATES + 1]],
        mem[at[LEADING] : at[LEADING + 1]],
        mem[at[RIGHT] : at[RIGHT + 1]],
    )
    residual, block = mem[at[RESIDUAL] : at[RESIDUAL + 1]], mem[at[BLOCK] : at[BLOCK + 1]]
    upper, inverse = mem[at[UPPER] : at[UPPER + 1]], mem[at[INVERSE] : at[INVERSE + 1]]
    f = function_at(ints[F_AT])
    for k in range(n):
        x[k] = start[k]
    for i in range(s + 1):
        time = t + nodes[i] * h
        state = OK
        if i > 0:
            for k in range(m, n):
                c = order[k]
                total = 0.0
                for j in range(i):
                    total += weights[i, j] * rates[j * n + c]
                x[c] = start[c] + total
            if m > 0 and ints[NOPT] == 1:
                state = simplified(
                    time, x, order, pivots, residual, block, upper, inverse, control, ints, at, mem
                )
            elif m > 0:
                state = classical(time, x, order, residual, block, control, ints, at, mem)
            ints[SOLVES] += 1
        if i == 0 and again:
            for k in range(n):
                rates[k] *= 0.5
            ints[BEYOND] += ints[BEYOND_AT_START]
        elif i < s and state == OK:
            state = stage_rates(f, time, x, h, i, e, rows, columns, right, rates, control, ints)
        if state != OK:
            control[T_FAILED] = time
            return state
        if i == 0 and m > 0 and not again:
            choose(time, x, control, ints, at, mem)
    return OK
