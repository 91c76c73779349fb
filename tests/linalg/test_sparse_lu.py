"""Sparse LU on fixed places against dense numpy, on random patterns and on blocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from herk.jit.native import passed
from herk.jit.program import Program
from herk.linalg.elimination import eliminated
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_lu import SparseLU, analysed, refactor, solve_sparse

PROGRAM = Program(refactor, solve_sparse)


def factored(values: np.ndarray, own: SparseLU) -> bool:
    return bool(PROGRAM[refactor].call(*passed((values,)), own.address))


def solved(b: np.ndarray, own: SparseLU) -> np.ndarray:
    x = np.empty(b.size)
    PROGRAM[solve_sparse].call(*passed((b, x)), own.address)
    return x


def random_matrix(k: int, seed: int, density: float) -> csr_array:
    generator = np.random.default_rng(seed)
    plain = random_array((k, k), density=density, rng=generator, data_sampler=generator.standard_normal)
    shuffled = csr_array(np.eye(k)[generator.permutation(k)])
    return csr_array(plain + shuffled)


@pytest.mark.parametrize("seed", range(12))
def test_solutions_are_those_of_numpy_for_values_that_change_on_a_pattern(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = 5 + 8 * seed
    pattern = Pattern.of(random_matrix(size, seed, 2.0 / size))
    for _ in range(3):  # the order of the first values serves all
        values = generator.uniform(0.5, 1.5, pattern.nnz)
        dense = pattern.matrix(values).toarray()
        own = analysed(pattern, np.arange(size), values)
        if own is None:
            assert np.linalg.cond(dense) > 1e10
            continue
        changed = values * generator.uniform(0.9, 1.1, pattern.nnz)
        dense, b = pattern.matrix(changed).toarray(), generator.normal(size=size)
        assert factored(changed, own)
        assert solved(b, own) == pytest.approx(np.linalg.solve(dense, b), rel=1e-13 * np.linalg.cond(dense))
        assert own.sign == np.linalg.slogdet(dense)[0]


def test_some_columns_of_a_matrix_are_solved_for_in_their_own_order() -> None:
    generator = np.random.default_rng(3)
    dense = generator.normal(size=(6, 9)) * (generator.random((6, 9)) < 0.7)
    pattern, columns = Pattern.of(dense), np.array([7, 0, 4, 8, 2, 3])
    values, b = pattern.values(dense), generator.normal(size=6)
    own = analysed(pattern, columns, values)
    assert own is not None
    assert factored(values, own)
    assert solved(b, own) == pytest.approx(np.linalg.solve(dense[:, columns], b), rel=1e-10)


def test_a_block_triangular_matrix_is_factored_in_its_blocks_only() -> None:
    generator = np.random.default_rng(5)
    rows, columns = generator.permutation(40), generator.permutation(40)
    triangle = np.tril(generator.normal(size=(40, 40))) + 10 * np.eye(40)
    pattern = Pattern.of(triangle[rows][:, columns])
    own = analysed(pattern, np.arange(40), pattern.values(triangle[rows][:, columns]))
    assert own is not None
    assert own.blocks == 40
    assert own.lower.size == own.upper.size == 0


def test_a_band_brings_no_new_entries() -> None:
    band = 3 * np.eye(60) + np.eye(60, k=1) + np.eye(60, k=-1)
    own = analysed(Pattern.of(band), np.arange(60), Pattern.of(band).values(band))
    assert own is not None
    assert own.lower.size == own.upper.size == 59


def test_a_pivot_that_becomes_small_asks_for_another_order() -> None:
    matrix = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 2.0]])
    pattern = Pattern.of(matrix)
    own = analysed(pattern, np.arange(3), pattern.values(matrix))
    assert own is not None
    assert factored(pattern.values(matrix), own)
    assert own.weakest == pytest.approx(1.0)
    first, place = int(own.row[0]), int(own.column[0])
    matrix[first, place] = 1e-9
    assert not factored(pattern.values(matrix), own)
    assert np.linalg.cond(matrix) < 100.0  # another order is good


def test_a_singular_matrix_has_no_order() -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    assert analysed(Pattern.of(matrix), np.arange(3), Pattern.of(matrix).values(matrix)) is None
    matrix[:, 1] = 0.0
    assert analysed(Pattern.of(matrix), np.arange(3), Pattern.of(matrix).values(matrix)) is None


def test_elimination_finds_the_rank_of_wide_matrices_and_columns_that_span_it() -> None:
    generator = np.random.default_rng(8)
    for _ in range(20):
        left = random_array((30, 12), density=0.2, rng=generator).toarray()
        dense = left @ random_array((12, 50), density=0.2, rng=generator).toarray()
        found = eliminated(csr_array(dense), np.arange(30))
        rank = np.linalg.matrix_rank(dense)
        assert found.rank == rank
        assert np.linalg.matrix_rank(dense[:, found.pivot[found.pivot >= 0]]) == rank
