"""Every number of the Radau methods follows from their definition: collocation at the Radau nodes, in 50 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from herk.integrate.steppers.radau.coefficients import TABLES, Table
from herk.integrate.steppers.radau.layout import Radau, RadauMethod, allocate
from herk.integrate.steppers.radau.order import enter, rows_of
from herk.integrate.steppers.radau.polynomial import weight
from tests.integrate.extended import DIGITS
from tests.integrate.radau.precise import inverse, nodes

STAGES = (3, 5, 7)


def square(values: tuple[float, ...], s: int) -> np.ndarray:
    return np.array(values).reshape(s, s)


def blocks(table: Table, s: int) -> np.ndarray:
    """Return the block diagonal form of A^-1."""
    found = np.zeros((s, s))
    found[0, 0] = table.values[0]
    for k in range(1, s, 2):
        alpha, beta = table.values[k : k + 2]
        found[k : k + 2, k : k + 2] = [[alpha, -beta], [beta, alpha]]
    return found


def in_force(s: int) -> Radau:
    """Return a state with the numbers of s stages."""
    state = allocate(1, 0, 1, RadauMethod("radau", 3, 7), rows_of(3, 7))
    state.rtol_asked = 1e-6
    enter(s, state)
    return state


@pytest.mark.parametrize("s", STAGES)
def test_nodes_and_inverse_matrix_are_those_of_collocation(s: int) -> None:
    table = TABLES[s]
    assert table.nodes == pytest.approx([float(c) for c in nodes(s)], rel=1e-15)
    wanted = [float(inverse(s)[i, j]) for i in range(s) for j in range(s)]
    assert table.inverse == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("s", STAGES)
def test_eigenvalues_are_those_of_the_inverse_matrix(s: int) -> None:
    with mp.workdps(DIGITS):
        found, _ = mp.eig(inverse(s))
        upper = sorted((mp.im(v), mp.re(v)) for v in found if mp.im(v) > -1e-20)
    wanted = [float(upper[0][1]), *(float(part) for im, re in upper[1:] for part in (re, im))]
    assert len(upper) == (s + 1) // 2
    assert TABLES[s].values == pytest.approx(wanted, rel=4e-16)


@pytest.mark.parametrize("s", STAGES)
def test_the_basis_makes_the_inverse_matrix_block_diagonal(s: int) -> None:
    table = TABLES[s]
    T, back = square(table.basis, s), square(table.back, s)
    size = np.abs(back).sum(axis=1).max()
    np.testing.assert_allclose(square(table.inverse, s) @ T, T @ blocks(table, s), atol=1e-13)
    np.testing.assert_allclose(back @ T, np.eye(s), atol=3e-16 * size)
    np.testing.assert_allclose(np.linalg.norm(T[:, 0]), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(T[-1, 1:], [1.0, 0.0] * (s // 2))


@pytest.mark.parametrize("s", STAGES)
def test_the_estimate_vanishes_for_solutions_that_are_polynomials_of_degree_s_and_no_others(s: int) -> None:
    """It compares y' at the start of a step with the derivative of the polynomial through 0 and all stages."""
    state = in_force(s)
    c, slopes = np.array(TABLES[s].nodes), state.first_slope[:s]
    for degree in range(1, s + 1):
        assert slopes @ c**degree == pytest.approx(float(degree == 1), abs=1e-11)
    assert abs(slopes @ c ** (s + 1)) > 1e-5
    basis = [weight(c[i], k, state) for i in range(s) for k in range(s)]
    assert basis == pytest.approx(np.eye(s).ravel(), abs=1e-11)


def test_the_estimate_of_three_stages_is_the_published_one() -> None:
    """Hairer & Wanner II, (IV.8.18): -(13 + 7 sqrt 6)/3, (-13 + 7 sqrt 6)/3, -1/3."""
    root = 6.0**0.5
    wanted = [(13 + 7 * root) / 3, (13 - 7 * root) / 3, 1 / 3]
    assert in_force(3).first_slope[:3] == pytest.approx(wanted, rel=1e-14)
