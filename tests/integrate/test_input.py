"""Bad input ends with a sentence that names what is wrong; good but unusual input works."""

from __future__ import annotations

import re
from math import nan

import numpy as np
import pytest

import herk
import testset
from herk.model.evaluate import CallableError
from tests.integrate.systems import ACADEMIC, PENDULUM, called_back, pendulum_exact, pendulum_f, pendulum_g


def decay_f(t, y):
    return -y


DECAY = herk.Dae(E=np.eye(2), f=decay_f, n=2)
SPAN, START = (0.0, 1.0), (1.0, 2.0)


def event(**attributes):
    def function(t, y):
        return y[0]

    function.__dict__.update(attributes)
    return function


def refused(words: str, *arguments, **options) -> str:
    with pytest.raises(herk.InputError, match=words) as caught:
        herk.solve_dae(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ((0.0,), "two numbers"),
        ((0.0, 1.0, 2.0), "two numbers"),
        ("ab", "two numbers"),
        (3.0, "two numbers"),
        ((0.0, 1j), "two numbers"),
        ((0.0, nan), "not finite"),
        ((0.0, np.inf), "not finite"),
        ((1.0, 1.0), "length zero"),
        (None, "no span"),
    ],
)
def test_a_wrong_span_is_refused(span, words) -> None:
    refused(words, DECAY, span, START)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ((1.0,), "1 entries"),
        ((1.0, 2.0, 3.0), "3 entries"),
        ((1.0, nan), "not finite in y1. Give a number, or None to have it computed"),
        ((np.inf, 0.0), "not finite in y0"),
        ("12", "sequence of 2 numbers"),
        (1.0, "sequence of 2 numbers"),
        (np.eye(2), "sequence of 2 numbers"),
        ((1.0, 1j), "sequence of 2"),
        ((1.0, None), "y1 are left open, but 0 constraints"),
        (None, "no start"),
    ],
)
def test_a_wrong_start_is_refused(start, words) -> None:
    refused(words, DECAY, SPAN, start)


def test_something_that_is_no_system_is_refused() -> None:
    refused("not ndarray", np.eye(2), SPAN, START)
    refused("not function", decay_f, SPAN, START)


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("rtol", (0.0, -1e-3, nan, "small", True, 1e-17, np.inf, [1e-3, 1e-3], None)),
        ("atol", (0.0, -1e-3, nan, "small", np.inf, [1e-3], [1e-3, 0.0], np.ones((2, 2)))),
        ("step", (0.0, -0.1, nan, "small", np.inf, 1e-300, True)),
        ("first_step", (0.0, -0.1, nan, "small")),
        ("max_step", (0.0, -0.1, nan, "small", None)),
        ("max_steps", (0, -3, 1.5, True, "many", None)),
        ("time_limit", (0.0, -1.0, nan, "short")),
        (
            "t_eval",
            ([], 0.5, [0.5, 0.2], [0.5, 0.5], [-0.1], [0.5, 1.1], [nan], [[0.1], [0.2]], "text", [None]),
        ),
        ("callback", (3, "print")),
        ("method", (3, None)),
    ],
)
def test_a_wrong_option_is_refused_by_name(option, values) -> None:
    for value in values:
        refused(option, DECAY, SPAN, START, **{option: value})


@pytest.mark.parametrize(
    "events",
    [
        3,
        [3],
        [event(), None],
        event(terminal="yes"),
        event(terminal=-1),
        event(terminal=1.5),
        event(direction="up"),
    ],
)
def test_wrong_events_are_refused(events) -> None:
    refused("event", DECAY, SPAN, START, events=events)


