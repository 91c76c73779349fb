"""Radau gets all options of solve_dae from the shared loop: output, events, limits, segments, parameters."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError, Reason
from herk.model.model import Model
from tests.integrate.systems import PENDULUM, SELECTOR, called_back, pendulum_exact

SETTING = {"method": "radau5", "rtol": 1e-9, "atol": 1e-10}
NEAR = 1e-6  # what these tolerances are worth over a period


def solve(**options) -> herk.Solution:
    return herk.solve_dae(PENDULUM.dae, (0.0, 1.3), PENDULUM.y0, **(SETTING | options))


def exact(times) -> np.ndarray:
    return np.array([pendulum_exact(t) for t in times]).T


def test_output_times_between_steps_are_on_the_solution_and_on_the_constraints() -> None:
    times = np.linspace(0.0, 1.3, 200)
    sol = solve(t_eval=times)
    assert sol.t == pytest.approx(times, abs=0)
    assert sol.y == pytest.approx(exact(times), abs=NEAR)
    for t, y in zip(times, sol.y.T, strict=True):
        assert np.abs(PENDULUM.dae.g(t, y)).max() < 1e-12


def test_dense_output_has_at_least_order_three() -> None:
    errors = []
    for count in (10, 20, 40):
        sol = herk.solve_dae(
            PENDULUM.dae, (0.0, 0.5), PENDULUM.y0, method="radau5", step=0.5 / count, dense_output=True
        )
        times = np.linspace(0.0, 0.5, 333)
        errors.append(np.abs(sol(times) - exact(times)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 2.8).all(), orders


def test_dense_output_survives_pickling() -> None:
    problem = testset.get("pendulum")
    sol = herk.solve_dae(problem, (0.0, 1.3), method="radau5", rtol=1e-8, atol=1e-9, dense_output=True)
    again = pickle.loads(pickle.dumps(sol.sol))
    times = np.linspace(0.0, 1.3, 50)
    assert again(times) == pytest.approx(sol(times), abs=1e-12)
    assert sol(times) == pytest.approx(exact(times), abs=1e-5)


def test_output_without_projection_is_near_the_solution_too() -> None:
    times = np.linspace(0.0, 1.3, 30)
    assert solve(t_eval=times, project_output=False).y == pytest.approx(exact(times), abs=1e-4)


def test_time_may_go_backward() -> None:
    sol = herk.solve_dae(PENDULUM.dae, (1.3, 0.0), pendulum_exact(1.3), **SETTING)
    assert sol.success
    assert sol.y[:, -1] == pytest.approx(PENDULUM.y0, abs=NEAR)


def test_events_are_found_between_steps_and_end_the_run() -> None:
    def bottom(t, y):
        return y[0]

    bottom.terminal = 2
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 5.0), PENDULUM.y0, events=bottom, **SETTING)
    assert sol.reason is Reason.EVENT
    assert sol.t_events[0] == pytest.approx(
        [0.5, 1.5], abs=1e-7
    )  # a quarter of a period, and half of one later
    assert sol.t[-1] == sol.t_events[0][-1]


def test_a_reset_lets_the_run_go_on() -> None:
    """A ball that falls from 1/2 is at the ground after 1 and up again after 2 units of time."""
    f = ["v", "-1", "s - x - v"]
    model = Model("ball", ["x", "v", "s"], np.diag([1, 1, 0]).tolist(), f, t_span=(0, 2), y0=(0.5, 0, 0.5))

    def ground(t, y):
        return y[0]

    def bounce(t, y):
        return np.array([0.0, -y[1], -y[1]])

    ground.reset, ground.direction = bounce, -1
    sol = herk.solve_dae(model, events=ground, **SETTING)
    assert sol.success, sol.message
    assert sol.t_events[0] == pytest.approx([1.0], abs=1e-8)
    assert sol.y[:, -1] == pytest.approx([0.5, 0.0, 0.5], abs=1e-8)


def test_breakpoints_are_hit() -> None:
    sol = solve(breakpoints=(0.3, 0.7))
    assert sol.success
    for time in (0.3, 0.7):
        assert np.abs(sol.t - time).min() < 1e-13
    assert sol.y[:, -1] == pytest.approx(pendulum_exact(1.3), abs=NEAR)


def test_limits_end_a_run_with_the_points_reached() -> None:
    sol = solve(max_steps=7)
    assert sol.reason is Reason.MAX_STEPS
    assert sol.nstep == 7
    assert sol.y == pytest.approx(exact(sol.t), abs=NEAR)
    assert solve(time_limit=1e-9).reason is Reason.TIME_LIMIT
    assert np.diff(solve(max_step=0.01).t).max() <= 0.01 * (1 + 1e-12)
    assert solve(first_step=1e-5).t[1] == pytest.approx(1e-5, rel=1e-9)


def test_a_callback_sees_every_point_and_may_stop() -> None:
    seen = []

    def callback(t, y):
        seen.append(t)
        return len(seen) == 5

    sol = solve(callback=callback)
    assert sol.reason is Reason.CALLBACK
    assert sol.t[1:] == pytest.approx(seen, abs=0)


def decay(rate: float = 1.0) -> Model:
    f = ["-rate*z", "z - x**2"]  # x' = -rate x^2, x = 1 / (1 + rate t)
    return Model(
        "decay", ["x", "z"], [[1, 0], [0, 0]], f, parameters={"rate": rate}, t_span=(0, 2), y0=(1, 1)
    )


@pytest.mark.parametrize("rate", [0.5, 3.0])
def test_parameters_count_at_run_time(rate: float) -> None:
    sol = herk.solve_dae(decay(), parameters={"rate": rate}, **SETTING)
    x = 1.0 / (1.0 + 2.0 * rate)
    assert sol.y[:, -1] == pytest.approx([x, x * x], abs=1e-8)


def test_prepared_runs_begin_elsewhere() -> None:
    prepared = herk.prepare(decay(), **SETTING)
    for start, rate in ((1.0, 1.0), (2.0, 0.25)):
        sol = prepared.solve(y0=(start, start**2), parameters={"rate": rate})
        assert sol.y[0, -1] == pytest.approx(start / (1.0 + 2.0 * rate * start), abs=1e-8)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("system", [PENDULUM, SELECTOR], ids=lambda system: system.name)
def test_callables_are_solved_with_and_without_derivatives(system, back: bool) -> None:
    end = min(system.t_span[1], 1.0)
    for dae in (system.dae, replace(system.dae, jac_g=None, g_t=None)):
        sol = herk.solve_dae(called_back(dae, back), (system.t_span[0], end), system.y0, **SETTING)
        assert sol.success, sol.message
        assert sol.y[:, -1] == pytest.approx(system.exact(end), abs=NEAR)
        assert sol.residual < 1e-12


def test_a_model_taken_as_callables_takes_the_same_path() -> None:
    problem = testset.get("akzo")
    ours = herk.solve_dae(problem, **SETTING)
    plain = herk.solve_dae(problem, generate=False, **SETTING)
    assert plain.y[:, -1] == pytest.approx(ours.y[:, -1], rel=1e-6)


def varying_e(t, y):
    return np.array([[1.0 + y[0] ** 2, y[0]], [0.0, 0.0]])


def varying_f(t, y):  # y = x^2: (1 + x^2 + 2 x^2) x' = -(1 + 3 x^2) x
    return np.array([-(1.0 + 3.0 * y[0] ** 2) * y[0], 0.0])


def varying_g(t, y):
    return np.array([y[1] - y[0] ** 2])


def test_e_may_depend_on_the_state() -> None:
    dae = herk.Dae(E=varying_e, f=varying_f, g=varying_g, n=2, m=1)
    sol = herk.solve_dae(dae, (0.0, 2.0), (1.0, 1.0), **SETTING)
    assert sol.y[:, -1] == pytest.approx([np.exp(-2.0), np.exp(-4.0)], abs=1e-8)


def test_dependent_constraints_are_refused() -> None:
    def twice(t, y):
        return np.array([y[0] - y[1], 2 * y[0] - 2 * y[1]])

    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=lambda t, y: np.array([y[0], 0.0]), g=twice, n=2, m=2)
    with pytest.raises(InputError, match="independent"):
        herk.solve_dae(dae, (0.0, 1.0), (1.0, 1.0), method="radau5")


def test_a_solution_that_ends_is_reported_with_what_was_reached() -> None:
    """x' = x^2 has a pole at t = 1."""
    f = ["z", "z - x**2"]
    model = Model("pole", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 2), y0=(1, 1))
    sol = herk.solve_dae(model, method="radau5")
    assert not sol.success
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-3)
    assert sol.message


