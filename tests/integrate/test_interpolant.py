"""Without projection the output is a polynomial per step.

Of the method's order, off the constraints by its error, free of f and g.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import herk
from herk.integrate.interpolant import nodes, weights
from tests.integrate.systems import PENDULUM, called_back, pendulum_exact, pendulum_g

PLAIN = {"dense_output": True, "project_output": False}


def exact_at(times: np.ndarray) -> np.ndarray:
    return np.array([pendulum_exact(t) for t in times]).T


def residual(times: np.ndarray, states: np.ndarray) -> float:
    return max(np.abs(pendulum_g(t, y)).max() for t, y in zip(times, states.T, strict=True))


@pytest.mark.parametrize("degree", [4, 5, 8, 9])
def test_polynomials_up_to_the_degree_are_reproduced(degree) -> None:
    at, theta = nodes(degree), np.linspace(0.0, 1.0, 57)
    for power in range(degree + 1):
        assert weights(theta, at) @ at**power == pytest.approx(theta**power, abs=1e-14)
    assert np.array_equal(weights(at, at), np.eye(degree + 1))


@pytest.mark.parametrize(
    ("method", "counts"), [("rk4", (20, 40, 80)), ("dopri5", (20, 40, 80)), ("dop853", (6, 8, 10, 12))]
)
def test_errors_between_the_points_and_residuals_fall_with_order_four_at_least(method, counts) -> None:
    begin, end = (0.8, 1.2) if method == "dop853" else (0.1, 0.9)
    errors, residuals = [], []
    for count in counts:
        sol = herk.solve_dae(
            PENDULUM.dae,
            (begin, end),
            pendulum_exact(begin),
            method=method,
            step=(end - begin) / count,
            **PLAIN,
        )
        times = np.concatenate([sol.t[:-1] + share * np.diff(sol.t) for share in (0.13, 0.37, 0.71)])
        errors.append(np.abs(sol(times) - exact_at(times)).max())
        residuals.append(residual(times, sol(times)))
    for values in (errors, residuals):
        assert -np.polyfit(np.log(counts), np.log(values), 1)[0] > 3.8, values
    assert residuals[0] > 1e-11, "this would be a projected output"


@pytest.mark.parametrize("span", [(0.0, 2.0), (2.0, 0.0)])
def test_t_eval_takes_the_same_polynomials_and_accepted_points_stay(span) -> None:
    times = np.linspace(*span, 33)
    start = pendulum_exact(span[0])
    sol = herk.solve_dae(PENDULUM.dae, span, start, rtol=1e-8, t_eval=times, **PLAIN)
    assert sol.y == pytest.approx(sol(times), abs=1e-13)
    assert np.abs(sol.y - exact_at(times)).max() < 1e-5
    every = herk.solve_dae(PENDULUM.dae, span, start, rtol=1e-8, **PLAIN)
    assert np.array_equal(every(every.t), every.y)
    assert every(0.3).shape == (5,)
    assert every([]).shape == (5, 0)
    with pytest.raises(herk.InputError, match="known from"):
        every(2.1)


def test_it_needs_neither_f_nor_g_and_can_be_stored_without_them() -> None:
    calls = []

    def f(t, y):
        calls.append(t)
        return np.array([-y[1], y[0]])

    def g(t, y):
        calls.append(t)
        return np.array([y[0] ** 2 + y[1] ** 2 - 1.0])

    dae = herk.Dae(E=np.eye(2), f=f, g=g, n=2, m=1)
    sol = herk.solve_dae(called_back(dae), (0.0, 1.0), [1.0, 0.0], rtol=1e-8, **PLAIN)
    calls.clear()
    stored = pickle.loads(pickle.dumps(sol.sol))  # local functions cannot be stored
    times = np.linspace(0.0, 1.0, 50)
    assert np.array_equal(stored(times), sol(times))
    assert not calls
    assert stored(times) == pytest.approx(np.array([np.cos(times), np.sin(times)]), abs=1e-6)


def test_a_run_that_never_left_its_start_returns_it() -> None:
    sol = herk.solve_dae(
        PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, callback=lambda t, y: True, max_steps=1, **PLAIN
    )
    assert np.array_equal(sol(sol.t[0]), sol.y[:, 0])
    hopeless = herk.Dae(E=np.eye(1), f=lambda t, y: np.array([np.nan if t > 0 else 0.0]), n=1)
    failed = herk.solve_dae(called_back(hopeless), (0.0, 1.0), [2.0], **PLAIN)
    assert not failed.success
    assert failed(0.0) == pytest.approx([2.0])
