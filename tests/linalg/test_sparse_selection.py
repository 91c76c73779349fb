"""Sparse selections: required components first, few changes, as good as those of full matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from herk.linalg.selection import select
from herk.linalg.sparse_selection import Selector

NOTHING = np.zeros(0, dtype=np.int64)


def selector(matrix: csr_array, required: np.ndarray = NOTHING) -> Selector:
    return Selector(required, np.bincount(matrix.indices, minlength=matrix.shape[1]))


def links(angles: np.ndarray) -> csr_array:
    """Return dg/dy of the lengths of a chain with links in these directions."""
    N = len(angles)
    matrix = np.zeros((N, 2 * N))
    for i, angle in enumerate(angles):
        d = np.array([np.sin(angle), -np.cos(angle)])
        matrix[i, 2 * i : 2 * i + 2] = d
        if i:
            matrix[i, 2 * i - 2 : 2 * i] = -d
    return csr_array(matrix)


@pytest.mark.parametrize("seed", range(8))
def test_every_selection_of_a_random_matrix_is_regular_if_the_full_one_is(seed: int) -> None:
    generator = np.random.default_rng(seed)
    matrix = csr_array(random_array((30, 50), density=0.15, rng=generator))
    required = np.sort(generator.choice(50, 6, replace=False))
    dense, full = matrix.toarray(), select(matrix.toarray(), tuple(required.tolist()))
    found = list(selector(matrix, required).selections(matrix, np.zeros(50), NOTHING))
    if full[1] < 30:
        assert all(np.linalg.matrix_rank(dense[:, each]) < 30 for each in found)
        return
    assert all(np.isin(required, each).all() for each in found)
    best = min(np.linalg.cond(dense[:, each]) for each in found if len(each) == 30)
    assert best < 100 * np.linalg.cond(dense[:, list(full[0])])


def test_a_straight_chain_selects_the_longer_side_of_every_link() -> None:
    matrix = links(np.full(40, 0.5))
    for found in selector(matrix).selections(matrix, np.zeros(80), NOTHING):
        assert (found == np.arange(1, 80, 2)).all()


def test_a_component_that_became_bad_is_exchanged_for_its_neighbour_and_the_rest_stays() -> None:
    angles = np.full(40, 0.5)
    before = np.arange(1, 80, 2)
    angles[17] = 1.56  # nearly level: its height says nothing about it
    matrix = links(angles)
    after = next(iter(selector(matrix).selections(matrix, np.zeros(80), before)))
    assert set(after) - set(before) == {34}
    assert set(before) - set(after) == {35}


def test_a_component_that_is_half_as_good_as_another_stays() -> None:
    angles = np.full(40, 0.5)
    angles[17] = np.arctan(2.0)
    matrix = links(angles)
    before = np.arange(1, 80, 2)
    assert (next(iter(selector(matrix).selections(matrix, np.zeros(80), before))) == before).all()


def test_dependent_rows_leave_too_few_components() -> None:
    rows = links(np.linspace(0.1, 0.9, 10)).toarray()
    matrix = csr_array(np.vstack([rows, rows[:2].sum(axis=0)]))
    *_, last = selector(matrix).selections(matrix, np.zeros(20), NOTHING)
    assert len(last) == 10
