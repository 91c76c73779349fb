"""The solvers of the bench: error control, output times, backward time, refusals and reasons."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import baselines
import testset
from baselines.adapter import Points
from baselines.second_order import SOLVERS
from baselines.second_order.solvers import deliver
from herk.core import Reason, Settings

TRACK = testset.get("circular_track", t_end=3.0)
NAMES = [solver.name for solver in SOLVERS]


def run(name: str, problem=TRACK, **settings):
    solver = baselines.get(name)
    return solver.solve(solver.prepare(problem, "second_order"), Settings(**settings))


def off(sol, problem=TRACK) -> np.ndarray:
    """Return the largest error of every component over all points."""
    return np.abs(sol.y - np.array([problem.reference.exact(t) for t in sol.t]).T).max(axis=1)


@pytest.mark.parametrize("name", ["bdf_second_order", "bdf_first_order"])
def test_errors_of_bdf_follow_the_tolerance_in_positions_and_velocities(name):
    for tolerance in (1e-4, 1e-6, 1e-8):
        sol = run(name, rtol=tolerance, atol=tolerance)
        assert sol.success
        assert off(sol)[:4].max() < 300 * tolerance
        assert sol.nreject < sol.nstep / 10


def test_multipliers_of_modified_bdf_are_better_than_those_of_bdf_for_first_order():
    ladder = [1e-5, 3e-6, 1e-6, 3e-7, 1e-7]
    ratios = [
        off(run("bdf_first_order", rtol=tol, atol=tol))[4]
        / off(run("bdf_second_order", rtol=tol, atol=tol))[4]
        for tol in ladder
    ]
    assert np.median(ratios) > 2


@pytest.mark.parametrize("name", ["bdf_second_order", "rk_second_order_radau", "glm_second_order"])
def test_time_may_run_backwards(name):
    back = testset.get("circular_track", t_end=0.5)
    adaptive = baselines.get(name).adaptive
    sol = run(name, back, rtol=1e-6, atol=1e-6) if adaptive else run(name, back, step=1e-3)
    assert sol.success
    assert sol.t[-1] == 0.5
    assert (np.diff(sol.t) < 0).all()
    assert off(sol, back)[:4].max() < 1e-4


def test_index_2_and_index_1_are_solved_too():
    for name in ("knife_edge", "rlc"):
        problem = testset.get(name)
        sol = run("bdf_second_order", problem, rtol=1e-6, atol=1e-6)
        assert off(sol, problem)[list(next(iter(problem.groups.values())))].max() < 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_index_above_3_and_first_order_systems_are_refused_with_a_reason(name):
    solver = baselines.get(name)
    supported, reason = solver.supports(testset.get("spring_chain"), "second_order")
    assert not supported
    assert "index 5" in reason
    supported, reason = solver.supports(testset.get("akzo"), "second_order")
    assert not supported
    assert "second-order" in reason


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_asked_for_or_refused(name):
    adaptive = baselines.get(name).adaptive
    sol = run(name, step=0.1 if adaptive else None)
    assert (sol.reason, len(sol.t)) == (Reason.UNSUPPORTED, 1)
    assert "step" in sol.message


@pytest.mark.parametrize("name", NAMES)
def test_too_few_steps_are_a_reason_and_the_points_are_kept(name):
    more = {"rtol": 1e-8, "atol": 1e-8} if baselines.get(name).adaptive else {"step": 1e-3}
    sol = run(name, options={"max_steps": 20}, **more)
    assert sol.reason is Reason.MAX_STEPS
    assert sol.nstep == 20
    assert len(sol.t) == 21
    assert off(sol)[:4].max() < 1e-4


def test_fixed_steps_end_at_the_end_with_a_shorter_last_one():
    sol = run("rk_second_order_radau", step=0.3)
    assert sol.nstep == 7
    np.testing.assert_allclose(np.diff(sol.t), [0.3] * 6 + [0.2], rtol=1e-12)
    assert sol.t[-1] == 3.0


@pytest.mark.parametrize("sign", [1, -1])
def test_output_times_are_served_by_polynomials_of_degree_5_and_times_not_reached_are_left_out(sign):
    t = sign * np.array([0.0, 0.1, 0.3, 0.35, 0.7, 0.8, 1.0, 1.3])
    points = Points(t.tolist(), [np.array([time**5 - time, time**2]) for time in t])
    wanted = sign * np.array([0.0, 0.01, 0.33, 0.5, 1.29, 1.3, 1.5])
    deliver(points, wanted)
    assert points.t == wanted[:-1].tolist()
    np.testing.assert_allclose(points.z, [[time**5 - time, time**2] for time in wanted[:-1]], atol=1e-14)


def test_a_lower_order_is_kept_to_and_needs_more_steps():
    steps = [
        run("bdf_second_order", rtol=1e-5, atol=1e-5, options={"max_order": order}).nstep
        for order in (1, 2, 3, 5)
    ]
    assert all(a > 1.2 * b for a, b in pairwise(steps))


@pytest.mark.parametrize(
    ("options", "said"), [({"max_ordr": 2}, "max_order"), ({"max_order": 6}, "between 1 and 5")]
)
def test_wrong_options_are_named(options, said):
    sol = run("bdf_second_order", options=options)
    assert sol.reason is Reason.EXCEPTION
    assert said in sol.message


def test_a_tolerance_below_rounding_ends_with_a_reason_and_finite_points():
    sol = run("bdf_second_order", rtol=1e-15, atol=1e-15)
    assert sol.reason is Reason.STEP_UNDERFLOW
    assert "rounding" in sol.message
    assert np.isfinite(sol.y).all()


@pytest.mark.parametrize("tolerance", [1e-7, 1e-9])
def test_andrews_mechanism_which_starts_at_rest_with_large_forces_is_solved(tolerance):
    problem = testset.get("andrews")
    sol = run("bdf_second_order", problem, rtol=tolerance, atol=tolerance)
    assert sol.success, sol.message
    assert np.abs(sol.y[:7, -1] - problem.reference.y[:7]).max() < 100 * tolerance
