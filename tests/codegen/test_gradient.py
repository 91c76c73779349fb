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
