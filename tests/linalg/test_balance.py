"""Logarithms balanced in least squares: sparse or full, with columns that every row has."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from herk.linalg.balance import balanced, evened

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


def test_a_sparse_matrix_in_any_units_is_brought_near_one_and_only_scaled() -> None:
    dice = np.random.default_rng(4)
    plain = (
        dice.uniform(1.0, 2.0, (150, 140))
        * (dice.random((150, 140)) < 0.05)
        * dice.choice([-1, 1], (150, 140))
    )
    units = 10.0 ** dice.integers(-12, 13, 150)[:, None] * 10.0 ** dice.integers(-12, 13, 140)
    found = evened(csr_array(plain * units)).toarray()
    here = plain != 0.0
    assert ((found != 0.0) == here).all()
    assert np.abs(np.log2(np.abs(found[here]))).max() < 3.0  # entries between 1 and 2, powers rounded
    ratio = np.frexp(found[here] / (plain * units)[here])[0]
    assert set(ratio.tolist()) == {0.5}  # powers of two: nothing is rounded
