"""Between accepted points the solution is as good as its order, and on the constraints."""

from __future__ import annotations

import copy
import pickle
from math import cos

import numpy as np
import pytest

import herk
import testset
from tests.integrate.systems import PENDULUM, called_back, pendulum_exact, pendulum_g

TIGHT = {"method": "dopri5", "rtol": 1e-9, "atol": 1e-10, "dense_output": True}
# Numbers of steps above rounding: over a swing from 0.1 to 0.9, for high orders around the turning point,
# where one selection does for all steps. The errors are taken between the points.
STEPS = {
    "rk4": (20, 40, 80),
    "rk38": (20, 40, 80),
    "hem4": (20, 40, 80),
    "dopri5": (20, 40, 80),
    "tsit5": (20, 40, 80),
    "dop853": (6, 8, 10, 12),
    "verner98": (3, 4, 5, 6),
}


@pytest.fixture(scope="module")
def solution() -> herk.Solution:
    return herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, **TIGHT)


def exact_at(times: np.ndarray) -> np.ndarray:
    return np.array([pendulum_exact(t) for t in times]).T


def residual(times: np.ndarray, states: np.ndarray) -> float:
    return max(np.abs(pendulum_g(t, y)).max() for t, y in zip(times, states.T, strict=True))


def test_every_method_of_order_four_or_more_has_its_steps_here() -> None:
    assert {name for name, tableau in herk.METHODS.items() if tableau.order >= 4} == set(STEPS)


@pytest.mark.parametrize("method", STEPS)
def test_dense_output_has_at_least_order_four(method) -> None:
    errors = []
    tableau = herk.METHODS[method]
    begin, end = (0.8, 1.2) if tableau.order >= 8 else (0.1, 0.9)
    for count in STEPS[method]:
        step = (end - begin) / count
        sol = herk.solve_dae(
            PENDULUM.dae, (begin, end), pendulum_exact(begin), method=method, step=step, dense_output=True
        )
        times = np.concatenate(
            [sol.t[:-1] + share * np.diff(sol.t) for share in (0.13, 0.37, 0.5, 0.71, 0.94)]
        )
        states = sol(times)
        assert residual(times, states) < 1e-12
        errors.append(np.abs(states - exact_at(times)).max())
    assert errors[-1] > 1e-13, f"errors at rounding level show no order: {errors}"
    order = -np.polyfit(np.log(STEPS[method]), np.log(errors), 1)[0]
    assert order > 3.8, f"order {order:.2f} from errors {errors}"
    if tableau.order >= 8:
        assert order > tableau.dense_order - 0.3, f"order {order:.2f} from errors {errors}"


@pytest.mark.parametrize("method", ["bs32", "dopri5", "dop853", "verner98"])
def test_between_the_points_of_an_adaptive_run_the_error_is_of_the_size_at_the_points(method) -> None:
    sol = herk.solve_dae(
        PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, method=method, rtol=1e-7, atol=1e-9, dense_output=True
    )
    times = np.linspace(0.0, 2.0, 777)
    at_points, between = np.abs(sol.y - exact_at(sol.t)).max(), np.abs(sol(times) - exact_at(times)).max()
    assert between < 5 * at_points + 1e-7
    assert residual(times, sol(times)) < 1e-12


def test_at_accepted_points_the_accepted_values_are_returned(solution) -> None:
    assert np.array_equal(solution(solution.t), solution.y)
    assert np.array_equal(solution(solution.t[::-1]), solution.y[:, ::-1])


def test_a_time_gives_a_vector_and_times_give_a_matrix(solution) -> None:
    assert solution(0.3).shape == (5,)
    assert solution(np.float64(0.3)).shape == (5,)
    assert solution(np.array(0.3)).shape == (5,)
    assert solution([0.3]).shape == (5, 1)
    assert solution([]).shape == (5, 0)
    times = [1.7, 0.3, 0.3, 2.0, 0.0]  # in any order
    assert np.array_equal(solution(times), np.array([solution(t) for t in times]).T)


@pytest.mark.parametrize("time", [-1e-9, 2.0 + 1e-9, np.nan, np.inf, [0.5, 3.0], [[0.1, 0.2], [0.3, 0.4]]])
def test_times_outside_the_span_are_refused(solution, time) -> None:
    with pytest.raises(herk.InputError, match=r"from 0\.0 to 2\.0"):
        solution(time)


