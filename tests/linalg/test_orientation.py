"""Signs of determinants, block by block, in compiled code."""

from __future__ import annotations

import numpy as np
import pytest

from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes
from herk.linalg.orientation import block_signs, diagonal_blocks


class Given(State):
    """What the compiled function is given."""

    n: int
    count: int
    a: Floats
    out: Floats
    rows: Wholes
    columns: Wholes
    start: Wholes
    order: Wholes


def run(address: int) -> int:
    own = Given.at(address)
    block_signs(own.a, own.n, own.rows, own.columns, own.start, own.count, own.out, own.order)
    return 0


PROGRAM = Program(run)


def signs(a: np.ndarray, pattern: np.ndarray | None = None) -> np.ndarray:
    """Return the signs of the blocks of a matrix."""
    n = len(a)
    rows, columns, start = diagonal_blocks(a != 0.0 if pattern is None else pattern)
    given = Given(a=n * n, out=n + n * n, rows=n, columns=n, start=n + 1, order=n)
    given.n, given.count = n, len(start) - 1
    given.a[:], given.rows[:], given.columns[:], given.start[: len(start)] = a.ravel(), rows, columns, start
    PROGRAM[run].call(given.address)
    return np.array(given.out[: given.count])


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_full_matrix_is_one_block_with_the_sign_of_its_determinant(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        a = rng.standard_normal((n, n))
        assert signs(a).tolist() == [np.sign(np.linalg.det(a))]


def test_units_of_rows_and_columns_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        a = rng.standard_normal((5, 5))
        scaled = a * 10.0 ** rng.uniform(-60, 60, (5, 1)) * 10.0 ** rng.uniform(-60, 60, 5)
        assert signs(scaled).tolist() == [np.sign(np.linalg.det(a))]


def test_two_blocks_that_turn_over_together_are_both_seen() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 3, 3))
    whole = np.block([[a, np.zeros((3, 3))], [rng.standard_normal((3, 3)), b]])
    rows, columns = rng.permutation(6), rng.permutation(6)
    turned = whole.copy()
    turned[0], turned[3] = -turned[0], -turned[3]
    before, after = (signs(each[rows][:, columns]) for each in (whole, turned))
    assert np.sign(np.linalg.det(whole)) == np.sign(np.linalg.det(turned))
    assert len(before) == 2
    assert (after == -before).all()


def test_a_singular_matrix_has_no_sign() -> None:
    full = np.ones((3, 3), dtype=bool)
    assert signs(np.outer([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), full).tolist() == [0.0]
    assert signs(np.zeros((3, 3)), full).tolist() == [0.0]


def test_a_pattern_without_pivots_has_no_blocks() -> None:
    rows, _, start = diagonal_blocks(np.array([[1, 1], [0, 0]], dtype=bool))
    assert len(rows) == 0
    assert start.tolist() == [0]
