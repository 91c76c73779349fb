"""Every coefficient follows from the definition of the method: collocation at the Radau nodes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from herk.integrate.steppers.radau import coefficients as k

NODES = np.array([k.C1, k.C2, k.C3])


def table(letter: str) -> np.ndarray:
    return np.array([[getattr(k, f"{letter}{i}{j}") for j in (1, 2, 3)] for i in (1, 2, 3)])


def collocation() -> np.ndarray:
    """Return A: integrals of the Lagrange polynomials from 0 to the nodes."""
    rows = []
    for j in range(3):
        others = np.delete(NODES, j)
        lagrange = Polynomial.fromroots(others) / np.prod(NODES[j] - others)
        rows.append(lagrange.integ()(NODES))
    return np.array(rows).T


def test_the_nodes_are_those_of_radaus_right_formula() -> None:
    """Zeros of the second derivative of x^2 (x - 1)^3."""
    zeros = Polynomial.fromroots([0, 0, 1, 1, 1]).deriv(2).roots()
    assert np.sort(zeros.real) == pytest.approx(NODES, abs=1e-14)


def test_the_inverse_of_the_tableau_and_its_block_diagonal_form() -> None:
    inverse = np.linalg.inv(collocation())
    assert table("I") == pytest.approx(inverse, abs=1e-13)
    blocks = np.array([[k.REAL, 0, 0], [0, k.ALPHA, -k.BETA], [0, k.BETA, k.ALPHA]])
    assert inverse @ table("T") == pytest.approx(table("T") @ blocks, abs=1e-13)
    assert table("B") @ table("T") == pytest.approx(np.eye(3), abs=1e-14)


def test_the_embedded_formula_of_the_estimate_has_order_three() -> None:
    """y^ = y + h (g0 f0 + sum b^_i f_i) with g0 = 1/REAL; D = (b^ - b) A^-1 REAL."""
    weights = collocation()[2] + np.array([k.D1, k.D2, k.D3]) @ collocation() / k.REAL
    assert 1.0 / k.REAL + weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert weights @ NODES == pytest.approx(1.0 / 2.0, abs=1e-14)
    assert weights @ NODES**2 == pytest.approx(1.0 / 3.0, abs=1e-14)
