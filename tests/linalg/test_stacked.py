"""Consistent systems with more rows than unknowns are solved whatever the units of rows and columns."""

from __future__ import annotations

import numpy as np
import pytest

from herk.linalg.stacked import solve_stacked


def stacked(matrix: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
    a, b, tops = matrix.ravel().copy(), right.copy(), np.zeros(matrix.shape[1])
    return solve_stacked(a, *matrix.shape, b, tops), b[: matrix.shape[1]]


@pytest.mark.parametrize("seed", range(10))
def test_units_of_rows_and_unknowns_do_not_decide_whether_a_system_is_solved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((7, 4)) < 0.6, rng.uniform(0.5, 2.0, (7, 4)), 0.0)
    matrix[:4] += np.diag(np.full(4, 5.0))  # regular
    x = rng.uniform(0.5, 2.0, 4)
    rows, columns = 10.0 ** rng.integers(-12, 13, 7), 10.0 ** rng.integers(-12, 13, 4)
    pivot, found = stacked(matrix * rows[:, None] * columns, matrix @ x * rows)
    assert pivot > 1e-8
    np.testing.assert_allclose(found * columns, x, rtol=1e-10)


def test_an_entry_that_is_small_beside_its_row_may_be_large_in_its_unit() -> None:
    """The first unknown is small in every row but one, which a scaling by largest entries takes for a unit."""
    matrix = np.array([[1e-15, 0.0, 2e5], [1e-5, 0.0, 1e15], [0.0, 0.0, 1e18], [1e8, -1e7, 0.0]])
    x = np.array([1e10, 3e11, 1.5e-10])
    pivot, found = stacked(matrix, matrix @ x)
    assert pivot > 0.0
    np.testing.assert_allclose(found, x, rtol=1e-9)


def test_a_matrix_without_full_column_rank_is_told() -> None:
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 1.0], [0.5, 1.0, 0.0], [1.0, 2.0, 5.0]])
    assert stacked(matrix, np.zeros(4))[0] == 0.0
