"""Complex sparse LU on the places of real factors: solves as NumPy does, and says so if it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, kron, random_array

from herk.jit.native import passed
from herk.jit.program import Program
from herk.linalg.pattern import Pattern
from herk.linalg.sparse_complex import complex_like, refactor_complex, solve_complex
from herk.linalg.sparse_lu import SparseLU, factors_in_one, factors_of, some_rows

PROGRAM = Program(refactor_complex, solve_complex)
MAKERS = [factors_of, factors_in_one]


def scattered(n: int = 40) -> csr_array:
    """Return a matrix that is far from symmetric and has a small diagonal."""
    noise = random_array((n, n), density=0.08, rng=np.random.default_rng(n))
    turned = eye_array(n, format="csr")[np.roll(np.arange(n), 7)]
    return csr_array(noise + turned + 1e-9 * eye_array(n))


def grid(n: int = 12) -> csr_array:
    """Return Laplace's operator on a square."""
    line = eye_array(n) * 2.0 - eye_array(n, k=1) - eye_array(n, k=-1)
    return csr_array(kron(line, eye_array(n)) + kron(eye_array(n), line))


def solved(factors: SparseLU, re: np.ndarray, im: np.ndarray, right: np.ndarray) -> tuple[bool, np.ndarray]:
    own, x, b, c = complex_like(factors), np.zeros(2 * len(right)), right.real.copy(), right.imag.copy()
    fit = bool(PROGRAM[refactor_complex].call(*passed((re, im)), own.address))
    PROGRAM[solve_complex].call(*passed((b, c, x)), own.address)
    return fit, x[: len(right)] + 1j * x[len(right) :]


@pytest.mark.parametrize("matrix", [scattered(), grid()], ids=["scattered", "grid"])
@pytest.mark.parametrize("made", MAKERS, ids=["blocks", "one"])
def test_the_solution_satisfies_the_system_to_rounding(matrix: csr_array, made) -> None:
    random, size = np.random.default_rng(5), matrix.shape[0]
    factors = made(matrix, np.arange(matrix.nnz))
    assert factors is not None
    im = 0.5 * matrix.data * random.uniform(0.5, 1.0, matrix.nnz)
    whole = csr_array((matrix.data + 1j * im, matrix.indices, matrix.indptr), shape=matrix.shape)
    wanted = random.normal(size=size) + 1j * random.normal(size=size)
    fit, x = solved(factors, matrix.data, im, whole @ wanted)
    assert fit
    assert np.abs(x - wanted).max() < 1e-14 * np.linalg.cond(whole.toarray()) * size


def test_a_pivot_that_vanishes_is_reported() -> None:
    matrix = grid(3)
    factors = factors_in_one(matrix, np.arange(matrix.nnz))
    assert factors is not None
    nothing = np.zeros(matrix.nnz)
    with np.errstate(all="ignore"):
        fit, _ = solved(factors, nothing, nothing, np.ones(9, dtype=complex))
    assert not fit


def test_few_entries_are_new_in_the_factors_of_a_grid() -> None:
    """Nested dissection of a square with k points has about 31/4 k log2 k entries (George 1973)."""
    matrix = grid(24)
    factors = factors_in_one(matrix, np.arange(matrix.nnz))
    assert factors is not None
    assert factors.upper.size < 31 / 4 * 576 * np.log2(576) / 2


def test_a_singular_matrix_has_no_factors() -> None:
    matrix = grid(3).toarray()
    matrix[4] = matrix[3]
    assert factors_in_one(csr_array(matrix), np.arange(np.count_nonzero(matrix))) is None
    matrix[4] = 0.0
    assert factors_in_one(csr_array(matrix), np.arange(np.count_nonzero(matrix))) is None


def test_rows_keep_the_places_of_their_values() -> None:
    pattern = Pattern.of(grid(3))
    entries = np.ones(pattern.nnz, dtype=np.int64)
    entries[::4] = 0
    values = np.arange(10.0, 10.0 + pattern.nnz)
    matrix, source = some_rows(pattern, np.array([5, 2]), entries, values)
    wanted = pattern.matrix(values * entries).toarray()[[5, 2]]
    assert np.array_equal(matrix.toarray(), wanted)
    assert np.array_equal(matrix.data, values[source])
