"""Events passed there and back within a step are found: steps of high order are long beside what they look at."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.core import Dae
from herk.integrate.turns import Turns
from tests.integrate.systems import called_back
from tests.integrate.test_meeting_events import event

SWING = herk.Model("swing", ["x", "v"], np.eye(2), ["v", "-x"], t_span=(0, 20), y0=[0, 1])  # x = sin t
METHODS = ["auto", "dopri5", "radau5", "verner98"]


def crossings(level: float, direction: int, end: float = 20.0) -> np.ndarray:
    """Return the times at which sin t is at a level, on its way up (1), down (-1) or both."""
    first = np.arcsin(level)
    up, down = (start + 2 * np.pi * np.arange(-1, 5) for start in (first, np.pi - first))
    found = np.sort(np.concatenate([up] * (direction >= 0) + [down] * (direction <= 0)))
    return found[(found > 0) & (found < end)]


@pytest.mark.parametrize("direction", [0, 1, -1])
@pytest.mark.parametrize("level", [0.9, 0.999, -0.97])
@pytest.mark.parametrize("method", METHODS)
def test_every_crossing_of_a_level_near_the_turning_point_is_an_event(method, level, direction) -> None:
    for rtol in (1e-4, 1e-6, 1e-8):
        found = event(lambda t, y: y[0] - level, direction=direction)
        sol = herk.solve_dae(SWING, method=method, rtol=rtol, atol=rtol, events=found)
        slowest = np.sqrt(1 - level**2)
        assert sol.t_events[0].shape == crossings(level, direction).shape
        assert sol.t_events[0] == pytest.approx(crossings(level, direction), abs=100 * rtol / slowest)
        assert sol.y_events[0][:, 0] == pytest.approx(level, abs=1e-9)


def test_a_run_backwards_finds_them_too() -> None:
    at_end = [np.sin(20.0), np.cos(20.0)]
    sol = herk.solve_dae(SWING, (20.0, 0.0), at_end, rtol=1e-8, events=event(lambda t, y: y[0] - 0.95))
    assert sol.t_events[0] == pytest.approx(crossings(0.95, 0)[::-1], abs=1e-6)


def test_a_terminal_event_ends_the_run_where_it_is_first_passed() -> None:
    high = event(lambda t, y: y[0] - 0.99, terminal=True)
    again = event(lambda t, y: y[0] - 0.99, terminal=True, direction=-1)
    for stop, right in ((high, np.arcsin(0.99)), (again, np.pi - np.arcsin(0.99))):
        sol = herk.solve_dae(SWING, rtol=1e-8, events=[stop, lambda t, y: y[0] - 0.995])
        assert sol.t[-1] == pytest.approx(right, abs=1e-6)
        assert len(sol.t_events[1]) == (0 if stop is high else 2)


def test_a_ball_that_just_reaches_the_ceiling_is_thrown_back() -> None:
    """Thrown up at 10 under a ceiling at 4.99, of the 5 it would reach, it comes to the floor sooner."""
    model = herk.Model("ball", ["h", "v"], np.eye(2), ["v", "-10"], t_span=(0, 3), y0=[0, 10])
    ceiling = event(lambda t, y: y[0] - 4.99, direction=1, reset=lambda t, y: [y[0], -y[1]])
    floor = event(lambda t, y: y[0], direction=-1, terminal=True)
    sol = herk.solve_dae(model, events=[ceiling, floor])
    up = 1 - np.sqrt(1 - 0.998)
    assert sol.t_events[0] == pytest.approx([up], abs=1e-9)
    assert sol.t[-1] == pytest.approx(2 * up, abs=1e-9)


def test_another_event_passed_there_and_back_before_the_stop_is_not_noted_again() -> None:
    """At the stop it is on the side from which it came, as where the step began."""
    stop = event(lambda t, y: t - 2.0, terminal=True)
    sol = herk.solve_dae(SWING, rtol=1e-8, events=[stop, lambda t, y: y[0] - 0.99])
    assert sol.t_events[1] == pytest.approx(crossings(0.99, 0, 2.0), abs=1e-6)
    assert sol.t[-1] == 2.0


def test_where_states_inside_steps_are_dear_a_line_is_looked_at_in_its_first_step_alone() -> None:
    """1 - 0.1 t with steps of 1 is known to be straight from the second step on, however near to zero."""
    turns = Turns(lambda t, y: 0.0)
    near = [turns.near(1.0, 1 - 0.1 * k, 0.9 - 0.1 * k) for k in range(9)]
    assert near == [True] + 8 * [False]


@pytest.mark.parametrize("level", [0.9, 0.999])
def test_callables_are_looked_at_where_they_may_turn(level: float) -> None:
    model = called_back(Dae(E=np.eye(2), f=lambda t, y: np.array([y[1], -y[0]]), n=2), True)
    sol = herk.solve_dae(model, (0, 20), [0, 1], rtol=1e-6, events=event(lambda t, y: y[0] - level))
    assert sol.t_events[0] == pytest.approx(crossings(level, 0), abs=1e-3)


def test_a_dip_between_equal_ends_that_were_far_from_zero_is_seen() -> None:
    """z = -sin 3t turns three times as often as the x = sin t that the steps follow."""
    model = herk.Model(
        "two",
        ["x", "v", "z"],
        np.diag([1, 1, 0]),
        ["v", "-x", "z - (4*x**3 - 3*x)"],
        t_span=(0, 10),
        y0=[0, 1, 0],
    )
    sol = herk.solve_dae(model, method="dop853", rtol=1e-4, atol=1e-4, events=event(lambda t, y: y[2] - 0.95))
    first = np.arcsin(-0.95)
    right = np.sort([(s + 2 * np.pi * k) / 3 for s in (first, np.pi - first) for k in range(-1, 6)])
    right = right[(right > 0) & (right < 10)]
    assert sol.t_events[0] == pytest.approx(right, abs=0.02)


def test_an_event_that_cannot_be_evaluated_inside_a_step_is_seen_at_its_ends() -> None:
    def fragile(t: float, y: np.ndarray) -> float:
        if t not in (0.0, *sol.t):
            raise ValueError("only points of the run")
        return y[0] - 0.5 * (1 + t)

    sol = herk.solve_dae(SWING, (0, 0.4), rtol=1e-8)
    again = herk.solve_dae(SWING, (0, 0.4), rtol=1e-8, events=fragile)
    assert again.success, again.message
