"""Selected columns after exchanges against dense numpy: solutions, rows and columns of A_S^-1 A."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from herk.jit.native import passed
from herk.jit.program import Program
from herk.linalg.basis import SINGULAR, Basis, factor, inverse_row, largest_of_row, look_at, put, solve
from herk.linalg.elimination import ALL
from herk.linalg.exchange import Exchanger

PROGRAM = Program(factor, solve, inverse_row, largest_of_row, look_at, put)


def wide(n: int, columns: int, seed: int, density: float = 0.3) -> csr_array:
    """Return a matrix whose first columns are regular; no column is in many more rows than others."""
    generator = np.random.default_rng(seed)
    shape = (n, columns)
    plain = random_array(shape, density=density, rng=generator, data_sampler=generator.standard_normal)
    return csr_array(plain + 3.0 * np.eye(*shape))


def begun(matrix: csr_array, chosen: np.ndarray) -> tuple[Basis, Exchanger, int]:
    memory = Exchanger(matrix, near=False)
    basis = memory.basis
    basis.value[:], basis.chosen[:] = matrix.data, chosen
    return basis, memory, PROGRAM[factor].call(basis.address)


def check(basis: Basis, dense: np.ndarray, generator: np.random.Generator) -> None:
    """Compare solutions, and a row and a column of A_S^-1 A, with those of numpy."""
    inverse = np.linalg.inv(dense[:, basis.chosen])
    b, x = generator.normal(size=basis.size), np.empty(basis.size)
    right = b.copy()
    PROGRAM[solve].call(*passed((right, x)), basis.address)
    assert x == pytest.approx(inverse @ b, rel=1e-8, abs=1e-8)
    i, j = int(generator.integers(basis.size)), int(generator.integers(dense.shape[1]))
    PROGRAM[inverse_row].call(i, basis.address)
    assert basis.right == pytest.approx(inverse[i], rel=1e-8, abs=1e-8)
    PROGRAM[look_at].call(j, basis.address)
    assert basis.column == pytest.approx(inverse @ dense[:, j], rel=1e-8, abs=1e-8)
    row = np.abs(inverse[i] @ dense)
    row[basis.chosen] = 0.0
    assert row[PROGRAM[largest_of_row].call(i, basis.address)] == pytest.approx(row.max())


@pytest.mark.parametrize("seed", range(6))
def test_after_any_exchanges_a_basis_solves_as_its_columns_would_if_they_were_factored_anew(
    seed: int,
) -> None:
    n = 4 + 6 * seed
    matrix, generator = wide(n, 2 * n + 3, seed), np.random.default_rng(seed)
    dense = matrix.toarray()
    basis, _memory, status = begun(matrix, np.arange(n))
    assert status == ALL
    check(basis, dense, generator)
    for _ in range(12):
        j = int(generator.choice(np.setdiff1d(np.arange(dense.shape[1]), basis.chosen)))
        PROGRAM[look_at].call(j, basis.address)
        i = int(np.argmax(np.abs(basis.column)))
        if abs(basis.column[i]) > 0.1:
            PROGRAM[put].call(i, j, basis.address)
            assert basis.chosen[i] == j
            check(basis, dense, generator)
    assert basis.count > 0


def test_columns_are_singular_where_a_pivot_vanishes_and_not_where_it_is_tiny() -> None:
    dense = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 3.0]])
    matrix = csr_array(dense)
    assert begun(matrix, np.array([0, 1]))[2] == SINGULAR
    assert begun(matrix, np.array([0, 2]))[2] == ALL
    dense[1, 1] += 1e-14
    assert begun(csr_array(dense), np.array([0, 1]))[2] == ALL
