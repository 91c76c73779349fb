"""Events that meet others, a jump of the equations or an end of the span: none is lost, none made twice."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.core import InputError, Reason

CLOCK = herk.Model("clock", ["x"], [[1]], ["1"], t_span=(0, 10), y0=[0])
DECAY = herk.Model("decay", ["c"], [[1]], ["-c"], t_span=(0, 2), y0=[1])
STEP = herk.Model("step", ["x"], [[1]], ["1 + Heaviside(t - 5)"], t_span=(0, 10), y0=[0])


def event(function, **attributes):
    """Return a new event function with these attributes."""

    def value(t, y):
        return function(t, y)

    value.__dict__.update(attributes)
    return value


def jumping(by: str) -> herk.Model:
    """Return z = x + 10 behind x = t = 5."""
    f = ["1", f"z - x - 10*Heaviside({by} - 5)"]
    return herk.Model("jump", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 10), y0=[0, 0])


@pytest.mark.parametrize("method", ["auto", "radau5"])
@pytest.mark.parametrize("given", [{}, {"breakpoints": [1.0]}, {"breakpoints": [0.5, 1.0, 1.5]}])
def test_a_dose_at_a_breakpoint_is_given_once(given: dict, method: str) -> None:
    dose = event(lambda t, y: t - 1, reset=lambda t, y: [y[0] + 1])
    sol = herk.solve_dae(DECAY, events=dose, method=method, rtol=1e-9, atol=1e-11, **given)
    assert sol.t_events[0] == pytest.approx([1.0], abs=1e-13)
    assert sol.y_events[0][:, 0] == pytest.approx([np.exp(-1)], abs=1e-8)
    assert sol.y[0, -1] == pytest.approx(np.exp(-2) + np.exp(-1), abs=1e-8)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_terminal_event_at_a_breakpoint_of_the_model_ends_the_run_there(backwards: bool) -> None:
    stop = event(lambda t, y: t - 5, terminal=True)
    span, start = ((10, 0), [15]) if backwards else ((0, 10), [0])
    sol = herk.solve_dae(STEP, span, start, events=stop, t_eval=span[::1])
    assert sol.reason is Reason.EVENT
    assert sol.t_events[0] == pytest.approx([5.0], abs=1e-13)
    assert sol.y_events[0][0] == pytest.approx([5.0], abs=1e-9)
    assert sol.t.tolist() == [span[0]]


@pytest.mark.parametrize("by", ["t", "x"])
@pytest.mark.parametrize("direction", [0, 1, -1])
def test_a_change_of_sign_in_a_jump_of_the_equations_is_an_event(by: str, direction: int) -> None:
    """From z = 5 to 15 at a breakpoint or a switch; SciPy on z = x + 10 (t > 5) stops at 5."""
    high = event(lambda t, y: y[1] - 10, terminal=True, direction=direction)
    sol = herk.solve_dae(jumping(by), events=high)
    if direction < 0:
        assert sol.t[-1] == 10.0
        assert sol.t_events[0].size == 0
        return
    assert sol.reason is Reason.EVENT
    assert sol.t[-1] == sol.t_events[0][-1] == pytest.approx(5.0, abs=1e-10)
    assert sol.y[:, -1] == pytest.approx([5.0, 15.0], abs=1e-9)
    assert np.array_equal(sol.y_events[0][-1], sol.y[:, -1])


@pytest.mark.parametrize("by", ["t", "x"])
def test_an_event_that_a_jump_does_not_lead_past_zero_is_none(by: str) -> None:
    sol = herk.solve_dae(jumping(by), events=[event(lambda t, y: y[1] - 19.5), event(lambda t, y: y[0] - 5)])
    assert sol.t_events[0] == pytest.approx([9.5], abs=1e-9)
    assert sol.t_events[1] == pytest.approx([5.0], abs=1e-9)


def test_jumps_down_of_a_sawtooth_are_events_inside_the_span_as_at_its_end() -> None:
    f = ["1", "z - Mod(t, 1)"]
    model = herk.Model("saw", ["x", "z"], [[1, 0], [0, 0]], f, t_span=(0, 3), y0=[0, 0])
    sol = herk.solve_dae(model, events=event(lambda t, y: y[1] - 0.5))
    assert sol.t_events[0] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], abs=1e-9)


def fallen(height: float, t: float) -> float:
    """Return the height of a ball that falls from there and loses nothing."""
    period = np.sqrt(8 * height / 9.81)
    since = np.mod(t + period / 2, period) - period / 2
    return height - 9.81 * since**2 / 2


@pytest.mark.parametrize("method", ["auto", "radau5"])
@pytest.mark.parametrize("height", [0.123, 0.7, 1.0, 1.3, 2.0])
def test_balls_that_land_at_the_same_time_all_bounce(height: float, method: str) -> None:
    states = ["h1", "v1", "h2", "v2", "h3", "v3"]
    f = ["v1", "-9.81", "v2", "-9.81", "v3", "-9.81"]
    model = herk.Model("balls", states, np.eye(6), f, t_span=(0, 1), y0=[height, 0] * 3)
    floors = [
        event(
            lambda t, y, i=i: y[i],
            direction=-1,
            reset=lambda t, y, i=i: [*y[:i], 0.0, -y[i + 1], *y[i + 2 :]],
        )
        for i in (0, 2, 4)
    ]
    sol = herk.solve_dae(model, events=floors, rtol=1e-9, atol=1e-11, method=method)
    assert sol.success, sol.message
    assert sol.y[::2, -1] == pytest.approx([fallen(height, 1.0)] * 3, abs=1e-6)
    assert len({tuple(np.round(times, 9)) for times in sol.t_events}) == 1


@pytest.mark.parametrize("at", [1.0, 0.3, 2.0])
def test_resets_at_exactly_the_same_time_are_all_made_once(at: float) -> None:
    still = herk.Model("still", ["c"], [[1]], ["0*c"], t_span=(0, 2), y0=[1])
    doses = [event(lambda t, y: t - at, reset=lambda t, y: [2 * y[0] + 1]) for _ in range(3)]
    noted = event(lambda t, y: t - at)
    sol = herk.solve_dae(still, events=[*doses[:2], noted, doses[2]])
    assert sol.reason is Reason.FINISHED, sol.message
    assert sol.y[0, -1] == 15.0  # 1, 3, 7, 15
    assert [times.tolist() for times in sol.t_events] == [pytest.approx([at])] * 4


def test_a_reset_at_a_switch_of_the_model_is_made_as_well() -> None:
    """x grows by 1, from x = 1 on by 2; there it is also thrown back to 0, once: 1 s to 1, again, and again."""
    model = herk.Model("both", ["x"], [[1]], ["1 + Heaviside(x - 1)"], t_span=(0, 3.5), y0=[0])
    back = event(lambda t, y: y[0] - 1, direction=1, reset=lambda t, y: [0.0])
    sol = herk.solve_dae(model, events=back)
    assert sol.t_events[0] == pytest.approx([1.0, 2.0, 3.0], abs=1e-9)
    assert sol.y[0, -1] == pytest.approx(0.5, abs=1e-9)


def test_more_than_a_thousand_resets_in_equal_distances_are_no_reason_to_stop() -> None:
    again = event(lambda t, y: y[0] - 1, reset=lambda t, y: [0.0])
    sol = herk.solve_dae(CLOCK, (0, 1100.5), events=again)
    assert sol.success, sol.message
    assert sol.t_events[0].size == 1100
    assert sol.y[0, -1] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("dense", [False, True])
def test_a_count_ends_the_run_behind_that_reset(dense: bool) -> None:
    back = event(lambda t, y: y[0] - 1, reset=lambda t, y: [0.25], terminal=3)
    sol = herk.solve_dae(CLOCK, events=back, dense_output=dense)
    assert sol.reason is Reason.EVENT
    assert sol.t_events[0] == pytest.approx([1.0, 1.75, 2.5], abs=1e-12)
    assert sol.t[-2:] == pytest.approx([2.5, 2.5], abs=1e-12)
    assert sol.y[0, -2:] == pytest.approx([1.0, 0.25], abs=1e-12)
    if dense:
        assert sol(sol.t[-1]) == pytest.approx([0.25])
        assert sol(2.0) == pytest.approx([0.5])


@pytest.mark.parametrize("terminal", [None, False, True])
def test_a_reset_at_the_end_of_the_span_is_made(terminal: bool | None) -> None:
    """That a reset is called terminal does not end the run: it says how it goes on."""
    back = event(lambda t, y: y[0] - 10, reset=lambda t, y: [3.0], terminal=terminal)
    sol = herk.solve_dae(CLOCK, events=back)
    assert sol.reason is Reason.FINISHED
    assert sol.t[-2:].tolist() == [10.0, 10.0]
    assert sol.y[0, -2:] == pytest.approx([10.0, 3.0], abs=1e-12)
    assert herk.solve_dae(CLOCK, events=back, t_eval=[5.0, 10.0]).t.tolist() == [5.0, 10.0]


@pytest.mark.parametrize(("direction", "speed", "end"), [(0, 1.0, 1.0), (-1, 1.0, 1.0), (-1, -1.0, 1.0)])
def test_a_start_on_a_wall_is_reset_only_where_it_leads_through(direction, speed, end) -> None:
    model = herk.Model("wall", ["x", "v"], np.eye(2), ["v", "0*v"], t_span=(0, 1), y0=[0, speed])
    wall = event(lambda t, y: y[0], direction=direction, reset=lambda t, y: [y[0], -y[1]])
    sol = herk.solve_dae(model, events=wall)
    assert sol.y[0, -1] == pytest.approx(end, abs=1e-12)
    assert sol.t_events[0].tolist() == ([0.0] if speed < 0 else [])


def test_a_long_step_behind_a_reset_does_not_lead_across_the_next_event() -> None:
    """Nothing limits the steps of x' = 1; x is thrown back from 1 to 0.9 each time: ten times a second."""
    back = event(lambda t, y: y[0] - 1, reset=lambda t, y: [0.9])
    sol = herk.solve_dae(CLOCK, (0, 3.05), events=back, first_step=0.5)
    assert sol.t_events[0] == pytest.approx(1 + 0.1 * np.arange(21), abs=1e-9)


