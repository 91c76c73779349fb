"""Complex LU: solves as NumPy does, in machine code and in plain Python, and says so if it cannot."""

from __future__ import annotations

import numpy as np
import pytest

from herk.jit.native import passed
from herk.jit.program import Program
from herk.linalg.complex_dense import factor_complex, substitute_complex

PROGRAM = Program(factor_complex, substitute_complex)


def solved(matrix: np.ndarray, right: np.ndarray, *, compiled: bool) -> tuple[float, np.ndarray]:
    k = len(right)
    re, im = matrix.real.ravel().copy(), matrix.imag.ravel().copy()
    order, x = np.zeros(k, dtype=np.int64), np.zeros(2 * k)
    b, c = right.real.copy(), right.imag.copy()

    def call(function, *arguments):
        return PROGRAM[function].call(*passed(arguments)) if compiled else function(*arguments)

    smallest = call(factor_complex, re, im, k, order)
    call(substitute_complex, re, im, k, order, b, c, x)
    return smallest, x[:k] + 1j * x[k:]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("k", [*range(1, 10), 17])  # up to eight have loops of their own
def test_the_solution_satisfies_the_system_to_rounding(k: int, compiled: bool) -> None:
    random = np.random.default_rng(k)
    matrix = random.normal(size=(k, k)) + 1j * random.normal(size=(k, k))
    wanted = random.normal(size=k) + 1j * random.normal(size=k)
    smallest, x = solved(matrix, matrix @ wanted, compiled=compiled)
    assert smallest > 0.0
    assert np.abs(x - wanted).max() < 1e-14 * np.linalg.cond(matrix) * k


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_are_exchanged_where_the_diagonal_vanishes(compiled: bool) -> None:
    matrix = np.array([[0.0, 1.0j, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    _, x = solved(matrix, matrix @ np.array([1.0, 2.0 - 1.0j, 3.0j]), compiled=compiled)
    assert x == pytest.approx(np.array([1.0, 2.0 - 1.0j, 3.0j]), abs=1e-15)


def test_a_singular_matrix_has_no_pivot() -> None:
    matrix = np.array([[1.0 + 1.0j, 2.0 + 2.0j], [2.0, 4.0]])
    with np.errstate(all="ignore"):
        assert solved(matrix, np.ones(2, dtype=complex), compiled=True)[0] == 0.0


def test_numbers_near_the_ends_of_the_range_are_divided_without_overflow() -> None:
    for size in (1e-200, 1e200):
        matrix = np.array([[size * (3.0 + 4.0j)]])
        _, x = solved(matrix, np.array([size * (1.0 + 0.0j)]), compiled=True)
        assert x[0] == pytest.approx((3.0 - 4.0j) / 25.0, rel=1e-15)
