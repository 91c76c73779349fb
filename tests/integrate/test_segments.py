"""Runs that end and begin anew.

Breakpoints, resets, and what a problem brings, all through solve_dae alone.
"""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError, Reason
from herk.integrate.options import request
from herk.model import breakpoints

BALL = herk.Model(
    "ball", ["y", "v"], [[1, 0], [0, 1]], ["v", "-g"], parameters={"g": 10.0}, t_span=(0, 1), y0=[1, 0]
)
PENDULUM = herk.Model(
    "pendulum",
    ["x", "y", "v", "w", "lam"],
    np.diag([1, 1, 1, 1, 0]).tolist(),
    ["v", "w", "-2*x*lam", "-2*y*lam - g", "x**2 + y**2 - 1"],
    parameters={"g": 9.81},
    t_span=(0, 3),
    y0=[1, 0, 0, 0, None],
)
OPTIONS = dict.fromkeys(("step", "t_eval", "events", "first_step", "time_limit", "callback")) | {
    "rtol": 1e-6,
    "atol": 1e-9,
    "dense_output": False,
    "max_step": np.inf,
    "max_steps": 10,
    "consistent": "check",
}
TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def floor(bounce: float):
    def hit(t, y):
        return y[0]

    hit.direction, hit.reset = -1, lambda t, y: [0.0, -bounce * y[1]]
    return hit


def test_a_ball_bounces_where_and_as_high_as_it_should():
    sol = herk.solve_dae(BALL, events=floor(0.5), dense_output=True, **TIGHT)
    first, speed = np.sqrt(0.2), np.sqrt(20.0)
    np.testing.assert_allclose(sol.t_events[0], [first, first + speed / 10], rtol=1e-8)
    for t in (0.5, 0.6, 0.8):
        up = t - first
        np.testing.assert_allclose(sol(t), [speed / 2 * up - 5 * up**2, speed / 2 - 10 * up], atol=1e-7)
    both = np.flatnonzero(np.diff(sol.t) == 0.0)  # the speed before and after the impact are both there
    np.testing.assert_allclose(sol.y[1, both] * -0.5, sol.y[1, both + 1], rtol=1e-9)


def test_events_that_come_ever_faster_end_the_run_where_they_pile_up():
    sol = herk.solve_dae(BALL, (0.0, 2.0), events=floor(0.5))
    assert not sol.success
    assert sol.reason is Reason.STEP_UNDERFLOW
    assert "ever faster" in sol.message
    assert sol.t[-1] == pytest.approx(3 * np.sqrt(0.2), rel=1e-5)  # t1 (1 + 2 (1/2 + 1/4 + ...))


def test_a_pendulum_that_hits_a_wall_keeps_its_constraints_and_its_energy():
    def wall(t, y):
        return y[0]

    wall.direction, wall.reset = -1, lambda t, y: [y[0], y[1], -y[2], -y[3], y[4]]
    sol = herk.solve_dae(PENDULUM, events=wall, t_eval=np.linspace(0, 3, 61), **TIGHT)
    assert sol.success
    assert sol.y[0].min() > -1e-12
    assert sol.residual < 1e-11
    energy = (sol.y[2] ** 2 + sol.y[3] ** 2) / 2 + 9.81 * sol.y[1]
    np.testing.assert_allclose(energy, 0.0, atol=1e-6)
    times = sol.t_events[0]
    np.testing.assert_allclose(np.diff(times), 2 * times[0], rtol=1e-6)  # down, up and down again


def test_a_reset_of_callables_is_kept_to_the_last_digit_and_multipliers_follow():
    g, E = 9.81, np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
    dae = herk.Dae(
        E=E,
        f=lambda t, y: np.array([y[2], y[3], -2 * y[0] * y[4], -g - 2 * y[1] * y[4], 0.0]),
        g=lambda t, y: np.array([
            y[0] ** 2 + y[1] ** 2 - 1,
            y[0] * y[2] + y[1] * y[3],
            y[2] ** 2 + y[3] ** 2 - g * y[1] - 2 * (y[0] ** 2 + y[1] ** 2) * y[4],
        ]),
        n=5,
        m=3,
    )  # fmt: skip

    def wall(t, y):
        return y[0] - 0.3

    wall.direction, wall.reset = 1, lambda t, y: [y[0], y[1], -0.7 * y[2], -0.7 * y[3], y[4]]
    sol = herk.solve_dae(dae, (0, 1), [np.sin(-1.2), -np.cos(1.2), 0, 0, None], events=wall, **TIGHT)
    before, after = sol.y[:, np.abs(sol.t - sol.t_events[0][0]) < 1e-12].T
    np.testing.assert_allclose(after[:4], [*before[:2], *(-0.7 * before[2:4])], atol=1e-12)
    speed = after[2] ** 2 + after[3] ** 2
    assert after[4] == pytest.approx((speed - g * after[1]) / 2, rel=1e-12)


@pytest.mark.parametrize("backwards", [False, True])
def test_no_step_leads_across_a_breakpoint(backwards):
    model = herk.Model("kink", ["x"], [[1]], ["Piecewise((1, t < 1), (3, True))"], t_span=(0, 2), y0=[0])
    options = {"t_span": (2, 0), "y0": [4.0]} if backwards else {}
    sol = herk.solve_dae(model, breakpoints=[1.0], **options)
    assert sol.nreject == 0
    np.testing.assert_allclose(sol.y[0], np.where(sol.t <= 1, sol.t, 3 * sol.t - 2), atol=1e-13)
    times = [1.5, 1.0, 0.5] if backwards else [0.5, 1.0, 1.5]
    served = herk.solve_dae(model, breakpoints=[1.0, 7.0], t_eval=times, **options)
    assert served.t.tolist() == times
    np.testing.assert_allclose(served.y[0], [3 * t - 2 if t > 1 else t for t in times], atol=1e-12)


