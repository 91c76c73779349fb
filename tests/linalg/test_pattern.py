"""Patterns keep the order of values; columns of one group never meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array

from herk.linalg.pattern import Pattern


def random_pattern(rows: int, columns: int, seed: int) -> Pattern:
    return Pattern.of(random_array((rows, columns), density=0.1, rng=np.random.default_rng(seed)))


def test_values_come_in_the_order_of_the_pattern_whatever_the_order_given() -> None:
    pattern = random_pattern(30, 40, 1)
    values = np.arange(1.0, pattern.nnz + 1)
    dense = pattern.matrix(values).toarray()
    assert (pattern.values(dense) == values).all()
    dense[pattern.rows[3], pattern.indices[3]] = 0.0
    values[3] = 0.0
    assert (pattern.values(dense) == values).all()


def test_an_entry_outside_the_pattern_is_named() -> None:
    pattern = Pattern.of(np.eye(4))
    with pytest.raises(KeyError, match="2, 1"):
        pattern.values(np.eye(4) + 3.0 * (np.arange(16).reshape(4, 4) == 9))


def test_columns_of_one_group_never_meet_in_a_row() -> None:
    pattern = random_pattern(60, 80, 2)
    filled = pattern.matrix(np.ones(pattern.nnz)).toarray()
    for group in range(pattern.groups.max() + 1):
        assert filled[:, pattern.groups == group].sum(axis=1).max() <= 1


def test_a_band_of_width_three_needs_three_groups() -> None:
    band = np.eye(50) + np.eye(50, k=1) + np.eye(50, k=-1)
    assert Pattern.of(band).groups.max() + 1 == 3
