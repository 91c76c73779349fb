"""One step of Algorithm 3.3 as the program of 2017 makes it.

Selectors at the first stage, Newton from the stage before.
"""

from __future__ import annotations

from herk.jit.state import Floats, view
from herk.thesis.layout import IRREDUCIBLE, NEWTON, OK, Herkosidae, function_at, solver_at
from herk.thesis.leading import exceeds, factor_leading, is_diagonal, solve_leading
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


def factor_at(t: float, x: Floats, own: Herkosidae) -> int:
    """Evaluate and factor E; a constant matrix stands in `e` already.

    And is factored once, at the first evaluation.
    """
    n = own.n
    if own.at_e != 0:
        function_at(own.at_e)(t, x, own.parameters, own.e)
    rank = factor_leading(own.e, n, own.e_rows, own.e_columns)
    if rank < 0 or n - rank > own.m:
        return IRREDUCIBLE
    own.rank = rank
    own.required = n - rank
    own.diagonal = 1 if is_diagonal(own.e, n, rank) else 0
    own.factored = own.constant_e
    return OK


def search(m: int, n: int, t: float, x: Floats, own: Herkosidae) -> None:
    """Put the algebraic components first in the order of the components.

    If all are required nothing has to be searched.
    """
    required, order, columns = own.required, own.components, own.e_columns
    if required == m:
        for k in range(n):
            order[k] = columns[n - m + k] if k < m else columns[k - m]
        return
    for k in range(n):
        order[k] = k
    if own.given_jacobian:
        function_at(own.at_jac_g)(t, x, own.parameters, own.jac_rows)
        pick(own.jac_rows, order, n, n, m, own.jac)
    else:
        for k in range(n):
            own.vector[k] = x[k]
        function_at(own.at_g)(t, x, own.parameters, own.residual)
        differences(t, order, n, own.jac, own)
    select(own.jac, m, n, order, view(columns, n - required, required), required, own.ptol)


def choose(t: float, x: Floats, own: Herkosidae) -> None:
    """Search; the size of a plane mechanism has code of its own, in which all loops are written out."""
    if own.m == 3 and own.n == 5:
        search(3, 5, t, x, own)
    else:
        search(own.m, own.n, t, x, own)


def block_at(t: float, x: Floats, own: Herkosidae) -> None:
    """Write the algebraic columns of dg/dx into `block`; `residual` is g(t, x)."""
    m, n = own.m, own.n
    if own.given_jacobian:
        function_at(own.at_jac_g)(t, x, own.parameters, own.jac_rows)
        pick(own.jac_rows, own.components, m, n, m, own.block)
        return
    for k in range(n):
        own.vector[k] = x[k]
    differences(t, own.components, m, own.block, own)


def iterate(t: float, x: Floats, own: Herkosidae) -> int:
    """Solve g = 0 for the algebraic components with one Jacobian, inverted by QR with column pivoting."""
    m, order, pivots, residual, inverse = own.m, own.components, own.pivots, own.residual, own.inverse
    function_at(own.at_g)(t, x, own.parameters, residual)
    block_at(t, x, own)
    for k in range(m):
        pivots[k] = order[k]
    if not invert(own.block, own.upper, inverse, pivots, m) <= ILL_CONDITIONED:
        own.ill += 1
    for test in range(MOST_TESTS):
        off = misfit(residual, m, own.max_norm == 1)
        if off < own.tol:
            own.updates += test
            return OK
        if test == MOST_TESTS - 1:
            return near_miss(off, own)
        for i in range(m):
            total = inverse[i] * residual[0]
            for j in range(1, m):
                total += inverse[j * m + i] * residual[j]
            x[pivots[i]] -= total
        function_at(own.at_g)(t, x, own.parameters, residual)
    return NEWTON


def classical(t: float, x: Floats, own: Herkosidae) -> int:
    """Solve g = 0 for the algebraic components with a new Jacobian for every update, by LU."""
    m, order, residual = own.m, own.components, own.residual
    function_at(own.at_g)(t, x, own.parameters, residual)
    for test in range(MOST_TESTS):
        off = misfit(residual, m, own.max_norm == 1)
        if off < own.tol:
            own.updates += test
            return OK
        if test == MOST_TESTS - 1:
            return near_miss(off, own)
        block_at(t, x, own)
        eliminate(own.block, residual, m)
        for k in range(m):
            x[order[k]] -= residual[k]
        function_at(own.at_g)(t, x, own.parameters, residual)
    return NEWTON


def solve_constraints(t: float, x: Floats, own: Herkosidae) -> int:
    """Solve g = 0 as the options say, by the code made for this g if there is any."""
    own.solves += 1
    if own.m == 0:
        return OK
    if not own.simplified:
        return classical(t, x, own)
    if own.at_solver != 0:
        return solver_at(own.at_solver)(t, x, own.components, own)
    return iterate(t, x, own)


def stage_rates(t: float, x: Floats, h: float, i: int, own: Herkosidae) -> int:
    """Write h x' of stage i, and count where f has entries that E does not reach."""
    n, rows, right = own.n, own.e_rows, own.right
    if not own.factored:
        state = factor_at(t, x, own)
        if state != OK:
            return state
    function_at(own.at_f)(t, x, own.parameters, right)
    beyond = 1 if exceeds(n, own.rank, rows, right, own.limit) else 0
    own.beyond += beyond
    if i == 0:
        own.beyond_at_start = beyond
    rates = view(own.rates, i * n, n)
    solve_leading(own.e, n, own.rank, own.diagonal == 1, rows, own.e_columns, right, h, rates)
    return OK


def begin(again: bool, t: float, x: Floats, h: float, own: Herkosidae) -> int:
    """Make the first stage: h x' and the selectors.

    again: the step of twice the length was made just before from the same point, so the selectors are known,
    and the first h x' is half the old one. The original computes both anew, with the same result.
    """
    if again:
        for k in range(own.n):
            own.rates[k] *= 0.5
        own.beyond += own.beyond_at_start
        return OK
    state = stage_rates(t, x, h, 0, own)
    if state == OK and own.m > 0:
        choose(t, x, own)
    return state


def combine(i: int, start: Floats, x: Floats, own: Herkosidae) -> None:
    """Write the components of stage i that are not algebraic."""
    n, s, order, weights, rates = own.n, own.stages, own.components, own.weights, own.rates
    for k in range(own.m, n):
        c = order[k]
        total = 0.0
        for j in range(i):
            total += weights[i * s + j] * rates[j * n + c]
        x[c] = start[c] + total


def one_step(again: bool, t: float, h: float, start: Floats, x: Floats, own: Herkosidae) -> int:
    """Make one step from `start` to x; see `begin` for `again`.

    The last row of `weights` with node 1 is the new point, a stage like the others.
    """
    s, nodes = own.stages, own.nodes
    for k in range(own.n):
        x[k] = start[k]
    time = t + nodes[0] * h
    state = begin(again, time, x, h, own)
    for i in range(1, s + 1):
        if state == OK:
            time = t + nodes[i] * h
            combine(i, start, x, own)
            state = solve_constraints(time, x, own)
            if state == OK and i < s:
                state = stage_rates(time, x, h, i, own)
    if state != OK:
        own.t_failed = time
    return state