def test_a_problem_brings_its_breakpoints_switches_and_sizes():
    kinked = testset.get("nand_gate")
    first = kinked.breakpoints[0]
    sol = herk.solve_dae(kinked, (0.0, 1.05 * first), rtol=1e-4)
    assert sol.success
    assert np.abs(sol.t - first).min() < 1e-12 * first
    whole = request(testset.get("slider_crank"), None, None, "dopri5", OPTIONS, {})
    assert np.ptp(whole.atol) > 0  # one absolute tolerance in units of the sizes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"breakpoints": 3.0}, "sequence of times"),
        ({"breakpoints": [np.nan]}, "finite"),
        ({"switches": 1}, "Switches"),
    ],
)
def test_wrong_breakpoints_and_switches_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        herk.solve_dae(BALL, **options)


def test_a_reset_that_returns_nonsense_or_raises_is_named_and_the_points_before_it_are_kept():
    hit = floor(0.5)
    for reset, words in (
        (lambda t, y: [np.nan], "reset of an event must return 2"),
        (lambda t, y: 1 / 0, "ZeroDivisionError"),
    ):
        hit.reset = reset
        sol = herk.solve_dae(BALL, events=hit)
        assert sol.reason is Reason.EXCEPTION
        assert words in sol.message
        assert sol.t[-1] == pytest.approx(np.sqrt(0.2))
    hit.reset = 3
    with pytest.raises(InputError, match="attribute reset"):
        herk.solve_dae(BALL, events=hit)


@pytest.mark.parametrize(
    ("f", "end"),
    [
        ("sign(sin(t))", np.pi - (10.0 - 3 * np.pi)),  # a triangle wave
        ("Abs(cos(t))", 6.0 - np.sin(10.0)),
        ("Heaviside(sin(2*t), 0)", 3 * np.pi / 2 + (10.0 - 3 * np.pi)),
        ("Max(sin(t), 0)", 4.0),  # two waves of area 2
    ],
)
def test_conditions_on_time_of_any_kind_are_breakpoints(f: str, end: float) -> None:
    model = herk.Model("waves", ["x"], [[1]], [f], t_span=(0, 10), y0=[0])
    sol = herk.solve_dae(model, rtol=1e-9, atol=1e-9)
    assert sol.success
    assert len(model.breakpoints) >= 3
    assert sol.y[0, -1] == pytest.approx(end, abs=1e-7)


def test_conditions_on_time_are_looked_for_once_in_a_model_whatever_the_span(monkeypatch) -> None:
    looked = []

    def counted(system):
        looked.append(system)
        return breakpoints.switching_functions(system)

    monkeypatch.setattr("herk.model.in_time.switching_functions", counted)
    model = herk.Model("steps", ["x"], [[1]], ["Heaviside(t - 1) + Heaviside(t - 3)"], t_span=(0, 2), y0=[0])
    for end in (4.0, 5.0, 4.0, 2.0):
        sol = herk.solve_dae(model, (0.0, end), rtol=1e-9)
        assert sol.y[0, -1] == pytest.approx(max(end - 1, 0) + max(end - 3, 0), abs=1e-8)
    assert len(looked) == 1


def test_a_thousand_breakpoints_are_no_reason_to_stop() -> None:
    model = herk.Model("fast", ["x"], [[1]], ["sign(sin(400*t))"], t_span=(0, 10), y0=[0])
    sol = herk.solve_dae(model)
    assert sol.success
    assert len(model.breakpoints) == 1273  # 4000/pi
    assert sol.y[0, -1] == pytest.approx(
        np.pi / 400 - (10.0 - 1273 * np.pi / 400), abs=2e-7
    )  # sign(0) = 0 at the start


@pytest.mark.parametrize(
    ("equations", "start", "name"),
    [
        (["x' = q'", "q = Heaviside(t - 1)"], {"x": 0}, "q"),
        (["x' = z", "x = Heaviside(t - 1)", "y' = z"], {"y": 0}, "x"),
        (["x' = v", "v' = z", "x = Abs(t - 1)", "y' = z"], {"y": 0}, "v"),
    ],
)
def test_an_impulse_that_acts_on_nothing_is_noted_with_its_unknown_and_time(equations, start, name) -> None:
    """The derivative of what jumps at t = 1 is a Dirac impulse, which no step can see."""
    model = herk.Model.from_equations("impulse", equations, start=start, t_span=(0, 2))
    sol = herk.solve_dae(model)
    (note,) = [each for each in sol.notes if "impulse" in each]
    assert note.startswith(f"{name} jumps at t = 1, as the constraints demand.")


def test_algebraic_unknowns_and_resets_may_jump_without_a_note() -> None:
    E, f = [[1, 0], [0, 0]], ["-x + u", "u - Heaviside(t - 1)"]
    assert herk.solve_dae(herk.Model("lag", ["x", "u"], E, f, t_span=(0, 2), y0=[0, 0])).notes == ()
    hit = floor(0.5)
    hit.reset = lambda t, y: [y[0], -y[1]]
    assert herk.solve_dae(BALL, events=hit).notes == ()