def test_a_solution_without_dense_output_says_how_to_get_it() -> None:
    with pytest.raises(herk.InputError, match="dense_output=True"):
        herk.solve_dae(PENDULUM.dae, (0.0, 0.1), PENDULUM.y0)(0.05)


@pytest.mark.parametrize("python", [False, True])
def test_a_backward_run_can_be_called_too(python) -> None:
    sol = herk.solve_dae(called_back(PENDULUM.dae, python), (0.9, 0.1), pendulum_exact(0.9), **TIGHT)
    times = np.linspace(0.1, 0.9, 101)
    assert np.abs(sol(times) - exact_at(times)).max() < 1e-7
    assert residual(times, sol(times)) < 1e-12
    assert np.array_equal(sol(sol.t), sol.y)
    with pytest.raises(herk.InputError, match=r"from 0\.1 to 0\.9"):
        sol(1.0)


@pytest.mark.parametrize(
    "method", ["dopri5", "rk4"]
)  # with a formula for dense output, and with shorter steps
@pytest.mark.parametrize("span", [(0.0, 2.0), (2.0, 0.0)])
def test_t_eval_gives_the_values_of_dense_output(span, method) -> None:
    times = np.linspace(*span, 33)
    options = {"method": method, "step": 0.003 if method == "rk4" else None}
    sol = herk.solve_dae(
        PENDULUM.dae, span, pendulum_exact(span[0]), t_eval=times, dense_output=True, **options
    )
    assert np.array_equal(sol.t, times)
    assert np.abs(sol.y - sol(times)).max() < 1e-13
    alone = herk.solve_dae(PENDULUM.dae, span, pendulum_exact(span[0]), t_eval=times, **options)
    assert np.array_equal(alone.y, sol.y)


@pytest.mark.parametrize("times", [[0.0], [1.0], [2.0], [0.0, 2.0], [0.0, 0.7], [0.7, 2.0]])
def test_t_eval_may_hold_one_time_or_the_ends(times) -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, t_eval=times, rtol=1e-9, atol=1e-10)
    assert sol.success
    assert sol.t.tolist() == times
    assert np.abs(sol.y - exact_at(sol.t)).max() < 1e-6


def test_t_eval_does_not_change_the_steps(solution) -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, t_eval=np.linspace(0.0, 2.0, 1000), **TIGHT)
    assert sol.nstep == solution.nstep
    assert np.array_equal(sol(0.77), solution(0.77))


def harmonic_f(t, y):
    return np.array([cos(t)])


def test_a_time_so_near_the_end_of_a_step_that_it_rounds_to_it_has_a_value() -> None:
    dae = herk.Dae(E=np.eye(1), f=harmonic_f, n=1)
    sol = herk.solve_dae(
        dae, (-0.125, 1e-20), [np.sin(-0.125)], step=1.0, dense_output=True
    )  # one step; (0 - t0) / h = 1 in rounding
    assert sol.nstep == 1
    assert sol(0.0)[0] == pytest.approx(0.0, abs=1e-9)
    assert sol(-1e-300)[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("source", ["callables", "model"])
def test_a_solution_survives_pickling_and_copying(source) -> None:
    dae = PENDULUM.dae if source == "callables" else testset.get("pendulum").dae
    sol = herk.solve_dae(
        dae, (0.0, 2.0), PENDULUM.y0, events=[lambda t, y: y[0]], callback=lambda t, y: None, **TIGHT
    )
    times = np.linspace(0.0, 2.0, 50)
    for twin in (pickle.loads(pickle.dumps(sol)), copy.deepcopy(sol), copy.copy(sol)):
        assert np.array_equal(twin.t, sol.t)
        assert np.array_equal(twin.y, sol.y)
        assert twin.reason is sol.reason
        assert np.array_equal(twin.t_events[0], sol.t_events[0])
        assert np.abs(twin(times) - sol(times)).max() < 1e-14
        assert twin.selections == sol.selections
        assert len(twin.selections) > 1  # the copy needs more than the first selection


def test_dense_output_is_the_same_in_python_that_is_called_back(solution) -> None:
    other = herk.solve_dae(called_back(PENDULUM.dae), (0.0, 2.0), PENDULUM.y0, **TIGHT)
    times = np.linspace(0.0, 2.0, 99)
    assert np.abs(other(times) - solution(times)).max() < 1e-12
