"""Windows of time, however short, however often and however written, are passed at their ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

import herk

WINDOWS = {  # a right-hand side that is not zero within a short time only, and its integral
    "linear": ("1e4*Heaviside(t - 5.0002)*Heaviside(5.0004 - t)", 2.0),
    "square": ("Piecewise((1e4, (t - 5.0003)**2 < 1e-8), (0, True))", 2.0),
    "product": ("1e4*Heaviside((t - 5.0002)*(5.0004 - t))", 2.0),
    "parabola": ("1e4*Max(0, 1 - ((t - 5.0003)/1e-4)**2)", 4 / 3),
    "sine": ("Piecewise((1e3, sin(t) > 1 - 1e-8), (0, True))", 4e3 * math.acos(1 - 1e-8)),
    "bell": ("Piecewise((1e3, exp(-((t - 5)/1e-3)**2) > 0.5), (0, True))", 2 * math.sqrt(math.log(2))),
    "fourth power": ("Piecewise((1e3, ((t - 5)/1e-3)**4 < 1), (0, True))", 2.0),
    "distance": ("Piecewise((1e3, Abs(t - 5.0001) < 1e-3), (0, True))", 2.0),
    "rounded step": ("Piecewise((1e3, Abs(tanh((t - 5)/1e-3)) < tanh(1)), (0, True))", 2.0),
}


def fed(pulse: str, end: float = 10.0) -> herk.Model:
    return herk.Model("fed", ["x"], [[1]], [pulse], t_span=(0, end), y0=[0])


@pytest.mark.parametrize("method", ["auto", "radau5"])
@pytest.mark.parametrize("kind", WINDOWS)
def test_short_windows_are_met(kind: str, method: str) -> None:
    formula, integral = WINDOWS[kind]
    sol = herk.solve_dae(fed(formula), method=method)
    assert sol.success
    assert sol.y[0, -1] == pytest.approx(integral, rel=1e-4)


@pytest.mark.parametrize(
    ("wave", "mean", "end"),
    [
        ("Heaviside(sin(2*pi*t) - 0.9)", math.acos(0.9) / math.pi, 2200.0),
        ("Piecewise((1, Mod(t, 0.5) < 0.002), (0, True))", 0.004, 1000.0),
    ],
)
def test_thousands_of_windows_are_met(wave: str, mean: float, end: float) -> None:
    assert len(fed(wave, end).breakpoints) >= 4000
    sol = herk.solve_dae(fed(wave, end), (end - 100.5, end - 0.5))  # all are known; a part of them is passed
    assert sol.y[0, -1] == pytest.approx(100 * mean, rel=1e-6)


def test_windows_that_come_too_often_are_refused_with_what_to_do() -> None:
    with pytest.raises(
        herk.InputError, match=r"changes its sign about 2e\+09 times .* max_step=2e-09 or less"
    ):
        herk.solve_dae(fed("Piecewise((1, Mod(t, 1e-8) < 2e-9), (0, True))"))


def test_short_enough_steps_leave_windows_that_come_too_often_to_the_control_of_errors() -> None:
    wave, end = "Piecewise((1, Mod(t, 1e-6) < 2e-7), (0, True))", 0.15
    with pytest.raises(herk.InputError):
        fed(wave, end).breakpoints  # noqa: B018
    sol = herk.solve_dae(fed(wave, end), max_step=2e-7, rtol=1e-10, atol=1e-10)
    assert sol.y[0, -1] == pytest.approx(0.2 * end, rel=1e-3)


def test_kinks_at_a_high_frequency_are_left_to_the_control_of_errors() -> None:
    """The integral of |sin|; every step meets many of its kinks."""
    model = fed("Abs(sin(2e5*t))*Heaviside(t - 0.5)", 2.0)
    assert model.breakpoints == (0.5,)


def test_breakpoints_that_a_call_names_come_on_top_of_those_the_model_shows() -> None:
    model, right = fed("1e4*Heaviside(t - 5.0002)*Heaviside(5.0004 - t)"), 2.0
    assert herk.solve_dae(model, breakpoints=[3.0]).y[0, -1] == pytest.approx(right, rel=1e-9)
    prepared = herk.prepare(model, breakpoints=[3.0])
    assert prepared.solve().y[0, -1] == pytest.approx(right, rel=1e-9)
    assert prepared.solve((0.0, 9.0)).y[0, -1] == pytest.approx(right, rel=1e-9)
    many = herk.solve_many(model, y0=[[0.0], [1.0]], breakpoints=[3.0], t_eval=[10.0])
    assert np.allclose(many["x"][:, 0], [right, right + 1.0], rtol=1e-9)


def test_breakpoints_of_a_problem_come_on_top_of_those_its_model_shows() -> None:
    model = fed("1e3*exp(-((t - 5)/1e-3)**2)")
    problem = herk.Problem("pulse", "A pulse", (0.0, 10.0), np.zeros(1), "own", model, breakpoints=(3.0,))
    for more in ({}, {"breakpoints": [4.0]}):
        sol = herk.solve_dae(problem, **more)
        assert sol.y[0, -1] == pytest.approx(math.sqrt(math.pi), rel=1e-4)
        assert np.abs(sol.t - 3.0).min() < 1e-12


def test_breakpoints_that_a_prepared_run_was_told_stay_when_parameters_change() -> None:
    model = herk.Model("m", ["x"], [[1]], ["1/w*Heaviside(t - 5)*Heaviside(5 + w - t)"], parameters={"w": 1e-3},
                       t_span=(0, 10), y0=[0])  # fmt: skip
    prepared = herk.prepare(model, breakpoints=[3.0])
    for w in (1e-3, 1e-5):
        sol = prepared.solve(parameters={"w": w})
        assert sol.y[0, -1] == pytest.approx(1.0, rel=1e-7)
        assert np.abs(sol.t - 3.0).min() < 1e-12
