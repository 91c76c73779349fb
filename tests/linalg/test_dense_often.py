"""Factors for many solutions: systems are solved as NumPy does, and singular matrices are told."""

from __future__ import annotations

import numpy as np
import pytest

from herk.jit.native import passed
from herk.jit.program import Program
from herk.linalg.dense_often import factor_often, substitute_often

PROGRAM = Program(factor_often, substitute_often)


def solved(matrix: np.ndarray, right: np.ndarray, *, compiled: bool) -> tuple[float, np.ndarray]:
    k = len(right)
    a, order, x = matrix.ravel().copy(), np.zeros(k, dtype=np.int64), np.zeros(k)

    def call(function, *arguments):
        return PROGRAM[function].call(*passed(arguments)) if compiled else function(*arguments)

    smallest = call(factor_often, a, k, order)
    call(substitute_often, a, k, order, right, x)
    return smallest, x


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("k", [*range(1, 10), 17])  # up to eight have loops of their own
def test_the_solution_satisfies_the_system_to_rounding(k: int, compiled: bool) -> None:
    random = np.random.default_rng(k)
    matrix, wanted = random.normal(size=(k, k)), random.normal(size=k)
    matrix[0, 0] = 0.0 if k > 1 else 1.0  # rows must be exchanged
    smallest, x = solved(matrix, matrix @ wanted, compiled=compiled)
    assert smallest > 0.0
    assert np.abs(x - wanted).max() < 1e-14 * np.linalg.cond(matrix) * k


@pytest.mark.parametrize("bad", [0.0, np.nan])
def test_a_matrix_that_cannot_be_factored_is_told(bad: float) -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 4.0 + bad]])
    assert factor_often(matrix.ravel().copy(), 2, np.zeros(2, dtype=np.int64)) == 0.0
