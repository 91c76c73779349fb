"""A run that cannot go on ends with a reason, in words, and with every point it reached."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from math import cos, sqrt

import numpy as np
import pytest

import herk
import testset
from herk.core import Reason
from herk.integrate.interrupts import undisturbed
from herk.integrate.output import Output
from tests.integrate.systems import PENDULUM, called_back, pendulum_exact

PATHS = pytest.mark.parametrize("python", [False, True], ids=["compiled", "called_back"])


def ode(f, n: int = 1) -> herk.Dae:
    return herk.Dae(E=np.eye(n), f=f, n=n)


def failed(sol: herk.Solution, *reasons: Reason) -> herk.Solution:
    """Check what every failure has in common."""
    assert sol.reason in reasons, sol.message
    assert not sol.success
    assert sol.status == -1
    assert sol.t.size == sol.y.shape[1] >= 1
    assert np.isfinite(sol.y).all()
    assert np.isfinite(sol.t).all()
    assert sol.message
    return sol


def explosion(t, y):
    return y * y


def pole(t, y):
    return np.array([1.0 / (1.0 - t)])


def square_root(t, y):
    return np.array([sqrt(1.0 - t)])


def decay(t, y):
    return -y


def ripple(t, y):
    return np.array([cos(1e6 * t)])


def empty_tank(t, y):
    if t > 0.5:
        raise RuntimeError("the tank is empty")
    return -y


@PATHS
@pytest.mark.parametrize("method", ["bs32", "dopri5", "dop853"])
def test_a_solution_that_explodes_ends_where_it_explodes(method, python) -> None:
    sol = herk.solve_dae(called_back(ode(explosion), python), (0.0, 2.0), [1.0], method=method, rtol=1e-8)
    failed(sol, Reason.STEP_UNDERFLOW, Reason.NONFINITE)
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)  # y = 1 / (1 - t)
    early = sol.t < 0.9
    assert np.abs(sol.y[0, early] * (1 - sol.t[early]) - 1).max() < 1e-5


def test_a_fixed_step_into_an_explosion_ends_without_numbers_that_are_none() -> None:
    sol = failed(herk.solve_dae(ode(explosion), (0.0, 2.0), [1.0], method="rk4", step=0.01), Reason.NONFINITE)
    assert sol.t[-1] >= 0.99
    assert "smaller step" in sol.message


@PATHS
def test_a_pole_in_time_ends_with_step_size_underflow(python) -> None:
    sol = failed(
        herk.solve_dae(called_back(ode(pole), python), (0.0, 2.0), [0.0]),
        Reason.STEP_UNDERFLOW,
        Reason.NONFINITE,
    )
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-9)
    assert "step" in sol.message


@PATHS
def test_a_function_that_leaves_its_domain_ends_at_the_border(python) -> None:
    sol = failed(herk.solve_dae(called_back(ode(square_root), python), (0.0, 2.0), [0.0]), Reason.NONFINITE)
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-9)
    assert sol.y[0, -1] == pytest.approx(2 / 3, abs=1e-6)
    assert "not finite" in sol.message


@PATHS
def test_a_trial_step_beyond_the_domain_is_shortened_and_does_no_harm(python) -> None:
    sol = herk.solve_dae(
        called_back(ode(square_root), python), (0.0, 0.999), [0.0], first_step=0.99, rtol=1e-8
    )
    assert sol.success
    assert sol.y[0, -1] == pytest.approx(2 / 3 * (1 - 0.001**1.5), abs=1e-6)


def shrinking(t, y):
    return np.array([y[0] ** 2 + y[1] ** 2 - (1.0 - t)])


def shrinking_f(t, y):
    return np.array([0.0, y[0] ** 2 + y[1] ** 2 - (1.0 - t)])


@PATHS
def test_a_constraint_that_loses_its_solution_ends_where_it_does(python) -> None:
    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=shrinking_f, g=shrinking, n=2, m=1)
    sol = herk.solve_dae(called_back(dae, python), (0.0, 2.0), [0.6, 0.8])  # x stays 0.6, y = sqrt(0.64 - t)
    failed(sol, Reason.NEWTON, Reason.STEP_UNDERFLOW, Reason.SINGULAR)
    assert sol.t[-1] == pytest.approx(0.64, abs=1e-6)
    assert np.abs(sol.y[1] - np.sqrt(0.64 - sol.t)).max() < 1e-6
    assert sol.residual < 1e-12


def torn(t, y):
    return np.array([y[1] ** 2 - 1.0 if t < 0.5 else y[1] ** 2 + 4.0])


def torn_f(t, y):
    return np.array([y[1], 0.0])


@PATHS
@pytest.mark.parametrize(("method", "step"), [("dopri5", None), ("rk4", 0.1)])
def test_newton_that_never_converges_is_the_reason(method, step, python) -> None:
    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=torn_f, g=torn, n=2, m=1)
    sol = failed(
        herk.solve_dae(called_back(dae, python), (0.0, 2.0), [0.0, 1.0], method=method, step=step),
        Reason.NEWTON,
    )
    assert sol.t[-1] == pytest.approx(0.5 if step is None else 0.4, abs=1e-9)
    assert np.abs(sol.y[0] - sol.t).max() < 1e-9


def folded(t, y):
    return np.array([(1.0 - t) * (y[1] - 1.0)])


def test_constraints_that_lose_rank_end_with_a_reason() -> None:
    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=torn_f, g=folded, n=2, m=1)
    sol = herk.solve_dae(
        dae, (0.0, 2.0), [0.0, 1.0], step=0.25, method="rk4"
    )  # t = 1 is a grid point: dg/dy = 0
    failed(sol, Reason.SINGULAR, Reason.NEWTON)
    assert sol.t[-1] <= 1.0


def fading_mass(t, y):
    return np.array([[1.0 - t]]) if t < 1.0 else np.array([[0.0]])


def test_a_mass_matrix_that_becomes_singular_ends_with_a_reason() -> None:
    sol = herk.solve_dae(herk.Dae(E=fading_mass, f=decay, n=1), (0.0, 2.0), [1.0])  # y = 1 - t up to t = 1
    failed(sol, Reason.SINGULAR, Reason.STEP_UNDERFLOW, Reason.NONFINITE)
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert np.abs(sol.y[0] - (1 - sol.t)).max() < 1e-6


# --- exceptions -----------------------------------------------------------------------------------------------------------


@PATHS
def test_an_exception_during_the_run_is_reported_with_t_and_y_and_keeps_the_points(python) -> None:
    tank = called_back(ode(empty_tank), python)
    sol = failed(herk.solve_dae(tank, (0.0, 2.0), [1.0], method="dopri5"), Reason.EXCEPTION)
    assert sol.t.size > 3
    assert 0.2 < sol.t[-1] <= 0.5
    assert np.abs(sol.y[0] - np.exp(-sol.t)).max() < 1e-5
    assert "f(t, y) raised RuntimeError: the tank is empty at t = 0.5" in sol.message
    assert "in empty_tank" in sol.message  # its own traceback
    assert "y = [0." in sol.message


def moody():
    calls = []

    def f(t, y):
        calls.append(t)
        if len(calls) > 100:
            raise LookupError("enough")
        return -y

    return f


def test_an_exception_that_does_not_come_twice_is_reported_all_the_same() -> None:
    sol = failed(herk.solve_dae(called_back(ode(moody())), (0.0, 200.0), [1.0]), Reason.EXCEPTION)
    assert "LookupError: enough" in sol.message
    assert sol.t.size > 5


def raising_constraint(t, y):
    if t > 0.7:
        raise RuntimeError("no constraint any more")
    return np.array([y[0] - y[1]])


@PATHS
def test_an_exception_in_a_constraint_is_reported_with_its_name(python) -> None:
    dae = herk.Dae(
        E=np.diag([1.0, 0.0]), f=lambda t, y: np.array([y[0], y[0] - y[1]]), g=raising_constraint, n=2, m=1
    )
    sol = failed(
        herk.solve_dae(called_back(dae, python), (0.0, 2.0), [1.0, 1.0], max_step=0.1), Reason.EXCEPTION
    )
    assert "g(t, y) raised RuntimeError: no constraint any more at t = 0.7" in sol.message
    assert sol.t[-1] > 0.5


@pytest.mark.parametrize("role", ["callback", "events"])
def test_an_exception_in_callback_or_event_keeps_the_points(role) -> None:
    def strange(t, y):
        if t > 0.5:
            raise ZeroDivisionError("strange")
        return 1.0

    sol = failed(
        herk.solve_dae(PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, max_step=0.01, **{role: strange}),
        Reason.EXCEPTION,
    )
    assert 0.5 < sol.t[-1] < 0.52
    assert "raised ZeroDivisionError: strange at t = 0.5" in sol.message
    assert np.abs(sol.y[:, -1] - pendulum_exact(sol.t[-1])).max() < 1e-4


# --- limits ---------------------------------------------------------------------------------------------------------------


@PATHS
@pytest.mark.parametrize("limit", [1, 7, 64, 100])
def test_max_steps_ends_after_just_so_many_steps(limit, python) -> None:
    sol = failed(
        herk.solve_dae(called_back(ode(ripple), python), (0.0, 10.0), [0.0], max_steps=limit),
        Reason.MAX_STEPS,
    )
    assert sol.nstep == limit
    assert sol.t.size == limit + 1


def test_max_steps_is_no_failure_if_the_end_is_reached_by_then() -> None:
    assert (
        herk.solve_dae(ode(decay), (0.0, 1.0), [1.0], method="rk4", step=0.1, max_steps=10).reason
        is Reason.FINISHED
    )
    failed(
        herk.solve_dae(ode(decay), (0.0, 1.0), [1.0], method="rk4", step=0.1, max_steps=9), Reason.MAX_STEPS
    )


@PATHS
def test_time_limit_ends_in_time_with_the_points_reached(python) -> None:
    herk.solve_dae(called_back(ode(ripple), python), (0.0, 1e-6), [0.0])  # compiled by now
    before = time.perf_counter()
    sol = herk.solve_dae(called_back(ode(ripple), python), (0.0, 1e3), [0.0], time_limit=0.2)
    assert time.perf_counter() - before < 1.5
    failed(sol, Reason.TIME_LIMIT)
    assert sol.t.size > 10
    assert (np.diff(sol.t) > 0).all()
    assert "time_limit" in sol.message


def test_time_limit_counts_the_time_of_a_slow_callback() -> None:
    herk.solve_dae(ode(ripple), (0.0, 1e-6), [0.0])
    before = time.perf_counter()
    sol = herk.solve_dae(
        ode(ripple), (0.0, 1e3), [0.0], time_limit=0.1, callback=lambda t, y: time.sleep(0.05)
    )
    assert time.perf_counter() - before < 1.5
    failed(sol, Reason.TIME_LIMIT)
    assert sol.t.size < 10


# --- stops ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_stops_the_run_at_the_point_it_was_shown(answer) -> None:
    shown = []

    def callback(t, y):
        shown.append(t)
        return answer if t > 0.4 else None

    sol = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, callback=callback)
    assert sol.success
    assert sol.status == 1
    assert sol.reason is Reason.CALLBACK
    assert list(sol.t[1:]) == shown
    assert shown[-2] <= 0.4 < shown[-1]


def test_a_callback_that_returns_other_things_or_spoils_its_y_changes_nothing() -> None:
    def callback(t, y):
        y[:] = -1.0
        return 1

    plain = herk.solve_dae(PENDULUM.dae, PENDULUM.t_span, PENDULUM.y0)
    sol = herk.solve_dae(PENDULUM.dae, PENDULUM.t_span, PENDULUM.y0, callback=callback)
    assert sol.reason is Reason.FINISHED
    assert np.array_equal(sol.y, plain.y)


@PATHS
def test_an_interrupt_from_the_callback_keeps_every_point_before(python) -> None:
    shown = []

    def callback(t, y):
        shown.append(t)
        if len(shown) == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        herk.solve_dae(
            called_back(PENDULUM.dae, python),
            (0.0, 2.0),
            PENDULUM.y0,
            callback=callback,
            max_step=0.01,
            dense_output=True,
        )
    sol = caught.value.solution
    failed(sol, Reason.INTERRUPTED)
    assert list(sol.t[1:]) == shown
    assert np.abs(sol(0.1) - pendulum_exact(0.1)).max() < 1e-6


def test_an_interrupt_inside_a_function_keeps_the_points_before() -> None:
    def f(t, y):
        if t > 0.5:
            raise KeyboardInterrupt
        return -y

    with pytest.raises(KeyboardInterrupt) as caught:
        herk.solve_dae(called_back(ode(f)), (0.0, 1.0), [1.0], max_step=0.1)
    sol = failed(caught.value.solution, Reason.INTERRUPTED)
    assert 0.3 < sol.t[-1] <= 0.5


# A process started in the background may inherit that interrupts are ignored.
LONG_RUN = """
import signal, herk, testset
signal.signal(signal.SIGINT, signal.default_int_handler)
problem = testset.get("pendulum", t_end=1e6)
herk.solve_dae(problem, (0.0, 4.0), method="dop853", rtol=1e-12, atol=1e-12)
print("ready", flush=True)
try:
    sol = herk.solve_dae(problem, method="dop853", rtol=1e-12, atol=1e-12)