@pytest.mark.parametrize(
    ("options", "nearest"),
    [
        ({"method": "dopri6"}, "'dopri5'"),
        ({"method": "DOP853"}, "dop853"),
        ({"newtn": "full"}, "'newton'"),
        ({"newton": "ful"}, "'full'"),
        ({"selection": "spars"}, "'sparse'"),
        ({"consistent": "chek"}, "'check'"),
        ({"dense": True}, "generate"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_known_one(options, nearest) -> None:
    refused(re.escape(nearest), DECAY, SPAN, START, **options)


def test_an_unknown_problem_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(herk.InputError, match="'pendulum'"):
        testset.get("pendulm")


def test_a_method_without_error_estimate_asks_for_a_step() -> None:
    refused("step=h", DECAY, SPAN, START, method="rk4")


WRONG_VALUES = [
    ("f", lambda t, y: np.zeros(3), "shape (3,)"),
    ("f", lambda t, y: None, "None"),
    ("f", lambda t, y: "text", "not an array of numbers"),
    ("f", lambda t, y: np.full(2, nan), "not finite"),
    ("f", lambda t, y: {"a": 1}, "not an array of numbers"),
    ("g", lambda t, y: y, "shape (2,)"),
    ("g", lambda t, y: y[0] - y[1], "shape ()"),
    ("g", lambda t, y: np.array([np.inf]), "not finite"),
    ("jac_g", lambda t, y: np.zeros(2), "shape (2,)"),
    ("jac_g", lambda t, y: np.full((1, 2), nan), "not finite"),
    ("g_t", lambda t, y: 0.0, "shape ()"),
    ("E", lambda t, y: np.ones(2), "shape (2,)"),
    ("E", lambda t, y: np.full((2, 2), nan), "not finite"),
]


@pytest.mark.parametrize(("name", "function", "words"), WRONG_VALUES)
def test_a_function_with_a_wrong_value_at_the_start_is_named(name, function, words) -> None:
    parts = {"E": ACADEMIC.dae.E, "f": ACADEMIC.dae.f, "g": ACADEMIC.dae.g, "n": 2, "m": 1} | {name: function}
    message = refused(re.escape(words), herk.Dae(**parts), (0.0, 1.0), (1.0, 1.0))
    assert message.startswith(f"{name}(t, y)")


@pytest.mark.parametrize("name", ["E", "f", "g", "jac_g", "g_t"])
@pytest.mark.parametrize("consistent", ["check", "trust", "project"])
def test_a_function_that_raises_at_the_start_is_named_with_t_and_y_and_its_own_exception(
    name, consistent
) -> None:
    def broken(t, y):
        raise KeyError("no such key")

    parts = {"E": ACADEMIC.dae.E, "f": ACADEMIC.dae.f, "g": ACADEMIC.dae.g, "n": 2, "m": 1} | {name: broken}
    words = f"{name}(t, y) raised KeyError: 'no such key' at t = 0.25, y = [1.0, 1.0]"
    with pytest.raises(CallableError, match=re.escape(words)) as caught:
        herk.solve_dae(herk.Dae(**parts), (0.25, 1.0), (1.0, 1.0), consistent=consistent)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_model_outside_its_domain_at_the_start_is_refused() -> None:
    model = herk.Model("root", ["x"], [[1]], ["sqrt(x)"], t_span=(0.0, 1.0), y0=(-1.0,))
    with pytest.raises(herk.HerkError, match=r"is not finite|no finite real value"):
        herk.solve_dae(model)


def test_constraints_given_only_for_later_times_need_no_time_before_the_start() -> None:
    def late_g(t, y):
        if t < 0.0:
            raise RuntimeError("before the beginning")
        return np.array([y[0] - t**1.5])

    dae = herk.Dae(E=np.zeros((1, 1)), f=lambda t, y: np.array([y[0] - t**1.5]), g=late_g, n=1, m=1)
    sol = herk.solve_dae(called_back(dae), (0.0, 4.0), (0.0,))
    assert sol.success
    assert sol.y[0, -1] == pytest.approx(8.0, rel=1e-14)


# --- start values ---------------------------------------------------------------------------------------------------------


def test_an_inconsistent_start_is_refused_with_rows_and_residuals() -> None:
    message = refused("inconsistent", PENDULUM.dae, (0.0, 1.0), (-1.1, 0.0, 0.0, 0.0, 0.0))
    assert "row 0 of g is 0.21" in message  # 1.1^2 - 1
    assert "row 1" not in message
    message = refused("inconsistent", PENDULUM.dae, (0.0, 1.0), (-1.0, 0.0, 3.0, 0.0, 1.0))
    assert "row 1 of g is -6 " in message  # 2 x v
    assert "row 2 of g is 14 " in message  # 2 v^2 - 4 lam
    assert "row 0" not in message


def test_a_start_within_the_tolerances_is_accepted() -> None:
    y0 = pendulum_exact(0.3) + 1e-8
    assert herk.solve_dae(PENDULUM.dae, (0.3, 0.4), y0, rtol=1e-6).success
    refused("inconsistent", PENDULUM.dae, (0.3, 0.4), y0, rtol=1e-10, atol=1e-12)


def test_trust_goes_on_and_a_wrong_multiplier_heals_in_the_first_step() -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 1.0), (-1.0, 0.0, 0.0, 0.0, 1e-3), consistent="trust", rtol=1e-9)
    assert sol.success
    assert sol.residual < 1e-12
    # lam acts for one step h <= 0.1 only, on a velocity of size 1e-3 h
    assert np.abs(sol.y[:, -1] - pendulum_exact(1.0)).max() < 1e-3


@pytest.mark.parametrize("multiplier", [None, 100.0, -3.0])
def test_project_never_shifts_a_position_or_velocity_for_a_multiplier(multiplier) -> None:
    exact = pendulum_exact(0.3)
    y0 = [*exact[:4], multiplier]
    sol = herk.solve_dae(PENDULUM.dae, (0.3, 0.5), y0, consistent="project")
    assert np.array_equal(sol.y[:4, 0], exact[:4])
    assert sol.y[4, 0] == pytest.approx(exact[4], rel=1e-12)


def test_project_moves_wrong_positions_as_little_as_it_must() -> None:
    y0 = np.array([0.66, -0.88, 0.4, 0.3, 0.0])  # on a circle of radius 1.1; the velocity is tangential
    y = herk.consistent_start(PENDULUM.dae, 0.0, y0)
    assert np.abs(pendulum_g(0.0, y)).max() < 1e-14
    assert 0.1 <= np.hypot(*(y[:2] - y0[:2])) < 0.11  # the circle is 0.1 away
    assert np.hypot(*(y[2:4] - y0[2:4])) < 0.05
    refused("inconsistent", PENDULUM.dae, (0.0, 1.0), y0)
    assert herk.solve_dae(PENDULUM.dae, (0.0, 1.0), y0, consistent="project").success


def test_fixed_components_of_a_consistent_start_never_move() -> None:
    y = herk.consistent_start(PENDULUM.dae, 0.0, (0.6, -0.7, 0.0, 0.0, 0.0), fixed=(0,))
    assert y[0] == 0.6
    assert y[1] == pytest.approx(-0.8, rel=1e-15)
    y = herk.consistent_start(PENDULUM.dae, 0.0, (0.6, -0.7, 0.0, 0.0, 0.0), fixed=(1,))
    assert y[1] == -0.7
    assert y[0] == pytest.approx(np.sqrt(0.51), rel=1e-15)


@pytest.mark.parametrize(
    ("y0", "fixed", "words"),
    [
        ((0.6, -0.7, 0.0, 0.0, 0.0), (0, 1), "row 0 of g stays"),
        ((0.6, -0.8, 0.0, 0.0, None), (4,), "unknown or outside"),
        ((0.6, -0.8, 0.0, 0.0, 0.0), (5,), "unknown or outside"),
        ((0.6, -0.8, 0.0), (), "5 values"),
        ((2.0, -0.8, 0.0, 0.0, 0.0), (0,), "row 0 of g stays"),
    ],
)
def test_an_impossible_consistent_start_is_refused(y0, fixed, words) -> None:
    with pytest.raises(herk.InputError, match=words):
        herk.consistent_start(PENDULUM.dae, 0.0, y0, fixed=fixed)


def test_open_start_values_are_computed_from_the_constraints() -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 0.1), (0.6, -0.8, 4.0, None, None))
    # w = -x v / z = 3; lam = (v^2 + w^2 - G z) / 2
    assert sol.y[3, 0] == pytest.approx(3.0, rel=1e-14)
    assert sol.y[4, 0] == pytest.approx((25.0 + 0.8 * 13.75037163604074565) / 2, rel=1e-14)


