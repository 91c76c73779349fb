"""Assignments on sparse patterns against dense ones of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from herk.linalg.assignment import assigned


def lengths(seed: int, *, ties: bool) -> np.ndarray:
    """Return lengths of a sparse matrix, infinite where it has no entry."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(1, 40))
    shape = rows, rows + int(generator.integers(0, 3)) * (seed % 2)
    values = generator.integers(1, 4, shape) if ties else generator.uniform(1.0, 9.0, shape)
    return np.where(generator.random(shape) < generator.uniform(0.1, 0.7), values, np.inf)


def sparse(full: np.ndarray) -> csr_array:
    rows, columns = np.nonzero(np.isfinite(full))
    return csr_array((full[rows, columns], (rows, columns)), shape=full.shape)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("ties", [False, True])
def test_the_sum_of_lengths_is_the_least(seed: int, ties: bool) -> None:
    full = lengths(seed, ties=ties)
    found = assigned(sparse(full))
    try:
        rows, columns = linear_sum_assignment(full)
    except ValueError:  # there is none
        assert (found < 0).any()
        return
    assert len(set(found.tolist())) == len(full)
    assert full[np.arange(len(full)), found].sum() == pytest.approx(full[rows, columns].sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_as_many_rows_as_possible_have_a_column_of_their_own(seed: int) -> None:
    matrix = sparse(lengths(seed, ties=True))
    found = assigned(matrix)
    given = found[found >= 0]
    assert len(set(given.tolist())) == len(given)
    assert all(matrix[i, j] > 0.0 for i, j in enumerate(found) if j >= 0)
    assert len(given) == (maximum_bipartite_matching(matrix, perm_type="column") >= 0).sum()
