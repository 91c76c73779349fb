"""Switches passed several times in a step, there and back, or right at an end of the span: none is missed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import herk
from herk.core import Dae, Switches
from tests.integrate.systems import called_back


def time_above(function, end: float) -> float:
    """Return for how long a function of time is positive, from its zeros."""
    times = np.linspace(0.0, end, 200_001)
    signs = np.array([function(t) > 0.0 for t in times])
    ends = [
        0.0,
        *(brentq(function, *times[k : k + 2], xtol=1e-15) for k in np.flatnonzero(np.diff(signs))),
        end,
    ]
    return float(sum(np.diff(ends)[0 if signs[0] else 1 :: 2]))


def counting(condition: str, speed: float = 1.0, start: float = 0.0, end: float = 10.0) -> herk.Model:
    """Return x' = speed, y' = 1 where the condition is positive."""
    return herk.Model(
        "counting",
        ["x", "y"],
        np.eye(2),
        [repr(speed), f"Heaviside({condition})"],
        t_span=(0, end),
        y0=[start, 0],
    )


@pytest.mark.parametrize(
    "options", [{}, {"rtol": 1e-8}, {"rtol": 1e-3, "method": "bs32"}, {"method": "radau5"}]
)
@pytest.mark.parametrize(
    ("condition", "speed", "function"),
    [
        ("sin(50*t) - x", 0.1, lambda t: np.sin(50 * t) - 0.1 * t),
        ("sin(2*pi*x) - 0.9", 1.0, lambda t: np.sin(2 * np.pi * t) - 0.9),
        ("sin(9*x) + sin(31*t) - 1.9", 1.0, lambda t: np.sin(9 * t) + np.sin(31 * t) - 1.9),
        ("(x - 1)*(x - 1.3)*(x - 4)", 1.0, lambda t: (t - 1) * (t - 1.3) * (t - 4)),
    ],
)
def test_a_switch_that_oscillates_within_a_step_is_met_at_every_crossing(
    condition, speed, function, options
) -> None:
    sol = herk.solve_dae(counting(condition, speed, end=5.0), **options)
    assert sol.success, sol.message
    assert sol["y"][-1] == pytest.approx(time_above(function, 5.0), abs=1e-8)


@pytest.mark.parametrize("options", [{}, {"rtol": 1e-8}, {"rtol": 1e-3}, {"method": "radau5"}])
@pytest.mark.parametrize(("condition", "end"), [("0.01 - Mod(x, 1)", 0.1), ("Mod(6.11*x, 1) - 0.613", None)])
def test_jumps_of_a_switching_function_are_passed_like_zeros(condition, end, options) -> None:
    """The second one was said to slide: its zero was taken to be on the side that it leaves."""
    start = 0.5 if end else 0.0
    turns, share = divmod(6.11 * 10.0, 1.0)
    right = end or (turns * (1 - 0.613) + max(share - 0.613, 0.0)) / 6.11
    sol = herk.solve_dae(counting(condition, start=start), **options)
    assert sol.success, sol.message
    assert sol["y"][-1] == pytest.approx(right, abs=1e-8)


def test_a_switch_of_callables_is_met_where_it_is_passed_back() -> None:
    """Modes of a problem are functions: sampled like those of a model where they are near zero."""
    dae = called_back(Dae(E=np.eye(2), f=lambda t, y: np.array([y[1], 0.0]), n=2), True)
    bump = Switches(dae, (lambda t, y: 0.02 - (t - 2.0) ** 2,))
    sol = herk.solve_dae(bump, (0.0, 5.0), [0.0])
    assert sol.y[0, -1] == pytest.approx(2 * np.sqrt(0.02), abs=1e-9)


def pulsed(end: float) -> float:
    """Return x(end) of x' = -x + (0.6 - x/2 > the share of a period of 0.05 that is over)."""
    x, t, period = 0.0, 0.0, 0.05
    while t < end - 1e-9:
        whole = min(period, end - t)
        on = brentq(lambda s, x=x: 0.6 - 0.5 * (1 - (1 - x) * np.exp(-s)) - s / period, 0, period)
        on = min(on, whole)
        x = (1 - (1 - x) * np.exp(-on)) * np.exp(-(whole - on))
        t += whole
    return x


@pytest.mark.parametrize("method", ["auto", "radau5"])
@pytest.mark.parametrize("end", [1.0, 1.5, 1.999999, 2.0, 2.02])
def test_pulses_over_whole_periods_are_switched_off_in_the_last_one_too(end: float, method: str) -> None:
    f = ["-x + Heaviside(0.6 - 0.5*x - Mod(t, 0.05)/0.05)"]
    model = herk.Model("pulses", ["x"], [[1]], f, t_span=(0, end), y0=[0])
    sol = herk.solve_dae(model, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success, sol.message
    assert sol.y[0, -1] == pytest.approx(pulsed(end), abs=1e-7)


@pytest.mark.parametrize(
    ("speed", "start", "end", "right"),
    [(0.25, 0.2, 3.0, 1.8), (0.0, 0.5, 1.0, 0.5), (0.1, 0.5, 1.0, 5 / 9), (0.25, 0.2, 1.0, 0.8 / 3)],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_function_that_jumps_at_the_end_of_the_span_is_there_what_it_was_before(
    speed, start, end, right, backwards
) -> None:
    model = counting("x - Mod(t, 1)", speed, start, end)
    at_end = [start + speed * end, right]
    span, y0 = ((end, 0.0), at_end) if backwards else ((0.0, end), [start, 0.0])
    sol = herk.solve_dae(model, span, y0)
    assert sol.success, sol.message
    assert sol.t[-1] == span[1]
    assert sol.y[:, -1] == pytest.approx([start, 0.0] if backwards else at_end, abs=1e-9)
