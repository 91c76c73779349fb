"""As many rows as possible have a column of their own, whatever is known to begin with."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as ss
from scipy.sparse.csgraph import maximum_bipartite_matching

from herk.linalg.matching import has_columns, matched


def checked(matrix: ss.csr_array, found: np.ndarray) -> int:
    rows = np.flatnonzero(found >= 0)
    assert len(set(found[rows].tolist())) == len(rows)
    assert all(matrix[i, found[i]] != 0.0 for i in rows)
    return len(rows)


@pytest.mark.parametrize("seed", range(20))
def test_matchings_are_as_large_as_those_of_scipy(seed: int) -> None:
    dice = np.random.default_rng(seed)
    shape = tuple(dice.integers(1, 40, 2).tolist())
    matrix = ss.random_array(shape, density=dice.uniform(0.02, 0.3), rng=dice, format="csr")
    most = int((maximum_bipartite_matching(matrix, perm_type="column") >= 0).sum())
    assert checked(matrix, matched(matrix)) == most
    known = np.where(dice.random(shape[0]) < 0.5, np.arange(shape[0]) % shape[1], -1)
    once = np.full(shape[0], -1)
    for i, column in enumerate(known.tolist()):
        once[i] = column if column not in once[:i] else -1
    assert checked(matrix, matched(matrix, once)) == most


def test_known_partners_with_an_entry_are_kept() -> None:
    matrix = ss.csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    assert matched(matrix, np.array([1, 0, 2])).tolist() == [1, 0, 2]
    assert matched(matrix, np.array([2, 1, -1])).tolist() == [0, 1, 2]  # no entry at (0, 2)


@pytest.mark.parametrize("seed", range(40))
def test_rounds_tell_whether_all_rows_have_columns(seed: int) -> None:
    dice = np.random.default_rng(seed)
    rows = int(dice.integers(1, 30))
    shape = rows, rows + int(dice.integers(0, 4))
    matrix = ss.csr_array(ss.random_array(shape, density=dice.uniform(0.05, 0.4), rng=dice))
    most = int((maximum_bipartite_matching(matrix, perm_type="column") >= 0).sum())
    assert has_columns(matrix) == (most == rows)


def test_rounds_find_columns_that_only_long_paths_lead_to() -> None:
    """Row i has columns i and i + 1, the last row the first column alone: all others move on by one."""
    rows = 5000
    columns = np.concatenate([np.column_stack([np.arange(rows - 1), np.arange(1, rows)]).ravel(), [0]])
    starts = np.append(2 * np.arange(rows), 2 * rows - 1)
    assert has_columns(ss.csr_array((np.ones(columns.size), columns, starts), shape=(rows, rows)))