def test_open_start_values_that_nothing_determines_are_refused() -> None:
    refused(
        "do not determine the start values of y3", PENDULUM.dae, (0.0, 0.1), (-1.0, 0.0, 0.0, None, 0.0)
    )  # 2 z w with z = 0
    refused("4 of them", PENDULUM.dae, (0.0, 0.1), (None, None, None, None, 0.0))


# --- ill-posed systems ----------------------------------------------------------------------------------------------------


def test_a_system_that_leaves_a_derivative_open_is_refused() -> None:
    dae = herk.Dae(
        E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]), f=pendulum_f, g=lambda t, y: pendulum_g(t, y)[:2], n=5, m=2
    )
    assert "y4 takes part in none of them" in refused(
        "undetermined", dae, (0.0, 1.0), (-1.0, 0.0, 0.0, 0.0, 0.0)
    )
    mixed = herk.Dae(
        E=np.array([[1.0, 1.0], [1.0, 1.0]]),
        f=lambda t, y: np.zeros(2),
        g=lambda t, y: np.array([y[0] + y[1]]),
        n=2,
        m=1,
    )
    refused("undetermined", mixed, SPAN, (1.0, -1.0))


def test_dependent_constraints_are_refused() -> None:
    dae = herk.Dae(
        E=np.diag([1.0, 1.0, 0.0]),
        f=lambda t, y: np.zeros(3),
        g=lambda t, y: np.array([y[2], 2 * y[2]]),
        n=3,
        m=2,
    )
    refused("not independent.*rank 1", dae, SPAN, (0.0, 0.0, 0.0))