except KeyboardInterrupt as error:
    sol = error.solution
print(sol.reason, sol.success, sol.t.size, sol.y.shape[1], sol.residual < 1e-11, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
def test_control_c_in_a_long_compiled_run_is_raised_with_what_was_reached() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LONG_RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert err == ""
    reason, success, times, states, small = out.split()
    assert (reason, success, small) == ("interrupted", "False", "True")
    assert int(times) == int(states) > 100


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
def test_control_c_waits_for_a_compiler_at_work() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored, if pytest was started in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert done
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_failed_run_gives_what_it_has_at_the_times_asked_for() -> None:
    t_eval = np.linspace(0.0, 2.0, 21)
    sol = failed(
        herk.solve_dae(ode(pole), (0.0, 2.0), [0.0], t_eval=t_eval, rtol=1e-8),
        Reason.STEP_UNDERFLOW,
        Reason.NONFINITE,
    )
    assert np.array_equal(sol.t, t_eval[:10])  # 0, 0.1, ..., 0.9; y(1) does not exist
    assert np.abs(sol.y[0] + np.log(1 - sol.t)).max() < 1e-6


def test_a_failure_before_the_first_time_asked_for_gives_empty_arrays() -> None:
    sol = herk.solve_dae(ode(pole), (0.0, 2.0), [0.0], t_eval=[1.5])
    assert not sol.success
    assert sol.t.shape == (0,)
    assert sol.y.shape == (1, 0)


def test_a_run_that_exhausts_the_memory_keeps_its_points(monkeypatch) -> None:
    room = Output.room

    def small(self, size):
        if self.last[0] > 0.5:
            raise MemoryError
        return room(self, size)

    monkeypatch.setattr(Output, "room", small)
    sol = failed(
        herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, method="rk4", step=1e-3), Reason.EXCEPTION
    )
    assert sol.t[-1] > 0.5
    assert "Memory was exhausted" in sol.message