@pytest.mark.parametrize("direction", [0, 1])
def test_an_event_that_goes_on_in_its_direction_behind_its_reset_is_passed(direction: int) -> None:
    """A time that has come, and a line behind which it goes on at half the speed, are no floors."""
    dose = event(lambda t, y: t - 1, direction=direction, reset=lambda t, y: [y[0] + 1])
    sol = herk.solve_dae(DECAY, events=dose, rtol=1e-9, atol=1e-11)
    assert sol.success, sol.message
    assert sol.y[0, -1] == pytest.approx(np.exp(-2) + np.exp(-1), abs=1e-8)
    model = herk.Model("line", ["x", "v"], np.eye(2), ["v", "0*v"], t_span=(0, 2), y0=[0, 1])
    line = event(lambda t, y: y[0] - 1, direction=direction, reset=lambda t, y: [y[0], y[1] / 2])
    sol = herk.solve_dae(model, events=line)
    assert sol.success, sol.message
    assert sol.y[0, -1] == pytest.approx(1.5, abs=1e-12)


@pytest.mark.parametrize("kept", [0.01, 0.1, 0.5, 0.9])
def test_a_ball_that_bounces_ever_lower_does_not_fall_through_the_floor(kept: float) -> None:
    model = herk.Model("ball", ["h", "v"], np.eye(2), ["v", "-10"], t_span=(0, 100), y0=[1, 0])
    floor = event(lambda t, y: y[0], direction=-1, reset=lambda t, y: [y[0], -kept * y[1]])
    sol = herk.solve_dae(model, events=floor)
    assert sol.reason is Reason.STEP_UNDERFLOW
    assert "ever faster" in sol.message
    assert sol.t[-1] == pytest.approx(np.sqrt(0.2) * (1 + kept) / (1 - kept), rel=1e-4)
    assert sol.y[0].min() > -1e-9


def test_dense_output_asked_for_a_name_is_refused_with_a_sentence() -> None:
    for given in ({}, {"breakpoints": [5.0]}):
        sol = herk.solve_dae(CLOCK, dense_output=True, **given)
        with pytest.raises(InputError, match="takes a time or a vector of times, not 'x'"):
            sol("x")
