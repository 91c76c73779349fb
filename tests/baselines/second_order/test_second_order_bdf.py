"""BDF for first and second order on prescribed grids.

Weights against exact arithmetic, exactness for polynomials, jumps as theory says.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import testset
from baselines.second_order import multistep
from baselines.second_order.layout import ready
from baselines.second_order.march import bdf
from baselines.second_order.weights import after_exact_start, conditions, determinant, rate
from herk.core import Problem
from herk.jit.native import assembled
from herk.model.model import Model

TIMES = [
    Fraction(n, 64) for n in (100, 91, 87, 71, 60, 41, 39, 30, 22, 17, 9, 4, 1)
]  # newest first, no two steps alike
FLOATS = np.array([float(t) for t in TIMES])


def cubic(power: int):
    """Return y'' = (t^power)'' - lambda, 0 = y - t^power from t = 1 on.

    Lambda = 0 is what a derivative that is exact must give.
    """
    model = Model(
        f"power_{power}",
        ["y", "v", "lam"],
        [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
        ["v", f"{power * (power - 1)}*t**{power - 2} - lam", f"y - t**{power}"],
        t_span=(1.0, 3.0),
        y0=(1.0, float(power), 0.0),
    )
    return ready(Problem(model.name, "", model.t_span, np.array(model.y0), "", model=model), "second_order")


def modified_weights(t, weights, orders, k, beta) -> bool:
    """Write the weights of (13), by machine code."""
    native, work = assembled({"weights": multistep.modified_weights})["weights"], np.zeros((k + 1) * (k + 2))
    return native(t, weights.reshape(-1), weights.shape[1], orders, k, beta, work)


@pytest.mark.parametrize("k", range(1, 7))
def test_compiled_weights_of_12_are_those_of_exact_arithmetic(k):
    weights = np.zeros(k + 1)
    multistep.derivative_weights(FLOATS, 0, k, weights)
    shifted = [t - TIMES[0] for t in TIMES]
    for degree in range(1, k + 2):
        ours = weights @ np.array([float(t) for t in shifted[: k + 1]]) ** degree
        assert ours == pytest.approx(float(rate(shifted, k, degree)), rel=1e-10, abs=1e-12)
    assert weights.sum() == pytest.approx(0, abs=1e-10 * np.abs(weights).max())


@pytest.mark.parametrize(
    "orders", [[1, 1, 1], [2, 1, 1, 0], [3, 2, 2, 1, 1], [4, 4, 3, 2, 1, 1], [5, 4, 4, 3, 2, 2, 1]]
)
def test_compiled_weights_of_13_fulfil_the_conditions_of_exact_arithmetic(orders):
    k = orders[0]
    weights, beta = np.zeros((len(orders), k + 1)), np.zeros(k + 1)
    for j, order in enumerate(orders):
        multistep.derivative_weights(FLOATS, j, order, weights[j])
    assert modified_weights(FLOATS, weights, np.array(orders), k, beta)
    matrix = np.array([[float(entry) for entry in row] for row in conditions(TIMES, orders)])
    right = np.zeros(k + 1)
    right[1] = 2.0
    scale = np.abs(matrix) @ np.abs(beta)
    np.testing.assert_allclose(matrix @ beta / scale, right / scale, atol=1e-12)


@pytest.mark.parametrize("k", range(1, 7))
def test_with_equal_steps_and_orders_modified_and_ordinary_bdf_are_the_same(k):
    t, orders = -0.25 * np.arange(2 * k + 1), np.full(2 * k + 1, k)
    weights, beta = np.zeros((2 * k + 1, k + 1)), np.zeros(k + 1)
    for j in range(k + 1):
        multistep.derivative_weights(t, j, k, weights[j])
    assert modified_weights(t, weights, orders, k, beta)
    np.testing.assert_allclose(beta, weights[0], rtol=1e-8)


def test_order_1_is_the_modified_euler_method_11_with_the_mean_of_two_steps():
    weights, beta = np.zeros((2, 2)), np.zeros(2)
    for j in range(2):
        multistep.derivative_weights(FLOATS, j, 1, weights[j])
    modified_weights(FLOATS, weights, np.array([1, 1]), 1, beta)
    mean = (FLOATS[0] - FLOATS[2]) / 2
    np.testing.assert_allclose(beta, [1 / mean, -1 / mean], rtol=1e-13)


def test_the_system_for_the_weights_is_singular_for_order_5_in_the_third_step_and_this_is_noticed():
    assert determinant(after_exact_start(5, 3)) == 0
    assert determinant(after_exact_start(5, 2)) != 0
    t, orders = -np.arange(8.0), np.array([5, 5, 5, 0, 0, 0, 0, 0])
    weights = np.zeros((8, 6))
    for j in range(3):
        multistep.derivative_weights(t, j, 5, weights[j])
    assert not modified_weights(t, weights, orders, 5, np.zeros(6))


@pytest.mark.parametrize(
    ("power", "orders"),
    [(2, [1] * 8), (3, [2] * 7), (4, [3] * 6), (2, [1, 2, 3, 4, 3, 2, 1]), (3, [2, 3, 4, 3, 2, 4])],
)
def test_modified_bdf_is_exact_for_powers_up_to_k_plus_1_whatever_the_steps_and_orders(power, orders):
    made, grid = cubic(power), 1.0 + np.cumsum([0.0, 0.1, 0.02, 0.05, 0.1, 0.2, 0.03, 0.03, 0.05])
    known = np.array([[t**power, power * t ** (power - 1), 0.0] for t in grid[: len(grid) - len(orders)]])
    run = bdf(made, grid, np.array(orders), modified=True, known=known)
    assert not run.wrong
    assert np.abs(run.z[:, 2]).max() < 1e-9
    ordinary = bdf(made, grid, np.array(orders), modified=False, known=known)
    assert np.abs(ordinary.z[:, 2]).max() > 1e-3


@pytest.mark.parametrize("ratio", [0.2, 0.5, 2.0, 4.0])
def test_after_a_change_of_the_step_order_1_errs_by_the_known_part_of_lambda_and_modified_order_1_by_o_of_h(
    ratio,
):
    """The quotient approximates y'' (1 + h_old/h_new)/2.

    So lambda is off by |lambda| |1 - h_old/h_new| / 2 for h -> 0.
    """
    h, made = 1e-4, ready(testset.get("circular_track", t_end=1.5), "second_order")
    grid = 1.0 + np.concatenate([h * np.arange(5), 4 * h + ratio * h * np.arange(1, 4)])
    jump = 4 * grid[5] ** 2 * abs(1 - 1 / ratio) / 2
    errors = [
        np.abs(bdf(made, grid, np.ones(7, dtype=int), modified=kind).z[:, 4] + 4 * grid**2)[5]
        for kind in (False, True)
    ]
    assert errors[0] == pytest.approx(jump, rel=0.01)
    assert errors[1] < 20 * h * max(1, ratio)


@pytest.mark.parametrize("k", range(1, 5))
def test_modified_bdf_has_order_k_in_lambda_with_changing_steps_and_ordinary_bdf_loses_one(k):
    problem = testset.get("circular_track", t_end=1.5)
    made, errors = ready(problem, "second_order"), {True: [], False: []}
    for n in (48, 96, 192):
        steps = np.where(np.arange(n) % 6 < 3, 1.0, 0.5)
        grid = 1.0 + 0.5 * np.concatenate([[0.0], np.cumsum(steps) / steps.sum()])
        exact = np.array([problem.reference.exact(t) for t in grid])
        for kind in errors:
            run = bdf(made, grid, np.full(n + 1 - k, k), modified=kind, known=exact[:k])
            errors[kind].append(np.abs(run.z - exact)[:, 4].max())
    orders = {kind: np.log2(e[-2] / e[-1]) for kind, e in errors.items()}
    assert orders[True] > k - 0.2
    assert orders[False] < k - 0.8
