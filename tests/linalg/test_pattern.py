"""Patterns keep the order of values; columns of one group never meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, random_array
from scipy.sparse.linalg import splu

from herk.linalg.elimination import eliminated
from herk.linalg.ordering import least_fill
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


def test_a_part_of_a_pattern_is_that_of_the_full_matrix() -> None:
    pattern, generator = random_pattern(30, 40, 3), np.random.default_rng(3)
    values = np.arange(1.0, pattern.nnz + 1)
    dense = pattern.matrix(values).toarray()
    rows, columns = np.sort(generator.choice(30, 12, replace=False)), generator.choice(40, 17, replace=False)
    starts, places, source = pattern.part(rows, columns)
    found = csr_array((values[source], places, starts), shape=(12, 17)).toarray()
    assert (found == dense[rows][:, columns]).all()


def test_the_order_of_rows_of_an_arrow_brings_no_new_entries() -> None:
    arrow = np.eye(40)
    arrow[0] = arrow[:, 0] = 1.0
    place = least_fill(csr_array(arrow))
    factors = splu(
        csc_array((arrow + 40 * np.eye(40))[np.argsort(place)][:, np.argsort(place)]), permc_spec="NATURAL"
    )
    assert factors.L.nnz == factors.U.nnz == 40 + 39  # but from its tip everything fills up


def test_rows_of_a_chain_have_an_order_in_which_any_columns_bring_few_entries() -> None:
    size = 60
    shuffled = np.random.default_rng(1).permutation(size)
    chain = (np.eye(size, size + 1) + np.eye(size, size + 1, k=1))[shuffled]
    place = Pattern.of(chain).row_order
    assert (np.sort(place) == np.arange(size)).all()
    ordered = csr_array(chain[np.argsort(place)])
    assert (
        eliminated(ordered, np.arange(size)).entries <= 3 * size
    )  # of a band the rows of which are shuffled
