"""Sensitivities where conditions on the state make the equations jump: against closed solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import herk
from herk.core.dae import Array

METHODS = pytest.mark.parametrize("method", ["dopri5", "radau5", "radau13", "auto"])
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
TIMES = np.array([0.5, 2.0, 4.0, 7.0, 10.0])
STEP = 1e-30  # of derivatives of closed solutions along the imaginary axis


def close(sol: Any, name: str, exact: Any, **values: float) -> None:
    """Demand dy/dname as the closed solution has it, a function of complex parameters and a time."""
    moved = {key: value + 1j * STEP * (key == name.replace("y0:", "")) for key, value in values.items()}
    expected = np.array([exact(t, **moved).imag / STEP for t in sol.t]).T
    found = sol.dyd(name)[: len(expected)]
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max(), name


def friction(t: float, mu: complex, w: complex, x: complex) -> Array:
    """Return x'' = -w^2 x - mu sign(x') from rest at x: half cosines, each shorter by 2 mu / w^2."""
    half, shift = int(t * np.real(w) / np.pi), mu / w**2
    size = x - (2 * half + 1) * shift
    return np.array([size * np.cos(w * t) + (-1) ** half * shift, -w * size * np.sin(w * t)])


@METHODS
def test_dry_friction_is_differentiated_through_every_turn(method: str) -> None:
    """The force is an unknown of its own, which jumps where the block turns round."""
    model = herk.Model(
        "block", ["x", "v", "F"], np.diag([1, 1, 0]), ["v", "F", "F + w**2*x + mu*sign(v)"],
        parameters={"mu": 0.4, "w": 2.0}, t_span=(0, 10), y0=[5.0, 0.0, None],
    )  # fmt: skip
    sol = herk.solve_dae(model, sensitivities=["mu", "w", "y0:x"], t_eval=TIMES, method=method, **TIGHT)
    assert sol.success
    for name in ("mu", "w", "y0:x"):
        close(sol, name, friction, mu=0.4, w=2.0, x=5.0)


def relay(t: float, k: complex, x: complex) -> Array:
    """Return x'' = -k sign(x) from rest at x: parabolas between the zeros of x, 2 sqrt(2 x / k) apart."""
    quarter = (2 * x / k) ** 0.5
    half = int((t + np.real(quarter)) // (2 * np.real(quarter)))
    s = t - 2 * half * quarter
    return (-1) ** half * np.array([x - k * s**2 / 2, -k * s])


@METHODS
@pytest.mark.parametrize("times", [TIMES, None])
def test_a_relay_is_differentiated_through_every_change(method: str, times: Array | None) -> None:
    model = herk.Model(
        "relay", ["x", "v"], np.eye(2), ["v", "-k*sign(x)"], parameters={"k": 1.0}, t_span=(0, 10), y0=[1, 0]
    )
    sol = herk.solve_dae(model, sensitivities=["k", "y0:x"], t_eval=times, method=method, **TIGHT)
    assert sol.dyd("k").shape == sol.y.shape
    if times is not None:
        close(sol, "k", relay, k=1.0, x=1.0)
        close(sol, "y0:x", relay, k=1.0, x=1.0)


@METHODS
def test_the_place_of_a_condition_may_be_a_parameter(method: str) -> None:
    """x' = u, u = 1 while x < a, then b: x = a + b (t - a) behind it."""
    f = ["u", "u - Piecewise((1, x < a), (b, True))"]
    model = herk.Model(
        "threshold",
        ["x", "u"],
        np.diag([1, 0]),
        f,
        parameters={"a": 0.4, "b": 3.0},
        t_span=(0, 1),
        y0=[0, None],
    )
    sol = herk.solve_dae(model, sensitivities=["a", "b", "y0:x"], t_eval=[0.2, 0.9], method=method)
    assert np.allclose(sol.dyd("a", "x"), [0.0, -2.0], atol=1e-10)
    assert np.allclose(sol.dyd("b", "x"), [0.0, 0.5], atol=1e-10)
    assert np.allclose(sol.dyd("y0:x", "x"), [1.0, 3.0], atol=1e-10)
    assert np.allclose(sol.dyd("b", "u"), [0.0, 1.0], atol=1e-10)


@METHODS
def test_a_ball_that_bounces_often_is_differentiated_through_every_bounce(method: str) -> None:
    """From x at rest it hits the ground first at sqrt(2 x / g), then after 2 e^k sqrt(2 x / g) each."""

    def exact(t: float, g: complex, x: complex) -> Array:
        first = (2 * x / g) ** 0.5
        since, speed = t - first, 0.8 * g * first
        while np.real(since) > np.real(2 * speed / g):
            since, speed = since - 2 * speed / g, 0.8 * speed
        return np.array([speed * since - g * since**2 / 2, speed - g * since])

    def ground(t: float, y: Array) -> float:
        return y[0]

    ground.direction, ground.reset = -1, lambda t, y: [0.0, -0.8 * y[1], y[2]]  # type: ignore[attr-defined]
    model = herk.Model(
        "ball", ["x", "v", "a"], np.diag([1, 1, 0]), ["v", "-a", "a - g"], parameters={"g": 9.81},
        t_span=(0, 2), y0=[1.0, 0.0, None],
    )  # fmt: skip
    times = [0.7, 1.3, 2.0]
    sol = herk.solve_dae(
        model, events=ground, sensitivities=["g", "y0:x"], t_eval=times, method=method, **TIGHT
    )
    assert len(sol.t_events[0]) > 2
    close(sol, "g", exact, g=9.81, x=1.0)
    close(sol, "y0:x", exact, g=9.81, x=1.0)


def test_jumps_that_are_not_looked_for_are_refused() -> None:
    model = herk.Model(
        "relay", ["x"], [[1]], ["2 - sign(x - k)"], parameters={"k": 1.0}, t_span=(0, 1), y0=[0]
    )
    with pytest.raises(herk.InputError, match="leave out switches=False"):
        herk.solve_dae(model, sensitivities=["k"], switches=False)


def test_conditions_too_many_to_be_examined_are_said_to_be_taken_for_smooth() -> None:
    """x' = -a and max(x - k, 0) for many k: the derivative by a is -t all the same."""
    kinks = " + ".join(f"1e-3*Max(x - {k}, 0)" for k in range(2, 27))
    model = herk.Model(
        "steps", ["x"], [[1]], [f"-a - ({kinks})"], parameters={"a": 1.0}, t_span=(0, 1), y0=[1.0]
    )
    sol = herk.solve_dae(model, sensitivities=["a"])
    assert sol.dyd("a")[0, -1] == pytest.approx(-1.0, abs=1e-9)
    assert any("25 conditions on the state" in note for note in sol.notes)
