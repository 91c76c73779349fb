"""Derivatives from E(t,y) y' = f(t,y) for DAEs given as callables: diagonal, constant, varying, any E."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import (
    E_CHANGED,
    E_DIAGONAL,
    E_STACKED,
    E_VARYING,
    OK,
    SINGULAR,
    HalfExplicit,
    function_at,
)
from herk.integrate.steppers.half_explicit.newton import jacobian
from herk.jit.state import Floats, Wholes, view
from herk.linalg.dense import factor, level_rows, substitute
from herk.linalg.differences import time_step
from herk.linalg.sparse_lu import SparseLU, refactor, solve_sparse
from herk.linalg.stacked import solve_stacked


def derivative(t: float, y: Floats, row: int, own: HalfExplicit) -> int:
    """Write the derivatives at a point into row `row` of the stages, in the order of the components."""
    n, ydot, f, e, k, order = own.n, own.ydot, own.f, own.e_now, own.k, own.order
    function_at(own.at_f)(t, y, own.parameters, f)
    own.nfev += 1
    status = OK
    if own.e_mode == E_DIAGONAL:
        for i in range(n):
            diagonal = e[i * own.e_stride]
            ydot[i] = f[i] / diagonal if diagonal != 0.0 else 0.0
    elif own.e_mode == E_STACKED:
        status = stacked(t, y, own)
    else:
        status = reduced(t, y, own)
    for j in range(own.differential + own.predicted):
        k[row * n + j] = ydot[order[j]]
    return status


def reduced(t: float, y: Floats, own: HalfExplicit) -> int:
    """Solve the square system of the non-zero rows and columns of E; its factors are kept while E stays."""
    n, rank, f, ydot, rhs, scratch = own.n, own.e_rank, own.f, own.ydot, own.rhs, own.stacked
    rows, columns = own.e_rows, own.e_columns
    if own.e_mode == E_VARYING or not own.e_valid:
        status = renew_reduced(t, y, own)
        if status != OK:
            return status
    for i in range(rank):
        rhs[i] = f[rows[i]]
    if own.sparse:
        solve_sparse(rhs, scratch, SparseLU.at(own.e_factors))
    else:
        for i in range(rank):
            rhs[i] *= own.e_level[i]
        substitute(own.e_lu, 0, rank, own.e_order, rhs, scratch, 0)
    for i in range(n):
        ydot[i] = 0.0
    for i in range(rank):
        ydot[columns[i]] = scratch[i] * own.e_unit[i] if own.sparse else scratch[i]
    return OK


def renew_reduced(t: float, y: Floats, own: HalfExplicit) -> int:
    """Evaluate E; factor its reduced part if it changed, and check that its zeros are where they were."""
    n, rank, now, fresh, lu = own.n, own.e_rank, own.e_now, own.stacked, own.e_lu
    rows, columns = own.e_rows, own.e_columns
    if own.sparse:
        if own.e_mode == E_VARYING:
            function_at(own.at_e)(t, y, own.parameters, now)
        for i in range(rank):
            own.e_unit[i] = unit_of(columns[i], own)
        for p in range(now.size):
            lu[p] = now[p] * unit_of(own.e_entry[p], own)
        own.nlu += 1
        own.e_valid = 1
        return OK if refactor(lu, SparseLU.at(own.e_factors)) else SINGULAR
    if own.e_mode == E_VARYING:
        function_at(own.at_e)(t, y, own.parameters, view(fresh, 0, n * n))
        same = own.e_valid == 1
        for i in range(n * n):
            same = same and fresh[i] == now[i]
            now[i] = fresh[i]
        if same:
            return OK
        for i in range(n):
            for j in range(n):
                if now[i * n + j] != 0.0 and not (listed(i, rows, rank) and listed(j, columns, rank)):
                    return E_CHANGED
    for i in range(rank):
        for j in range(rank):
            lu[i * rank + j] = now[rows[i] * n + columns[j]]
        own.e_unit[i] = own.floor[n + columns[i]]
    level_rows(lu, rank, own.e_unit, own.e_level)
    own.nlu += 1
    own.e_valid = 1
    return OK if factor(lu, 0, rank, own.e_order) > 0.0 else SINGULAR


def unit_of(column: int, own: HalfExplicit) -> float:
    """Return how large an unknown has been."""
    size = own.floor[own.n + column]
    return size if size > 0.0 else 1.0


def listed(value: int, among: Wholes, count: int) -> bool:
    """Tell whether a value stands among the first `count` ones."""
    for i in range(count):
        if among[i] == value:
            return True
    return False


def stacked(t: float, y: Floats, own: HalfExplicit) -> int:
    """Solve [E; g_y] y' = [f; -g_t], which determines y' for every regularised system."""
    n, m, a, b, f, ydot, e, jac = own.n, own.m, own.stacked, own.rhs, own.f, own.ydot, own.e_now, own.jacobian
    if m:
        jacobian(t, y, own)
        for i in range(m * n):
            a[n * n + i] = jac[i]
        time_derivative(t, y, view(b, n, m), own)
    if own.have_e:
        function_at(own.at_e)(t, y, own.parameters, view(a, 0, n * n))
    else:
        for i in range(n * n):
            a[i] = e[i]
    for i in range(n):
        b[i] = f[i]
    for i in range(m):
        b[n + i] = -b[n + i]
    smallest = solve_stacked(a, n + m, n, b, ydot)
    for i in range(n):
        ydot[i] = b[i]
    return OK if smallest > 0.0 else SINGULAR


def time_derivative(t: float, y: Floats, out: Floats, own: HalfExplicit) -> None:
    """Evaluate dg/dt by the user's function or by a difference in t: central, one-sided where g ends."""
    if own.have_g_t:
        function_at(own.at_g_t)(t, y, own.parameters, out)
        return
    step = time_step(t, own.t_size)
    if difference(t, -step, step, y, out, own):
        return
    if difference(t, 0.0, step, y, out, own):
        return
    difference(t, -step, 0.0, y, out, own)


def difference(t: float, low: float, high: float, y: Floats, out: Floats, own: HalfExplicit) -> bool:
    """Write the difference quotient of g between two times; tell whether it is finite."""
    scratch, finite = own.g, True
    function_at(own.at_g)(t + high, y, own.parameters, out)
    function_at(own.at_g)(t + low, y, own.parameters, scratch)
    own.ngev += 2
    for i in range(own.m):
        out[i] = (out[i] - scratch[i]) / ((t + high) - (t + low))
        finite = finite and abs(out[i]) < 1e300
    return finite
