"""The numbers of Radau5 against their definitions, in exact or 40-digit arithmetic."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import sympy as sp

from herk.integrate.steppers.radau import coefficients as k

C = [(4 - sp.sqrt(6)) / 10, (4 + sp.sqrt(6)) / 10, sp.Integer(1)]
INVERSE = np.array([[k.I11, k.I12, k.I13], [k.I21, k.I22, k.I23], [k.I31, k.I32, k.I33]])
T = np.array([[k.T11, k.T12, k.T13], [k.T21, k.T22, k.T23], [k.T31, k.T32, k.T33]])
BACK = np.array([[k.B11, k.B12, k.B13], [k.B21, k.B22, k.B23], [k.B31, k.B32, k.B33]])


def collocation() -> sp.Matrix:
    """A of the collocation method with nodes c: integrals of the Lagrange polynomials."""
    x = sp.symbols("x")
    rows = []
    for c in C:
        basis = [sp.prod([(x - d) / (e - d) for d in C if d != e]) for e in C]
        rows.append([sp.integrate(sp.expand(p), (x, 0, c)) for p in basis])
    return sp.Matrix(rows)


A = collocation()


def test_nodes_are_those_of_radau_iia():
    x = sp.symbols("x")
    assert sp.simplify(sp.diff(x**2 * (x - 1) ** 3, x, 2) - 60 / 3 * sp.prod([x - c for c in C])) == 0
    np.testing.assert_allclose([k.C1, k.C2, k.C3], [float(c) for c in C], rtol=1e-15)


def test_inverse_matrix_is_that_of_collocation():
    np.testing.assert_allclose(INVERSE @ np.array(A.evalf(30).tolist(), dtype=float), np.eye(3), atol=3e-15)


def test_eigenvalues_are_the_roots_of_the_characteristic_polynomial():
    mp.mp.dps = 40
    x = sp.symbols("x")
    roots = sp.Poly(sp.simplify((sp.eye(3) - x * A).det()), x).nroots(
        n=30
    )  # 1/x is an eigenvalue of A, x one of its inverse
    real = [float(r) for r in roots if r.is_real]
    [pair] = [complex(r) for r in roots if not r.is_real and sp.im(r) > 0]
    np.testing.assert_allclose([k.REAL, k.ALPHA, k.BETA], [*real, pair.real, pair.imag], rtol=4e-16)


def test_basis_makes_the_inverse_block_diagonal():
    blocks = np.array([[k.REAL, 0, 0], [0, k.ALPHA, -k.BETA], [0, k.BETA, k.ALPHA]])
    np.testing.assert_allclose(BACK @ INVERSE @ T, blocks, atol=2e-14)
    np.testing.assert_allclose(BACK @ T, np.eye(3), atol=2e-15)


def test_scaling_of_the_basis_is_the_classical_one():
    np.testing.assert_allclose(np.linalg.norm(T[:, 0]), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(T[2, 1:], [1.0, 0.0])


def test_error_estimate_has_order_three():
    """f0/REAL + D Z/REAL is the difference of two quadratures.

    So it must vanish for polynomials f of degree 0, 1 and 2, not 3.
    """
    weights = np.array([k.D1, k.D2, k.D3]) @ np.array(A.evalf(30).tolist(), dtype=float)
    nodes = np.array([k.C1, k.C2, k.C3])
    moments = [float(degree == 0) + weights @ nodes**degree for degree in range(4)]
    np.testing.assert_allclose(moments[:3], 0.0, atol=1e-14)
    assert abs(moments[3]) > 1e-3
