"""The program that recomputes references: its methods have the orders and its systems the solutions they claim."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from mpmath import mp, mpf

import testset
from testset import make_references
from testset.extended.methods import collocation, extrapolated, gauss
from testset.extended.underlying import Long, Underlying, decimal, solve

needs_long = pytest.mark.skipif(np.finfo(Long).eps > 1e-18, reason="long doubles are not longer than doubles here")


def circle(_, y):
    return np.array([y[1], -y[0]])


def test_both_methods_find_the_cosine_to_thirty_digits():
    with mp.workdps(40):
        start, end = np.array([mpf(1), mpf(0)]), mpf(2)
        first, times = extrapolated(circle, mpf(0), end, start, 1e-30, 16)
        second = collocation(circle, times, start, 2, 1e-36, 12)
        for value in (first, second):
            assert abs(value[0] - mp.cos(2)) < 1e-28
            assert abs(value[1] + mp.sin(2)) < 1e-28


def test_gauss_integrates_polynomials_up_to_its_order():
    nodes, A, b = gauss(5, mpf)
    with mp.workdps(40):
        assert all(abs(b @ nodes**k - mpf(1) / (k + 1)) < 1e-38 for k in range(1, 10))
        assert abs(b @ nodes**10 - mpf(1) / 11) > 1e-8
        assert max(abs(A @ nodes**3 - nodes**4 / 4)) < 1e-38


@needs_long
def test_elimination_is_exact_to_long_doubles():
    matrix = np.array([[Long(1) / (i + j + 1) for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(np.array(solve(matrix, matrix.sum(axis=1)) - 1, dtype=float), 0.0, atol=1e-13)


def test_short_decimals_are_meant_and_long_doubles_are_kept():
    assert decimal(sp.Float(0.58) * sp.Symbol("x")) == sp.Rational(58, 100) * sp.Symbol("x")
    assert decimal(sp.Float(1 / 3)) == sp.Rational(1 / 3)


@needs_long
def test_underlying_ode_of_a_model_is_its_flow():
    problem = testset.get("pendulum_3d")
    under = Underlying(problem)
    rate = under.rate(Long(0), under.start())
    np.testing.assert_allclose(np.array(rate, dtype=float), problem.dae.f(0.0, problem.y0)[:6], rtol=1e-15, atol=1e-15)


@needs_long
def test_angles_of_the_chain_give_its_start():
    given, problem = make_references.system("hanging_chain"), testset.get("hanging_chain")
    whole = np.array(given.whole(Long(0), given.start), dtype=float)
    np.testing.assert_allclose(whole, problem.y0, rtol=1e-13, atol=1e-14)
    moved = np.array(given.whole(Long(0), given.start + Long(1) / 7 * np.cos(np.arange(20))), dtype=float)
    np.testing.assert_allclose(problem.dae.g(0.0, moved), 0.0, atol=1e-12)  # any angles and speeds satisfy every constraint


@needs_long
def test_command_confirms_a_reference_and_refuses_unknown_names(capsys):
    assert make_references.main(["--problem", "unit_circle"]) == 0
    assert "PASS  unit_circle" in capsys.readouterr().out
    assert make_references.main(["--problem", "no such"]) == 2
