"""Runge-Kutta and general linear methods for second order on prescribed grids.

Orders, twins, changes of the step, starts.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import testset
from baselines.second_order import stages
from baselines.second_order.layout import ready
from baselines.second_order.march import Steps, march
from baselines.second_order.tables import METHODS

TRACK = testset.get("circular_track", t_end=1.5)


def form_of(method: str) -> str:
    return "second_order" if METHODS[method].q == 2 else "index3"


def errors(method: str, grid: np.ndarray, **more) -> np.ndarray:
    """Return the largest errors of positions, velocities and lambda."""
    run = march(ready(TRACK, form_of(method)), METHODS[method], grid, **more)
    assert not run.wrong
    off = np.abs(run.z - np.array([TRACK.reference.exact(t) for t in run.t])).max(axis=0)
    return np.array([off[:2].max(), off[2:4].max(), off[4]])


def changing(n: int) -> np.ndarray:
    steps = np.where(np.arange(n) % 4 < 2, 1.0, 0.4)
    return 1.0 + 0.5 * np.concatenate([[0.0], np.cumsum(steps) / steps.sum()])


# Radau IIA with s stages on index 3: 2s - 1, s, s - 1; collocation with stage order 3, and (65) with stage
# order 2, lose one in lambda.
@pytest.mark.parametrize(
    ("method", "claimed"),
    [
        ("radau", (3, 2, 1)),
        ("radau_first", (3, 2, 1)),
        ("glm", (3, 3, 2)),
        ("glm_first", (2, 2, 1)),
        ("gauss", (2, 0, -2)),
    ],
)
def test_orders_on_index_3_are_those_of_theory_and_gauss_diverges(method, claimed):
    coarse, fine = (errors(method, np.linspace(1.0, 1.5, n + 1)) for n in (100, 200))
    np.testing.assert_allclose(np.log2(coarse / fine), claimed, atol=0.1)


def test_radau_for_second_order_is_radau_for_first_order():
    grid = changing(60)
    second, first = (
        march(ready(TRACK, form_of(name)), METHODS[name], grid).z for name in ("radau", "radau_first")
    )
    np.testing.assert_allclose(second[:, :2], first[:, :2], rtol=0, atol=1e-13)
    np.testing.assert_allclose(second[:, 4], first[:, 4], rtol=0, atol=1e-7)


def test_with_changing_steps_the_first_order_method_keeps_its_order_by_rescaling_with_d_to_the_p_and_not_as_printed():
    coarse, fine = (errors("glm_first", changing(n))[0] for n in (100, 200))
    assert math.log2(coarse / fine) == pytest.approx(2, abs=0.1)
    printed = errors("glm_first", changing(200), powers=np.array([0, 1, 3]))[0]
    assert printed > 10 * fine


def test_all_methods_solve_the_circuit_with_their_order():
    problem = testset.get("rlc")
    made = ready(problem, "second_order")
    for name, order in (("gauss", 4), ("radau", 3), ("glm", 3)):
        largest = []
        for n in (80, 160):
            run = march(made, METHODS[name], np.linspace(0.0, 7.0, n + 1))
            largest.append(np.abs(run.z - np.array([problem.reference.exact(t) for t in run.t])).max())
        assert math.log2(largest[0] / largest[1]) == pytest.approx(order, abs=0.1)


def test_second_derivatives_of_the_start_are_exact_to_nine_digits():
    s, c = math.sin(1.0), math.cos(1.0)
    found = ready(TRACK, "second_order").curvature
    velocity = [-12 * s - 8 * c, -12 * c + 8 * s]  # third derivatives of sin t^2 and cos t^2 at t = 1
    np.testing.assert_allclose(found, [2 * c - 4 * s, -2 * s - 4 * c, *velocity, -8.0], rtol=1e-9)


def test_quantities_passed_on_are_split_as_unknowns_and_derivatives():
    made = ready(TRACK, "second_order")
    z, zp = made.start
    np.testing.assert_array_equal(made.initial[0], z[[0, 1, 4]])
    np.testing.assert_allclose(made.initial[1, :2], z[2:4], rtol=1e-12)
    np.testing.assert_allclose(made.initial[2, :2], zp[2:4], rtol=1e-9)


def test_newton_that_does_not_converge_ends_the_run_with_a_reason_and_the_points_before():
    made = ready(TRACK, "second_order")
    run = march(made, METHODS["radau"], np.array([1.0, 1.01, 1.02, 400.0]))
    assert run.wrong in (stages.DIVERGED, stages.SINGULAR)
    assert len(run.t) == len(run.z) == 3


def test_two_parts_of_a_grid_give_the_same_points_as_the_whole():
    made, grid = ready(TRACK, "second_order"), changing(20)
    whole = march(made, METHODS["glm"], grid).z[1:]
    steps = Steps(made, METHODS["glm"], grid[1] - grid[0])
    first = steps.along(grid[:8])
    other = steps.copy()
    np.testing.assert_array_equal(np.vstack([first, steps.along(grid[7:])]), whole)
    np.testing.assert_array_equal(np.vstack([first, other.along(grid[7:])]), whole)  # on its own from there
