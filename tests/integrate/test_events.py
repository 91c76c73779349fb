"""Events by SciPy's rules: the same events as scipy.integrate.solve_ivp finds on the pendulum's ODE.

And on the constraints.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import herk
from herk.core import Reason
from tests.integrate.systems import PENDULUM, G, called_back, pendulum_exact, pendulum_g

TIGHT = {"method": "dop853", "rtol": 1e-10, "atol": 1e-11}


def swing(t, y):
    return [y[1], -G * sin(y[0])]


def state(theta: float, rate: float) -> np.ndarray:
    """Return x, z, v, w of the pendulum at an angle from the vertical."""
    return np.array([sin(theta), -cos(theta), cos(theta) * rate, sin(theta) * rate])


def event(function, **attributes):
    """Return an event for the DAE and the same for the ODE; both look at x, z, v, w."""

    def of_dae(t, y):
        return function(t, y)

    def of_ode(t, y):
        return function(t, state(*y))

    of_dae.__dict__.update(attributes)
    of_ode.__dict__.update(attributes)
    return of_dae, of_ode


def both(span, *events):
    """Solve the DAE and the ODE over a span, watching the same events."""
    start = pendulum_exact(span[0])
    angle = np.arctan2(start[0], -start[1])
    rate = start[2] * cos(angle) + start[3] * sin(angle)
    ours = herk.solve_dae(PENDULUM.dae, span, start, events=[pair[0] for pair in events], **TIGHT)
    theirs = solve_ivp(
        swing,
        span,
        [angle, rate],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
        events=[pair[1] for pair in events],
    )
    return ours, theirs


def same(ours, theirs) -> None:
    assert ours.status == theirs.status
    assert len(ours.t_events) == len(theirs.t_events)
    for found, expected, states, angles in zip(
        ours.t_events, theirs.t_events, ours.y_events, theirs.y_events, strict=True
    ):
        assert found.shape == expected.shape
        assert np.abs(found - expected).max(initial=0.0) < 1e-8
        for t, y, angle in zip(found, states, angles, strict=True):
            assert np.abs(pendulum_g(t, y)).max() < 1e-12
            assert np.abs(y[:4] - state(*angle)).max() < 1e-7


def x(t, y):
    return y[0]


def low(t, y):
    return y[1] + 0.5


def fast(t, y):
    return y[2] ** 2 + y[3] ** 2 - G


def never(t, y):
    return y[1] - 2.0


@pytest.mark.parametrize("direction", [0, 1, -1, 0.5, -3])
@pytest.mark.parametrize("span", [(0.0, 4.2), (4.2, 0.1)])
@pytest.mark.parametrize("function", [x, low, fast])
def test_direction_selects_the_crossings_scipy_selects(function, span, direction) -> None:
    ours, theirs = both(span, event(function, direction=direction))
    assert ours.t_events[0].size > 0
    same(ours, theirs)


def test_the_lowest_point_is_passed_at_odd_halves() -> None:
    ours, _ = both((0.0, 4.0), event(x))
    assert ours.t_events[0] == pytest.approx([0.5, 1.5, 2.5, 3.5], abs=1e-8)
    assert ours.y_events[0][:, 0] == pytest.approx(np.zeros(4), abs=1e-12)
    assert ours.reason is Reason.FINISHED


@pytest.mark.parametrize("terminal", [True, 1, 2, 3, np.int64(3), 2.0])
@pytest.mark.parametrize("direction", [0, -1])
def test_a_terminal_event_ends_the_run_after_its_count(terminal, direction) -> None:
    ours, theirs = both((0.0, 9.0), event(x, terminal=terminal, direction=direction))
    same(ours, theirs)
    assert ours.reason is Reason.EVENT
    assert ours.success
    assert ours.t_events[0].size == int(terminal)
    assert ours.t[-1] == ours.t_events[0][-1]
    assert np.array_equal(ours.y[:, -1], ours.y_events[0][-1])
    assert (np.diff(ours.t) > 0).all()


@pytest.mark.parametrize("terminal", [None, False, 0])
def test_an_event_that_is_not_terminal_is_only_noted(terminal) -> None:
    ours, theirs = both((0.0, 2.0), event(x, terminal=terminal))
    same(ours, theirs)
    assert ours.t[-1] == 2.0


def test_several_events_are_noted_side_by_side() -> None:
    same(*both((0.0, 5.0), event(x), event(low, direction=-1), event(never), event(fast, direction=1)))


def test_a_terminal_event_cuts_the_others_off() -> None:
    ours, theirs = both(
        (0.0, 5.0), event(lambda t, y: t - 1.3), event(x, terminal=2), event(lambda t, y: t - 1.7), event(low)
    )
    same(ours, theirs)
    assert ours.t_events[0] == pytest.approx([1.3], abs=1e-12)
    assert ours.t_events[2].size == 0


def test_events_within_one_step_come_in_order() -> None:
    def clock(when, **attributes):
        return event(lambda t, y: t - when, **attributes)

    times = (0.70, 0.71, 0.705, 0.702)
    ours, theirs = both((0.0, 1.0), *(clock(when, terminal=when == 0.705) for when in times))
    same(ours, theirs)
    assert [found.size for found in ours.t_events] == [1, 0, 1, 1]
    assert ours.t[-1] == pytest.approx(0.705, abs=1e-14)


def test_no_event_gives_empty_arrays_of_the_shape_scipy_gives() -> None:
    ours, theirs = both((0.0, 1.0), event(never))
    assert ours.t_events[0].shape == theirs.t_events[0].shape == (0,)
    assert ours.y_events[0].shape == theirs.y_events[0].shape == (0,)
    assert herk.solve_dae(PENDULUM.dae, (0.0, 0.1), PENDULUM.y0).t_events is None
    assert herk.solve_dae(PENDULUM.dae, (0.0, 0.1), PENDULUM.y0, events=[]).t_events == []


@pytest.mark.parametrize("terminal", [False, True])
def test_an_event_at_the_start_counts_as_in_scipy(terminal) -> None:
    ours, theirs = both((0.0, 0.9), event(lambda t, y: t, terminal=terminal))
    same(ours, theirs)
    assert ours.t_events[0].tolist() == [0.0]
    assert ours.t[-1] == (0.0 if terminal else 0.9)
    assert (np.diff(ours.t) > 0).all()


@pytest.mark.parametrize("direction", [0, 1])
def test_an_event_right_at_an_accepted_point_is_noted_once(direction) -> None:
    def half(t, y):
        return t - 0.5

    half.direction = direction
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, method="rk4", step=1 / 128, events=half)
    assert sol.t_events[0].tolist() == [0.5]
    half.terminal = True
    sol = herk.solve_dae(
        PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, method="rk4", step=1 / 128, events=half, dense_output=True
    )
    assert sol.t[-1] == 0.5
    assert sol.t.size == 65
    assert np.array_equal(sol(0.5), sol.y[:, -1])


def test_an_event_function_that_stays_zero_has_no_events() -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, events=lambda t, y: 0.0)
    assert sol.t_events[0].size == 0


@pytest.mark.parametrize("method", ["bs32", "tsit5", "verner98"])
def test_the_time_of_an_event_is_as_exact_as_the_solution(method) -> None:
    sol = herk.solve_dae(
        PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, method=method, rtol=1e-7, atol=1e-9, events=lambda t, y: y[0]
    )
    error = np.abs(sol.y - np.array([pendulum_exact(t) for t in sol.t]).T).max()
    assert sol.t_events[0] == pytest.approx([0.5], abs=10 * error)


def test_t_eval_and_dense_output_end_at_a_terminal_event() -> None:
    stop, _ = event(x, terminal=2)
    times = np.linspace(0.0, 4.0, 39)  # the event at 1.5 is none of them
    sol = herk.solve_dae(
        PENDULUM.dae, (0.0, 4.0), PENDULUM.y0, events=stop, t_eval=times, dense_output=True, **TIGHT
    )
    assert np.array_equal(sol.t, times[times < 1.5])
    assert np.abs(sol.y - np.array([pendulum_exact(t) for t in sol.t]).T).max() < 1e-7
    assert np.array_equal(sol(sol.t_events[0][-1]), sol.y_events[0][-1])
    with pytest.raises(herk.InputError, match=r"known from 0\.0 to 1\.(5|49)"):
        sol(1.6)


def cliff(t, y):
    if t > 0.5:
        raise RuntimeError("beyond the cliff")
    return np.array([cos(t)])


def abyss(t, y):
    return np.array([np.sqrt(0.5 - t)])


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize("f", [cliff, abyss])
def test_a_terminal_event_before_a_failure_ends_the_run_as_an_event(f, python) -> None:
    def stop(t, y):
        return t - 0.45

    stop.terminal = True
    sol = herk.solve_dae(
        called_back(herk.Dae(E=np.eye(1), f=f, n=1), python), (0.0, 1.0), [0.0], max_step=0.01, events=stop
    )
    assert sol.reason is Reason.EVENT, sol.message
    assert sol.t[-1] == pytest.approx(0.45, abs=1e-14)
    alone = herk.solve_dae(
        called_back(herk.Dae(E=np.eye(1), f=f, n=1), python), (0.0, 1.0), [0.0], max_step=0.01
    )
    assert alone.reason in (Reason.EXCEPTION, Reason.NONFINITE)


def test_selections_after_a_terminal_event_are_not_reported() -> None:
    stop, _ = event(lambda t, y: t - 0.01, terminal=True)
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 4.0), PENDULUM.y0, events=stop)
    assert all(t < 0.01 for t, _ in sol.selections)


def test_an_event_that_spoils_its_y_changes_nothing() -> None:
    def spoil(t, y):
        value = y[0]
        y[:] = np.nan
        return value

    sol = herk.solve_dae(PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, events=spoil, **TIGHT)
    assert sol.t_events[0] == pytest.approx([0.5], abs=1e-8)
    assert np.isfinite(sol.y).all()


@pytest.mark.parametrize("answer", [None, "text", [1.0, 2.0], {}])
def test_an_event_that_returns_no_number_is_refused(answer) -> None:
    with pytest.raises(herk.InputError, match="one number"):
        herk.solve_dae(PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, events=lambda t, y: answer)


def test_an_event_that_raises_at_the_start_is_named() -> None:
    def odd(t, y):
        raise KeyError("odd")

    with pytest.raises(herk.HerkError, match=r"event odd\(t, y\) raised KeyError: 'odd' at t = 0.0"):
        herk.solve_dae(PENDULUM.dae, (0.0, 1.0), PENDULUM.y0, events=odd)


@pytest.mark.parametrize("stop", ["event", "callback"])
def test_counters_tell_of_the_steps_up_to_the_stop_alone(stop):
    """A run of the same number of steps without event or callback has the same counters.

    Though more steps are made at a time.
    """

    def low(t, y):
        return y[1] + 0.9

    low.terminal = True
    reached = []
    watched = (
        {"events": low}
        if stop == "event"
        else {"callback": lambda t, y: len(reached) == 20 or reached.append(t)}
    )
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 20.0), PENDULUM.exact(0.0), **TIGHT, **watched)
    assert sol.reason is (Reason.EVENT if stop == "event" else Reason.CALLBACK)
    plain = herk.solve_dae(PENDULUM.dae, (0.0, 20.0), PENDULUM.exact(0.0), **TIGHT, max_steps=sol.nstep)
    for name in ("nstep", "nreject", "nfev", "ngev", "njev", "nlu", "nit", "residual"):
        assert getattr(sol, name) == getattr(plain, name), name
    assert sol.nfev > 0


@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
@pytest.mark.parametrize("before", [1e-3, 1e-8, 1e-12])
def test_an_event_right_before_the_end_of_the_span_is_found_and_ends_the_run(
    before: float, method: str
) -> None:
    model = herk.Model("clock", ["x", "z"], [[1, 0], [0, 0]], ["1", "z - x**2"], t_span=(0, 1), y0=[0, 0])

    def near_the_end(t: float, y: np.ndarray) -> float:
        return float(y[0]) - (1.0 - before)

    noted = herk.solve_dae(model, method=method, events=near_the_end)
    assert (noted.status, noted.t[-1]) == (0, 1.0)
    near_the_end.terminal = True
    ended = herk.solve_dae(model, method=method, events=near_the_end, t_eval=[0.5, 1.0])
    assert (ended.status, ended.t.tolist()) == (1, [0.5])
    for sol in (noted, ended):
        np.testing.assert_allclose(sol.t_events[0], [1.0 - before], rtol=1e-14)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0, 1e9])
def test_events_have_the_same_digits_in_any_unit_of_time(unit: float) -> None:
    model = herk.Model("clock", ["x"], [[1]], [repr(1 / unit)], t_span=(0, unit), y0=[0])
    sol = herk.solve_dae(model, events=lambda t, y: float(y[0]) - 1 / 3)
    np.testing.assert_allclose(sol.t_events[0], [unit / 3], rtol=1e-14)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function) -> None:
        self.function, self.calls = function, 0

    def __call__(self, t: float, y: np.ndarray):
        self.calls += 1
        return self.function(t, y)


def test_the_step_in_which_an_event_lies_is_repeated_once_however_often_it_is_asked() -> None:
    f = Counted(lambda t, y: [-y[1], y[0], y[2] - y[0] ** 3])
    rises = Counted(lambda t, y: y[2] - 0.5)
    dae = herk.Dae(E=np.diag([1.0, 1.0, 0.0]), f=f, g=Counted(lambda t, y: [y[2] - y[0] ** 3]), n=3, m=1)
    counts = []
    for events in (None, rises):
        f.calls = 0
        sol = herk.solve_dae(dae, (0.0, 1.0), [1.0, 0.0, 1.0], method="radau5", rtol=1e-7, events=events)
        counts.append(f.calls)
    exact = np.arccos(0.5 ** (1 / 3))  # x = cos t
    np.testing.assert_allclose(sol.t_events[0], [exact], rtol=1e-6)
    np.testing.assert_allclose(sol.y_events[0][0], [np.cos(exact), np.sin(exact), 0.5], rtol=1e-6)
    assert rises.calls > sol.nstep + 5
    # Whole and in half: a Jacobian by differences (four evaluations), six iterations of three stages
    assert counts[1] - counts[0] < 2 * (2 + 4 + 6 * 3)