def test_constraints_that_contradict_the_equations_are_refused_by_row() -> None:
    problem = testset.get("wind_pendulum_printed")
    # the printed second constraint lacks -2 l l': with l = 2, l' = -0.03 the first one leaves zero at the
    # rate 0.12
    assert "Row 0 of g contradicts E y' = f: along the flow its derivative is 0.12" in refused(
        "contradicts", problem
    )
    assert herk.check_constraints(problem.dae, 0.0, problem.y0) != []
    assert herk.check_constraints(PENDULUM.dae, 0.3, pendulum_exact(0.3)) == []


def test_constraints_that_contradict_the_equations_can_be_insisted_on() -> None:
    sol = herk.solve_dae(testset.get("wind_pendulum_printed", t_end=1.0), consistent="trust")
    assert sol.t[-1] == 1.0
    assert sol.residual < 1e-12


# --- reversed time --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [ACADEMIC, PENDULUM], ids=lambda s: s.name)
@pytest.mark.parametrize("step", [None, 1e-3])
def test_reversed_time_leads_back_along_the_exact_solution(system, step) -> None:
    begin, end = system.t_span
    sol = herk.solve_dae(system.dae, (end, begin), system.exact(end), rtol=1e-10, atol=1e-12, step=step)
    assert sol.success
    assert sol.t[0] == end
    assert sol.t[-1] == begin
    assert (np.diff(sol.t) < 0).all()
    exact = np.array([system.exact(t) for t in sol.t]).T
    assert np.abs(sol.y - exact).max() < 1e-7
    assert sol.residual < 1e-12


def test_there_and_back_again_is_where_one_was() -> None:
    there = herk.solve_dae(
        PENDULUM.dae, (0.0, 3.0), pendulum_exact(0.0), method="dop853", rtol=1e-11, atol=1e-12
    )
    back = herk.solve_dae(PENDULUM.dae, (3.0, 0.0), there.y[:, -1], method="dop853", rtol=1e-11, atol=1e-12)
    assert np.abs(back.y[:, -1] - pendulum_exact(0.0)).max() < 1e-8


def test_project_repairs_a_start_in_whatever_units_the_constraints_are() -> None:
    """Charges of 1e-12 beside volts.

    The voltage follows the charge, not the other way round, and a zero stays zero.
    """
    model = herk.Model(
        "capacitor",
        ["q", "idle", "u", "i"],
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        ["-i", "0", "q - 1e-12*u", "i - 1e-3*u"],
        t_span=(0, 1e-9),
        y0=(5e-12, 0.0, 5.0, 5e-3),
    )
    y = herk.consistent_start(model.form(), 0.0, (4e-12, 0.0, 5.0, 0.0))
    np.testing.assert_allclose(y, [4e-12, 0.0, 4.0, 4e-3], rtol=1e-14)


def test_constraints_fit_where_e_mixes_derivatives_and_some_do_not_occur() -> None:
    """Two charges whose sum is constant: only with the constraints is the derivative of each determined."""
    E = [[1, 1, 0], [0, 0, 0], [0, 0, 0]]
    model = herk.Model(
        "sum", ["a", "b", "u"], E, ["0", "a - u", "u - sin(t)"], t_span=(0, 1), y0=(0.0, 1.0, 0.0)
    )
    assert herk.check_constraints(model.form(), 0.0, (0.0, 1.0, 0.0)) == []
