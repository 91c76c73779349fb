"""Least singular values of sparse matrices against those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from herk.linalg.sparse_rank import least_singular


@pytest.mark.parametrize("nearly", [1.0, 1e-2, 1e-5])
def test_the_least_singular_value_is_that_of_rows_of_size_one(nearly: float) -> None:
    matrix = np.random.default_rng(3).uniform(-1.0, 1.0, (4, 7))
    matrix[3] = matrix[0] + nearly * matrix[3]
    matrix[1] *= 1e6
    scaled = matrix / np.abs(matrix).max(axis=1, keepdims=True)
    right = np.linalg.svd(scaled, compute_uv=False)[-1]
    assert least_singular(csr_array(matrix)) == pytest.approx(right, rel=0.05)


def test_rows_that_are_one_have_nothing_left() -> None:
    assert least_singular(csr_array(np.ones((2, 3)))) < 1e-7