def test_states_that_cannot_be_found_between_points_end_the_run_with_a_reason(monkeypatch) -> None:
    def unable(*_):
        raise herk.HerkError("The constraints could not be solved between two accepted points.")

    monkeypatch.setattr("herk.integrate.output.rows", unable)
    stop = lambda t, y: t - 0.5
    sol = failed(
        herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, events=stop, max_step=0.03), Reason.NEWTON
    )
    assert sol.t[-1] > 0.4
    assert "between two accepted points" in sol.message


def test_a_model_that_fails_keeps_its_points_too() -> None:
    problem = testset.get("pendulum")
    sol = failed(herk.solve_dae(problem, max_steps=100, dense_output=True), Reason.MAX_STEPS)
    assert sol.t.size == 101
    assert sol(sol.t[50]).tolist() == sol.y[:, 50].tolist()


def test_a_first_step_too_short_to_move_t_is_lengthened():
    sol = herk.solve_dae(ode(lambda t, y: -y), (5.0, 6.0), [1.0], first_step=1e-30, rtol=1e-8, atol=1e-8)
    assert sol.success
    assert (np.diff(sol.t) > 0).all()
    np.testing.assert_allclose(sol.y[0, -1], np.exp(-1.0), rtol=1e-6)


def test_a_problem_that_asks_for_steps_below_rounding_ends_with_a_reason_and_no_step_of_length_zero():
    dae = ode(lambda t, y: -1e30 * (y - 1.0))
    sol = herk.solve_dae(dae, (5.0, 6.0), [2.0], method="dop853", max_steps=5000)
    assert sol.reason in (Reason.STEP_UNDERFLOW, Reason.NONFINITE)
    assert (np.diff(sol.t) > 0).all()
    sol = herk.solve_dae(dae, (5.0, 6.0), [2.0])  # Radau, which takes over, is at rest at once
    assert sol.success
    assert sol.y[0, -1] == pytest.approx(1.0, rel=1e-6)


def test_too_many_steps_of_a_stiff_problem_are_explained() -> None:
    stiff = herk.Dae(E=np.eye(1), f=lambda t, y: np.array([-1e5 * (y[0] - np.cos(t))]), n=1)
    sol = herk.solve_dae(stiff, (0.0, 10.0), [1.0], method="dopri5", max_steps=500)
    assert sol.reason is Reason.MAX_STEPS
    assert "looks stiff" in sol.message
    assert "radau5" in sol.message
    smooth = herk.Dae(E=np.eye(2), f=lambda t, y: np.array([y[1], -y[0]]), n=2)
    sol = herk.solve_dae(smooth, (0.0, 100.0), [1.0, 0.0], method="dopri5", max_steps=50)
    assert "stiff" not in sol.message
