"""Graphs of matrices: entries in order, components against reachability, parities against determinants."""

from __future__ import annotations

import numpy as np
import pytest

from herk.linalg.graphs import by_rows, components, parity


@pytest.mark.parametrize("seed", range(10))
def test_entries_come_by_rows_and_in_each_by_columns(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = 3 * seed + 1
    rows, columns = np.nonzero(generator.random((size, size)) < 0.3)
    shuffled = generator.permutation(len(rows))
    start, order = by_rows(rows[shuffled], columns[shuffled], size)
    assert (rows[shuffled][order] == rows).all()  # numpy lists them in this order
    assert (columns[shuffled][order] == columns).all()
    assert (np.diff(start) == np.bincount(rows, minlength=size)).all()


@pytest.mark.parametrize("seed", range(30))
def test_nodes_share_a_component_if_each_is_reached_from_the_other(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 40))
    graph = generator.random((size, size)) < generator.uniform(0.0, 2.5) / size
    reached = np.eye(size, dtype=bool)
    for _ in range(size):
        reached |= reached @ graph
    rows, columns = np.nonzero(graph)
    found = components(rows, columns, size)
    assert ((found[:, None] == found) == (reached & reached.T)).all()
    assert (found[rows] >= found[columns]).all()  # block lower triangular
    assert set(found) == set(range(found.max() + 1))


def test_a_long_cycle_is_one_component_and_a_long_chain_has_as_many_as_nodes() -> None:
    size = 100_000
    rows = np.arange(size)
    assert not components(rows, np.roll(rows, -1), size).any()
    assert (components(rows[:-1], rows[1:], size) == size - 1 - rows).all()


def test_parity_is_the_determinant_of_a_permutation() -> None:
    generator = np.random.default_rng(1)
    for size in (1, 2, 3, 7, 20):
        order = generator.permutation(size)
        assert parity(order) == round(np.linalg.det(np.eye(size)[order]))