def test_counters_tell_of_work_done() -> None:
    sol = solve()
    assert min(sol.nfev, sol.ngev, sol.njev, sol.nlu, sol.nit) > 0
    assert sol.nfev >= 3 * sol.nit


def test_an_unknown_method_is_named_with_its_nearest() -> None:
    with pytest.raises(InputError, match="radau5"):
        herk.solve_dae(decay(), method="radou5")


def test_the_mapping_of_tableaus_does_not_hold_radau() -> None:
    assert "radau5" not in herk.METHODS


def only_constraints(t, y):
    return np.array([y[0] - np.sin(t), y[1] ** 3 + y[1] - y[0]])


def test_constraints_alone_determine_a_solution() -> None:
    """m = n: nothing is integrated, and long steps are repeated in short ones for the output between them."""
    dae = herk.Dae(E=np.zeros((2, 2)), f=lambda t, y: np.zeros(2), g=only_constraints, n=2, m=2)
    times = np.linspace(0.0, 10.0, 33)
    sol = herk.solve_dae(dae, (0.0, 10.0), (0.0, 0.0), method="radau5", t_eval=times)
    assert sol.success, sol.message
    assert sol.y[0] == pytest.approx(np.sin(times), abs=1e-14)
    assert sol.y[1] ** 3 + sol.y[1] == pytest.approx(sol.y[0], abs=1e-14)


