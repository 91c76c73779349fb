"""Sensitivities against complex steps through another integrator: index 1 to 5, both steppers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import herk
import testset
from herk.core.dae import Array
from tests.integrate.sensitivity.complex_step import Bounce, Judge

# Problem -> end of the span, start (None: follows from the rest, whatever is varied), what is varied.
o = None
CRANK = [
    *testset.get("slider_crank").y0.tolist()[:7],
    o,
    o,
    o,
    *testset.get("slider_crank").y0.tolist()[10:14],
]
CASES: dict[str, tuple[float, list[Any], tuple[str, ...]]] = {
    "pendulum": (2.0, [o, -0.8, 0, o, o], ("l", "g", "m", "y0:y", "y0:v")),
    "wind_pendulum": (5.0, [o, -1.6, 0, o, o], ("m", "g", "l0", "wind", "y0:y")),
    "spring_chain": (10.0, [0, o, o, -2, o, o, o], ("m", "c", "y0:p1")),
    "cv_circuit": (0.1, [o, 0, o, o, o], ("omega", "y0:q2")),
    "akzo": (180.0, [0.444, 0.00123, 0, 0.007, 0, o], ("k1", "klA", "Ks")),
    "car_axis": (1.0, [0, 0.5, 1, 0.5, o, 0, o, 0, o, o], ("L0", "K")),
    "slider_crank": (1e-3, [*CRANK, *[o] * 10], ("y0:q1", "y0:v4")),
}
TURNING = 3.0, [0, o, 6, o, o], ("g", "l", "y0:v")  # goes round, and changes its selection
SWINGING = 1.5, [o, -0.8, 0, o, o], ("l", "g", "y0:y", "y0:v")  # into a wall, from which it comes back
AGREED = 1e-8  # beside the largest component


def model_of(problem: str, case: tuple[float, list[Any], tuple[str, ...]]) -> Any:
    """Return the model over the span and from the start of a case."""
    return testset.get(problem).model.with_span(case[0]).with_start(case[1])


def tolerances(problem: str) -> dict[str, Any]:
    """Return tight ones, in the units of the unknowns; rounding is larger in the slider crank."""
    found = testset.get(problem)
    return {"rtol": 1e-10 if found.sizes else 1e-11, "atol": found.atol(1e-13) if found.sizes else 1e-13}


@cache
def judged(problem: str, bounces: bool = False, turning: bool = False) -> dict[str, Array]:
    """Return the sensitivities at the end of the span; which of several starts is meant is herk's choice."""
    case = TURNING if turning else SWINGING if bounces else CASES[problem]
    model = model_of(problem, case)
    unknown = [i for i, value in enumerate(case[1]) if value is None]
    near = herk.solve_dae(model, t_eval=[0.0]).y[:, 0]
    judge, wall = Judge(model), Bounce(0, 0.3, rebound, [4]) if bounces else None
    return {name: judge.derivative(name, near, unknown, wall) for name in case[2]}


def rebound(t: Any, y: Any) -> Any:
    """Return the pendulum thrown back with 0.7 of its speed."""
    return np.array([y[0], y[1], -0.7 * y[2], -0.7 * y[3], y[4]])


def agree(sol: Any, expected: dict[str, Array]) -> None:
    """Demand the sensitivities expected at the end of a solution."""
    assert sol.success
    for name, exact in expected.items():
        assert np.abs(sol.dyd(name)[:, -1] - exact).max() < AGREED * np.abs(exact).max(), name


BOTH = pytest.mark.parametrize("method", ["dopri5", "radau5"])


@BOTH
@pytest.mark.parametrize("problem", CASES)
def test_sensitivities_agree_with_complex_steps(problem: str, method: str) -> None:
    model, names = model_of(problem, CASES[problem]), CASES[problem][2]
    how = {"method": method, "t_eval": [model.t_span[1]], **tolerances(problem)}
    agree(herk.solve_dae(model, sensitivities=names, **how), judged(problem))


@pytest.mark.parametrize("method", ["radau9", "radau13", "radau"])
@pytest.mark.parametrize("problem", ["wind_pendulum", "cv_circuit", "akzo"])
def test_higher_orders_and_their_control_are_differentiated_too(problem: str, method: str) -> None:
    sol = herk.solve_dae(
        model_of(problem, CASES[problem]),
        sensitivities=CASES[problem][2],
        method=method,
        **tolerances(problem),
    )
    agree(sol, judged(problem))


@BOTH
def test_they_pass_changes_of_the_selection(method: str) -> None:
    how = {"method": method, **tolerances("pendulum")}
    sol = herk.solve_dae(model_of("pendulum", TURNING), sensitivities=TURNING[2], **how)
    assert method == "radau5" or len(sol.selections) > 2
    agree(sol, judged("pendulum", turning=True))


@BOTH
def test_they_jump_where_an_event_throws_the_state_back(method: str) -> None:
    def wall(t: float, y: Array) -> float:
        return y[0] - 0.3

    wall.direction, wall.reset = -1, rebound  # type: ignore[attr-defined]
    how = {"method": method, "events": wall, **tolerances("pendulum")}
    sol = herk.solve_dae(model_of("pendulum", SWINGING), sensitivities=SWINGING[2], **how)
    assert len(sol.t_events[0]) > 1
    agree(sol, judged("pendulum", bounces=True))


def test_the_judge_finds_the_exact_derivatives_of_the_circuit() -> None:
    """By the closed solution, differentiated by hand: 2 e2' = e1' - e2 with e1 = sin(omega t)."""
    t, w = 0.1, 100.0
    a, by_w = w / (4 * w**2 + 1), (1 - 4 * w**2) / (4 * w**2 + 1) ** 2
    s, c = np.sin(w * t), np.cos(w * t)
    e2 = by_w * (c + 2 * w * s - np.exp(-t / 2)) + a * (-t * s + 2 * s + 2 * w * t * c)
    assert judged("cv_circuit")["omega"][3] == pytest.approx(e2, rel=1e-12)


@pytest.mark.parametrize("falsified", ["g", "y0:v"])
def test_a_sensitivity_that_is_wrong_in_the_eighth_digit_is_seen(falsified: str) -> None:
    model = model_of("pendulum", CASES["pendulum"])
    sol = herk.solve_dae(model, sensitivities=CASES["pendulum"][2], **tolerances("pendulum"))
    sol.dyd(falsified)[:, -1] *= 1.0 + 3e-8
    with pytest.raises(AssertionError, match=falsified):
        agree(sol, judged("pendulum"))
