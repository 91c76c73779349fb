"""The linear systems of a step: factors of its matrices and solutions, in full or on patterns."""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import OK, SINGULAR, Radau
from herk.integrate.steppers.radau.on_patterns import factor_end, factor_step, solve_in_units, solve_pair
from herk.jit.state import Floats, view
from herk.linalg.complex_dense import factor_complex, substitute_complex
from herk.linalg.dense import level_rows
from herk.linalg.dense_often import factor_often, substitute_often
from herk.linalg.sparse_lu import SparseLU

SAME_STEP = 1e-7  # steps that differ by no more than this part share their factors


def decompose(own: Radau) -> int:
    """Factor all Newton matrices."""
    if own.sparse:
        return factor_step(own)
    n, lu, mass, jacobian = own.n, own.lu, own.mass, own.jacobian
    gamma = own.values[0] / own.h
    for i in range(n * n):
        lu[i] = gamma * mass[i] + jacobian[i]
    level_rows(lu, n, own.scale, own.leveled)
    own.nlu += 1
    own.h_factors = own.h
    own.factors_valid = 0
    if not factor_often(lu, n, own.order) > 0.0:
        return SINGULAR
    for k in range(own.s // 2):
        alpha, beta = own.values[2 * k + 1] / own.h, own.values[2 * k + 2] / own.h
        re, im = view(own.re, k * n * n, n * n), view(own.im, k * n * n, n * n)
        for i in range(n):
            factor_of_row = own.leveled[i]
            for j in range(i * n, i * n + n):
                re[j] = factor_of_row * (alpha * mass[j] + jacobian[j])
                im[j] = factor_of_row * beta * mass[j]
        own.nlu += 1
        if not factor_complex(re, im, n, view(own.order_complex, k * n, n)) > 0.0:
            return SINGULAR
    own.factors_valid = 1
    return OK


def up_to_date(own: Radau) -> bool:
    """Tell whether the factors are those of the step at work.

    Sparse ones stand elsewhere: where a run was taken back, they may be of a later step.
    """
    if not own.factors_valid or not abs(own.h - own.h_factors) <= SAME_STEP * abs(own.h):
        return False
    return own.sparse == 0 or SparseLU.at(own.of_step).stamp == own.stamp


def solve_real(b: Floats, x: Floats, own: Radau) -> None:
    """Solve with the real factors of the step."""
    if own.sparse:
        solve_in_units(b, x, own.of_step, own)
    else:
        substitute_often(own.lu, own.n, own.order, b, x)


def solve_complex_pair(k: int, b: Floats, c: Floats, own: Radau) -> None:
    """Solve with the complex factors of a pair of eigenvalues; the solution is written to `pair`."""
    n = own.n
    if own.sparse:
        solve_pair(k, b, c, own)
    else:
        re, im = view(own.re, k * n * n, n * n), view(own.im, k * n * n, n * n)
        substitute_complex(re, im, n, view(own.order_complex, k * n, n), b, c, own.pair)


def decompose_end(own: Radau) -> bool:
    """Factor [gamma/h S E + ..; g_y] with g_y at hand; the factors of the step stay as they are."""
    own.nlu += 1
    if own.sparse:
        return factor_end(own)
    n, d, a, mass, jacobian, g_y = own.n, own.d, own.stacked, own.mass, own.jacobian, own.g_y
    gamma = own.values[0] / own.h_factors
    for i in range(d):
        factor_of_row = own.leveled[i]
        for j in range(i * n, i * n + n):
            a[j] = factor_of_row * (gamma * mass[j] + jacobian[j])
    for i in range(own.m):
        factor_of_row, row = own.leveled[d + i], view(a, (d + i) * n, n)
        for j in range(n):
            row[j] = factor_of_row * g_y[i * n + j]
    return factor_often(a, n, own.used) > 0.0


def solve_end(b: Floats, x: Floats, own: Radau) -> None:
    """Solve with those factors."""
    if own.sparse:
        solve_in_units(b, x, own.of_end, own)
    else:
        substitute_often(own.stacked, own.n, own.used, b, x)
