"""Exchanges: whatever columns they begin with, no other is a large multiple of those that are selected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from herk.linalg import exchange
from herk.linalg.exchange import LARGE, exchanged
from testset.cloth import edge, ends, rest, rods


def multiples(matrix: csr_array, chosen: np.ndarray) -> np.ndarray:
    dense = matrix.toarray()
    return np.abs(np.linalg.solve(dense[:, chosen], dense))


def net(N: int) -> csr_array:
    """Return dg/dy of the lengths of the rods of a crumpled cloth."""
    joined, noise = np.array(rods(N)), np.random.default_rng(2).normal(0.0, 0.3 / N, (N * N, 3))
    place = ends(rest(N, 0.5) + noise, edge(N))
    matrix = np.zeros((len(joined), 3 * N * N))
    for i, (a, b) in enumerate(joined):
        d = place[b] - place[a]
        matrix[i, 3 * b : 3 * b + 3] = d
        if a >= 0:
            matrix[i, 3 * a : 3 * a + 3] = -d
    return csr_array(matrix)


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_a_full_matrix_become_nearly_as_good_as_any(seed: int) -> None:
    generator = np.random.default_rng(seed)
    matrix = csr_array(generator.normal(size=(20, 45)))
    matrix[:, [1]] = matrix[:, [0]] + 1e-7 * matrix[:, [1]]  # two of those to begin with are nearly the same
    begin = np.arange(20)
    found = exchanged(matrix, begin, np.ones(45))
    assert found is not None
    assert multiples(matrix, begin).max() > 1e6
    assert multiples(matrix, found).max() <= LARGE * (1.0 + 1e-6)


def test_multiples_are_in_units_of_the_unknowns() -> None:
    matrix, size = csr_array([[1.0, 100.0]]), np.array([1000.0, 1.0])
    assert exchanged(matrix, np.array([0]), size) == [0]
    assert exchanged(matrix, np.array([0]), np.ones(2)) == [1]


def test_columns_of_a_net_that_depend_on_each_other_though_all_entries_are_large_are_exchanged() -> None:
    matrix = net(8)
    dense, generator = matrix.toarray(), np.random.default_rng(0)
    begin = None
    while begin is None:  # some columns, regular but badly so
        order = generator.permutation(dense.shape[1])
        kept: list[int] = []
        for j in order:
            if np.linalg.matrix_rank(dense[:, [*kept, j]], tol=1e-9) > len(kept):
                kept.append(j)
        begin = np.sort(kept)
    found = exchanged(matrix, begin, np.ones(dense.shape[1]))
    assert found is not None
    assert multiples(matrix, begin).max() > 10 * LARGE
    assert multiples(matrix, found).max() < 2 * LARGE  # columns in many more rows than others do not count


def test_columns_that_are_singular_are_refused() -> None:
    matrix = csr_array(random_array((5, 9), density=1.0, rng=np.random.default_rng(0)))
    matrix[:, [1]] = 0.0 * matrix[:, [1]]
    assert exchanged(matrix, np.arange(5), np.ones(9)) is None


def test_columns_that_nearly_depend_on_each_other_are_exchanged_in_finitely_many_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Contradicting:
        """Rows and columns of B as rounding makes them: each says that another entry is larger."""

        size, column = 2, np.zeros(2)

    def look_at(j: int, basis: Contradicting) -> None:
        basis.column = np.array([1.0, 5.0]) if j == 2 else np.array([5.0, 1.0])

    monkeypatch.setattr(exchange, "largest_of_row", lambda i, _: 2 + i)
    monkeypatch.setattr(exchange, "look_at", look_at)
    i, j = exchange.largest(0, Contradicting())  # type: ignore[arg-type]
    assert i in (0, 1)
    assert j in (2, 3)


def test_more_exchanges_than_are_kept_lead_to_columns_nearly_as_good_as_any() -> None:
    generator, n = np.random.default_rng(4), 3 * exchange.RENEWED
    poor, good = np.eye(n) + 0.01 * generator.normal(size=(n, n)), 50.0 * np.eye(n)
    matrix = csr_array(np.hstack([poor, good]))
    found = exchange.Exchanger(matrix, near=False).exchanged(matrix.data, np.arange(n), np.ones(2 * n))
    assert found is not None
    assert (np.sort(found) == np.arange(n, 2 * n)).all()  # the others are fifty times larger
    assert multiples(matrix, found).max() <= 1.0 + 1e-12


def test_factors_that_fill_up_get_the_memory_they_need() -> None:
    n = 60
    arrow = np.eye(n)
    arrow[0] = arrow[:, 0] = 1.0  # eliminated from its tip, everything fills up
    arrow[0, 0] = n
    rows = np.vstack([arrow, np.zeros((1, n))])
    rows[-1, -1] = 1.0
    matrix = csr_array(np.hstack([rows, 9.0 * np.eye(n + 1)]))
    memory = exchange.Exchanger(matrix, near=False)
    chosen, room = np.append(np.arange(n), 2 * n), memory.factors.lower.size
    found = memory.exchanged(matrix.data, chosen, np.ones(2 * n + 1))
    assert memory.factors.lower.size > room
    assert found is not None
    assert multiples(matrix, found).max() <= LARGE * (1.0 + 1e-9)


def test_the_same_memory_serves_other_values() -> None:
    generator = np.random.default_rng(7)
    matrix = csr_array(generator.normal(size=(15, 40)))
    memory = exchange.Exchanger(matrix)
    for _ in range(4):
        matrix.data[:] = generator.normal(size=matrix.nnz)
        found = memory.exchanged(matrix.data, np.arange(15), np.ones(40))
        again = exchanged(matrix, np.arange(15), np.ones(40))
        assert found is not None
        assert again is not None
        assert (found == again).all()
        assert multiples(matrix, found).max() <= LARGE * (1.0 + 1e-6)