def test_an_ode_needs_no_constraints() -> None:
    """y' = -1e6 (y - cos t): behind the transient y = (1e12 cos t + 1e6 sin t) / (1e12 + 1)."""
    dae = herk.Dae(E=np.eye(1), f=lambda t, y: -1e6 * (y - np.cos(t)), n=1)
    sol = herk.solve_dae(dae, (0.0, 10.0), (0.0,), **SETTING)
    exact = (1e12 * np.cos(10.0) + 1e6 * np.sin(10.0)) / (1e12 + 1.0)
    # behind the transient steps are of length 1: their slopes are off by 0.1, which 1e6 y makes of 1e-7
    assert sol.y[0, -1] == pytest.approx(exact, abs=1e-7)
    assert sol.nstep < 300  # an explicit method needs more than 1e6


def raising(t, y):
    if t > 0.5:
        raise ValueError("not beyond one half")
    return np.array([y[1], -y[0]])


@pytest.mark.parametrize("back", [False, True])
def test_a_callable_that_raises_ends_the_run_with_its_words(back: bool) -> None:
    dae = called_back(herk.Dae(E=np.eye(2), f=raising, n=2), back)
    sol = herk.solve_dae(dae, (0.0, 1.0), (0.0, 1.0), method="radau5")
    assert sol.reason is Reason.EXCEPTION
    assert "not beyond one half" in sol.message
    assert 0.2 < sol.t[-1] <= 0.5
    assert sol.y[0] == pytest.approx(np.sin(sol.t), abs=1e-4)


def test_constraints_that_cancel_are_satisfied_as_well_as_rounding_allows() -> None:
    """The slider crank: forces of a stiff rod stand in its hidden constraints, much larger than their sum."""
    problem = testset.get("slider_crank")
    sol = herk.solve_dae(problem, (0.0, 0.02), method="radau5")
    assert sol.success, sol.message
    assert sol.residual < 1e-10


def test_dense_output_is_exact_between_long_steps_of_a_quasistatic_solution() -> None:
    """The solution y = cos t of y' = -1e5 (y - cos t) - sin t: steps of length one, far beyond a cubic."""
    model = Model("slow", ["y"], [[1]], ["-1e5*(y - cos(t)) - sin(t)"], t_span=(0, 20), y0=(1.0,))
    sol = herk.solve_dae(model, method="radau5", rtol=1e-8, atol=1e-8, dense_output=True)
    assert np.diff(sol.t).max() > 0.5
    times = np.linspace(0.0, 20.0, 301)
    assert np.abs(sol(times)[0] - np.cos(times)).max() < 1e-5
