"""Derivatives are right, and finite where they are."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy as sp

from herk.codegen.gradient import gradient

u = sp.Symbol("u")
DYING = [sp.cosh(u) ** -2, 1 / sp.cosh(3 * u), 1 / (1 + sp.exp(u)), (3 + 2 * sp.exp(-u)) ** -3]


@pytest.mark.parametrize("formula", DYING, ids=str)
def test_what_dies_away_has_a_derivative_where_exponentials_overflow(formula: sp.Expr) -> None:
    slope = sp.lambdify(u, gradient(formula)[u], "numpy")
    exact = sp.lambdify(u, sp.diff(formula, u), "mpmath")
    with np.errstate(all="ignore"):
        for at in (-5000.0, -3.0, -0.1, 0.0, 0.7, 20.0, 5000.0):
            right = float(exact(mpmath.mpf(at)))
            assert math.isclose(slope(np.float64(at)), right, rel_tol=1e-13, abs_tol=1e-300)


def test_so_it_has_where_its_numbers_are_parameters_and_one_of_them_is_zero() -> None:
    a, b = sp.symbols("a b")
    for formula in (
        b / (a + b * sp.exp(u)),
        1 / (a * b + a * sp.exp(-u)) ** 2,
        (a + b * sp.exp(u * b)) ** -3,
    ):
        for symbol in (u, a, b):
            slope = sp.lambdify([u, a, b], gradient(formula)[symbol], "numpy")
            exact = sp.lambdify([u, a, b], sp.diff(formula, symbol), "mpmath")
            with np.errstate(all="ignore"):
                for at in (-900.0, -3.0, 0.0, 0.7, 900.0):
                    right = float(exact(*map(mpmath.mpf, (at, 0.5, 1.5))))
                    found = slope(*map(np.float64, (at, 0.5, 1.5)))
                    assert math.isclose(found, right, rel_tol=1e-12, abs_tol=1e-300), (formula, symbol, at)
    slope = sp.lambdify([u, a, b], gradient(1 / (a + b * sp.exp(u)))[b], "numpy")
    assert slope(np.float64(0.3), np.float64(2.0), np.float64(0.0)) == pytest.approx(-math.exp(0.3) / 4)
