"""Methods and systems in extended precision.

They have the orders, the switches and the solutions they claim.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from mpmath import mp, mpf

import testset
from herk.model.model import Model
from testset import fekete, water_tube
from testset.extended.methods import collocation, continued, extrapolated, gauss, landed
from testset.extended.pairs import Work, nonstiff, stiff
from testset.extended.recipes import RECIPES
from testset.extended.special import quadratic, reaction, sphere
from testset.extended.stiff import hermite, radau, weights
from testset.extended.system import Switches, System
from testset.extended.underlying import Long, Underlying, decimal, exactly, named, solve
from testset.extended.water import UNITS, tubes

needs_long = pytest.mark.skipif(
    np.finfo(Long).eps > 1e-18, reason="long doubles are not longer than doubles here"
)


def circle(_, y):
    return np.array([y[1], -y[0]])


def doubles(values):
    return np.array(values, dtype=float)


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


def test_polynomials_are_continued_exactly():
    nodes = gauss(4, Long)[0]
    values = 1 - nodes + 2 * nodes**3
    later = 1 + Long("0.7") * nodes
    np.testing.assert_allclose(
        doubles(continued(nodes, Long("0.7")) @ values - (1 - later + 2 * later**3)), 0.0, atol=1e-15
    )


def test_formula_with_derivatives_at_both_ends_is_exact_for_polynomials_up_to_its_order():
    here, other = 3, 2
    for power in range(here + other + 2):  # x^power on [0, 1]; at 1 its terms are the binomial coefficients
        left = sum((-1) ** j * w * sp.binomial(power, j) for j, w in enumerate(weights(here, other)))
        right = sum(w * (power == j) for j, w in enumerate(weights(other, here)))
        assert (left == right) == (power <= here + other)


def logistic():
    """y' = -1000 (y - 1) y and z' = -z (stiff near y = 1), with the closed formula of the first."""
    return quadratic([[mpf(1000), mpf(0)], [mpf(0), mpf(-1)]], {(0, 0, 0): mpf(-1000)})


def test_both_methods_for_stiff_systems_follow_a_fast_transient_and_a_slow_decay():
    with mp.workdps(60):
        system, start = logistic(), np.array([mpf("0.5"), mpf(1)])
        first, times = hermite(system, mpf(0), mpf(1), start, 1e-9, 6)
        second = radau(system, times, start, 1, 1e-16, 4)
        exact = np.array([1 / (1 + mp.exp(-1000)), mp.exp(-1)])
        assert len(times) < 60  # an explicit method of as many stages would need hundreds
        assert max(abs(first - exact)) < 1e-9
        assert max(abs(second - exact)) < 1e-9


def test_series_of_a_quadratic_system_is_that_of_its_solution():
    with mp.workdps(40):
        tangent = quadratic(
            [[mpf(0), mpf(1)], [mpf(0), mpf(0)]], {(0, 0, 0): mpf(1)}
        )  # y' = z + y^2, z' = 0: tan t for z = 1
        terms, slopes = tangent.series(np.array([mpf(0), mpf(1)]), 7)
        assert (
            max(abs(term[0] - value) for term, value in zip(terms, mp.taylor(mp.tan, 0, 7), strict=True))
            < 1e-35
        )
        moved = tangent.series(np.array([mpf(0), mpf(1) + mpf("1e-20")]), 7)[0]
        assert abs((moved[5][0] - terms[5][0]) / mpf("1e-20") - slopes[5][0, 1]) < 1e-15


@needs_long
def test_elimination_is_exact_to_long_doubles():
    matrix = np.array([[Long(1) / (i + j + 1) for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(doubles(solve(matrix, matrix.sum(axis=1)) - 1), 0.0, atol=1e-13)


@needs_long
def test_several_systems_are_solved_at_once_each_with_its_own_pivots():
    several = np.array(
        [[[0, 2], [1, 1]], [[3, 1], [1, 4]]], dtype=Long
    )  # the first has a zero where the second has its pivot
    right = np.array([[5, 7], [6, 8]], dtype=Long)
    found = solve(several, right)
    for k in range(2):
        np.testing.assert_allclose(doubles(several[..., k] @ found[:, k] - right[:, k]), 0.0, atol=1e-18)


def test_short_decimals_are_meant_and_long_doubles_are_kept():
    assert decimal(sp.Float(0.58) * sp.Symbol("x")) == sp.Rational(58, 100) * sp.Symbol("x")
    assert decimal(sp.Float(1 / 3)) == sp.Rational(1 / 3)


@needs_long
def test_constants_of_formulas_have_all_digits():
    x = sp.Symbol("x")
    (formula,), values = named([[sp.pi * x + sp.sqrt(2) * sp.sqrt(x) + x / 3 + 2]])
    constants = sorted(float(value) for value in values.values())
    np.testing.assert_allclose(constants, [1 / 3, np.sqrt(2), np.pi], rtol=1e-15)
    assert all(abs(float(value) - value) > 0 for value in values.values())  # none of them is a double
    assert formula[0].subs(dict.fromkeys(values, 0)) == 2


def test_parameters_of_a_model_are_taken_as_the_decimals_they_are():
    model = exactly(Model("m", ["x"], [[1]], ["k*x"], parameters={"k": 0.026}, t_span=(0, 1), y0=(1.0,)))
    assert model.f[0] == sp.Rational(26, 1000) * model.states[0]


@needs_long
def test_underlying_ode_of_a_model_is_its_flow():
    problem = testset.get("pendulum_3d")
    under = Underlying(problem)
    rate = under.rate(np.array([Long(0)]), under.start()[:, None])[:, 0]
    np.testing.assert_allclose(doubles(rate), problem.dae.f(0.0, problem.y0)[:6], rtol=1e-15, atol=1e-15)


@needs_long
def test_underlying_ode_of_a_singular_capacitance_matrix_has_the_derivatives_of_its_constraints():
    """At the start y1' = y2', y3' = -500/3.

    And the derivative of y1/R0 + 2 y2/R + (1 - alpha) h(y2 - y3) = Ue/R0 + constant gives y2'.
    """
    under = Underlying(testset.get("transistor_amplifier"))
    rate = doubles(under.rate(np.array([Long(0)]), under.start()[:, None])[:, 0])
    slope = 0.01 * 1e-6 / 0.026
    exact = (0.1 * 200 * np.pi / 1000 - slope * 500 / 3) / (1 / 1000 + 2 / 9000 + slope)
    np.testing.assert_allclose(rate[:3], [exact, exact, -500 / 3], rtol=1e-14)


def bounce():
    """y'' = -1 where y > 0, 0 below.

    Parabola from 1 down to 0 at t = sqrt 2, then straight down with speed sqrt 2.
    """

    def rate(_, y, modes):
        return np.array([y[1], -Long(1) * modes[0] + 0 * y[0]])

    return System(
        rate,
        np.array([Long(1), Long(0)]),
        Long(3),
        lambda _, y, modes: y,
        switches=Switches(1, lambda _, y, modes: y[:1]),
    )


@needs_long
def test_both_methods_find_a_switch_and_go_on_in_the_other_mode():
    root = np.sqrt(Long(2))
    exact = np.array([-root * (3 - root), -root])
    for first, second in nonstiff(bounce(), [Long(3)], Work(1e-14, 1e-18, 6, 5)):
        np.testing.assert_allclose(doubles(first - exact), 0.0, atol=1e-17)
        np.testing.assert_allclose(doubles(second - exact), 0.0, atol=1e-17)


def test_a_switch_that_is_not_there_is_an_error():
    with pytest.raises(ArithmeticError, match="switch is not found"):
        landed(lambda h: np.array([h]), lambda h, y: h * h + 1, 0.0, 1.0)


def test_stages_that_do_not_converge_are_an_error():
    with pytest.raises(ArithmeticError, match="does not converge"):
        collocation(lambda t, y: -1e4 * y, [0.0, 1.0], np.array([1.0]), 1, 1e-15, 4)


@needs_long
def test_points_on_the_sphere_start_and_move_as_the_problem_says():
    system, problem = sphere(), testset.get("fekete")
    np.testing.assert_allclose(doubles(system.whole(Long(0), system.start)), problem.y0, atol=1e-14)
    p, q = problem.y0[:60].reshape(20, 3), np.sin(np.arange(60)).reshape(20, 3)
    q = q - (p * q).sum(axis=1)[:, None] * p  # along the sphere
    state = np.concatenate([p.ravel(), q.ravel()])
    y = doubles(system.whole(Long(0), state.astype(Long)))
    np.testing.assert_allclose(fekete.g(0.0, y), 0.0, atol=1e-13)
    rate = doubles(system.rate(Long(0), state.astype(Long)[:, None])[:, 0])
    np.testing.assert_allclose(rate, fekete.f(0.0, y)[:120], atol=1e-13)


@needs_long
@pytest.mark.parametrize("turbulent", [0, 7])
def test_tubes_keep_every_constraint_of_the_problem_in_any_mode(turbulent):
    system = tubes()
    flow = 1e-3 * np.linspace(-1, 1, 18)
    modes = np.arange(18) < turbulent
    state = np.array([*flow, 50 / UNITS[0], 2 / UNITS[1]], dtype=Long)
    y = doubles(system.whole(Long(5000), state, modes))
    values = water_tube.constraints(5000.0, y, modes.astype(float))
    np.testing.assert_allclose(values[:18], 0.0, atol=1e-13)  # friction factors
    np.testing.assert_allclose(values[29:], 0.0, atol=1e-15)  # derivatives of the balances
    rate = doubles(system.rate(np.array([Long(5000)]), state[:, None], modes)[:, 0])
    f = water_tube.right(5000.0, y, modes.astype(float))
    assert y[36:38] == pytest.approx([109850.0, 109852.0], rel=1e-15)
    np.testing.assert_allclose(
        rate[:18], f[:18] / water_tube.INERTIA, rtol=1e-9, atol=1e-15
    )  # doubles lose digits in differences
    first, second = f[36:38] / water_tube.CAPACITY
    np.testing.assert_allclose(rate[18:] * doubles(UNITS), [first, second - first], rtol=1e-11)


def test_quadratic_system_is_the_reaction_of_the_problem():
    system, problem = reaction(), testset.get("robertson")
    point = system.start + mpf(1) / 7
    y = doubles(system.whole(0, point))
    np.testing.assert_allclose(doubles(system.rate(0, point)), problem.dae.f(0.0, y)[:2], rtol=1e-13)


def test_robertson_in_his_first_instants_is_found_by_both():
    """To t = 0.4: the digits printed in the literature's table, computed elsewhere in quadruple precision."""
    with mp.workdps(40):
        ((first, second),) = stiff(reaction(), [mpf("0.4")], Work(1e-9, 1e-14, 6, 4))
    for value in (first, second):
        np.testing.assert_allclose(
            doubles(value),
            [9.85172113860989862e-1, 3.38639537897490414e-5, 1.47940221852203885e-2],
            rtol=1e-8,
        )


@needs_long
def test_angles_of_the_chain_give_its_start():
    given, problem = RECIPES["hanging_chain"].system(), testset.get("hanging_chain")
    np.testing.assert_allclose(doubles(given.whole(Long(0), given.start)), problem.y0, rtol=1e-13, atol=1e-14)
    moved = doubles(given.whole(Long(0), given.start + Long(1) / 7 * np.cos(np.arange(20))))
    np.testing.assert_allclose(
        problem.dae.g(0.0, moved), 0.0, atol=1e-12
    )  # any angles and speeds satisfy every constraint
