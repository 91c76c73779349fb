"""Logarithms balanced in least squares: sparse or full, with columns that every row has."""

from __future__ import annotations

import numpy as np
import pytest

from herk.linalg.balance import balanced

COUNT, TIES = 1200, 3000


@pytest.mark.parametrize("shared", [0, 1, 3])
def test_the_least_squares_solution_is_found_with_columns_in_all_rows_too(shared: int) -> None:
    """As normal equations have it: the gradient is zero but for a ridge, which is 1e-7."""
    dice = np.random.default_rng(shared)
    ties, dense, right = [], np.zeros((TIES, COUNT)), np.zeros(TIES)
    for i in range(TIES):
        places = {*dice.choice(np.arange(shared, COUNT), 3, replace=False).tolist(), *range(shared)}
        form = {j: float(dice.uniform(0.5, 2.0)) for j in places}
        weight, constant = dice.uniform(0.5, 2.0, 2)
        ties.append(({**form, -1: float(constant)}, float(weight)))
        dense[i, list(form)] = weight * np.array(list(form.values()))
        right[i] = -weight * constant
    found = balanced(ties, COUNT)
    wanted = np.linalg.solve(dense.T @ dense + 1e-7 * np.eye(COUNT), dense.T @ right)
    assert np.abs(found - wanted).max() < 1e-8 * np.abs(wanted).max()
