"""Errors, digits and drift are those of their definitions, on solutions whose errors are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import testset
from herk.bench import measure, series
from herk.core import Problem, Reason, Reference, Settings, Solution


@pytest.fixture(scope="module")
def pendulum() -> Problem:
    return testset.get("pendulum", t_end=0.5)


def exact_run(problem: Problem, count: int = 41, **changes) -> Solution:
    """Return the exact solution as if a solver had found it."""
    t = np.linspace(*problem.t_span, count)
    y = np.array([problem.reference.exact(float(time)) for time in t]).T
    return replace(Solution(t=t, y=y, reason=Reason.FINISHED, message=""), **changes)


def test_errors_are_taken_per_group_and_overall(pendulum):
    run = exact_run(pendulum)
    run.y[1, -1] += 1e-3
    run.y[3, -1] -= 1e-2
    found = measure.metrics(pendulum, Settings(), run)
    assert found["error_end.positions"] == pytest.approx(1e-3)
    assert found["error_end.velocities"] == pytest.approx(1e-2)
    assert found["error_end"] == pytest.approx(1e-2)
    assert found["error_end.multipliers"] < 1e-14


def test_scd_and_mescd_follow_their_definitions(pendulum):
    run = exact_run(pendulum)
    reference = pendulum.reference.y
    run.y[:, -1] = reference + np.array([0, 2e-5, 0, 0, 3e-4])
    found = measure.end_errors(pendulum, Settings(rtol=1e-6, atol=1e-8), run)
    assert found["scd"] == pytest.approx(-math.log10(max(2e-5 / abs(reference[1]), 3e-4 / abs(reference[4]))))
    ratio = 1e-8 / 1e-6
    assert found["mescd"] == pytest.approx(
        -math.log10(max(2e-5 / (ratio + abs(reference[1])), 3e-4 / (ratio + abs(reference[4]))))
    )
    assert found["mescd.positions"] == pytest.approx(-math.log10(2e-5 / (ratio + abs(reference[1]))))


def test_components_without_a_certain_digit_are_not_scored():
    """At the quarter period x and w are zero in exact arithmetic and rounding noise in numbers.

    Relative errors say nothing.
    """
    exact = np.array([1.0, 0.0, 1e-15])
    assert measure.scd(np.array([1e-3, 5.0, 5.0]), exact, 14.0, 1.0) == pytest.approx(3.0)
    assert measure.scd(np.array([5.0, 5.0]), exact[1:], 14.0, 1.0) is None


@given(st.floats(1e-18, 1e3), st.floats(1.0, 30.0))
def test_a_run_has_no_more_digits_than_its_reference_or_its_numbers(error, digits):
    found = measure.mescd(np.array([error]), np.array([1.0]), digits, 0.0)
    assert found <= min(digits, measure.DOUBLE)
    assert found == pytest.approx(min(-math.log10(error), digits, measure.DOUBLE), abs=1e-9)


def test_a_run_that_did_not_reach_the_end_has_no_end_error_but_a_drift(pendulum):
    run = exact_run(pendulum)
    early = replace(run, t=run.t[:10], y=run.y[:, :10], reason=Reason.STEP_UNDERFLOW)
    found = measure.metrics(pendulum, Settings(), early)
    assert not [name for name in found if name.startswith(("error", "scd", "mescd"))]
    assert found["drift.all"] < 1e-12
    assert measure.end_errors(pendulum, Settings(), replace(early, reason=Reason.FINISHED)) == {}


def test_the_error_over_the_interval_is_its_maximum(pendulum):
    grid = exact_run(pendulum, 11)
    grid.y[0, 4] += 0.25
    found = measure.metrics(pendulum, Settings(), exact_run(pendulum), grid)
    assert found["error_grid"] == found["error_grid.positions"] == pytest.approx(0.25)
    assert found["error_grid.velocities"] < 1e-13
    assert found["error_end"] < 1e-13


def test_drift_is_measured_level_by_level_as_a_maximum_over_time(pendulum):
    """Scaled positions (1 + e) miss x^2 + y^2 = 1 by 2 e + e^2.

    Scaled velocities leave x v + y w = 0 where it is.
    """
    run = exact_run(pendulum)
    run.y[:2, 7] *= 1 + 1e-3
    found = measure.drift(pendulum, run)
    assert found["drift.level0"] == pytest.approx(2e-3 + 1e-6)
    assert found["drift.level1"] < 1e-12
    run = exact_run(pendulum)
    run.y[2:4, 9] *= 1.1
    found = measure.drift(pendulum, run)
    assert found["drift.level0"] < 1e-14
    assert found["drift.level1"] < 1e-12
    assert found["drift.all"] == found["drift.level2"] > 0.1


def test_invariants_are_compared_with_their_start(pendulum):
    run = exact_run(pendulum)
    assert measure.invariants(pendulum, run)["invariant.energy"] < 1e-13
    run.y[2:4, 20] *= 2.0  # kinetic energy times four
    kinetic = 0.5 * float(exact_run(pendulum).y[2:4, 20] @ exact_run(pendulum).y[2:4, 20])
    assert measure.invariants(pendulum, run)["invariant.energy"] == pytest.approx(3 * kinetic)


def test_a_solver_that_hands_out_two_points_is_judged_at_the_output_times(pendulum):
    run, grid = exact_run(pendulum, 2), exact_run(pendulum, 11)
    grid.y[:2, 5] *= 1.5
    assert measure.metrics(pendulum, Settings(), run, grid)["drift.level0"] == pytest.approx(1.25)


def test_problems_given_by_callables_have_a_drift_but_no_levels():
    problem = testset.get("wind_pendulum_printed")
    assert measure.levels(problem) == []
    run = Solution(t=np.zeros(1), y=np.array(problem.y0)[:, None], reason=Reason.FINISHED, message="")
    assert list(measure.drift(problem, run)) == ["drift.all"]


def test_the_end_of_another_span_is_not_compared(pendulum):
    other = replace(pendulum, reference=Reference(7.0, pendulum.reference.y, 14.0, ""))
    assert measure.end_errors(other, Settings(), exact_run(pendulum)) == {}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=2000))
def test_thinning_keeps_extremes_order_and_short_series(values):
    t = np.arange(len(values), dtype=float)
    times, kept = series.thinned(t, np.array(values))
    assert len(kept) == len(times) <= series.MOST
    assert times == sorted(times)
    short = [float(f"{x:.{series.DIGITS}g}") for x in values]
    assert (max(kept), min(kept)) == (max(short), min(short))
    if len(values) <= series.MOST:
        assert kept == short


def test_histories_hold_drift_steps_invariants_and_selections(pendulum):
    run = exact_run(pendulum, selections=((0.0, (0, 2, 4)), (0.25, (1, 3, 4))))
    found = series.over_time(pendulum, run)
    assert set(found) == {
        "drift.level0",
        "drift.level1",
        "drift.level2",
        "invariant.energy",
        "step",
        "selection",
    }
    assert found["selection"] == ([0.0, 0.25], ["0 2 4", "1 3 4"])
    assert found["step"][1] == pytest.approx([0.0125] * 40)
    paths = series.trajectories(pendulum, run)
    assert set(paths) == {
        f"{kind}.{name}" for kind in ("y", "reference") for name in ("x", "y", "v", "w", "lam")
    }
    assert paths["y.x"] == paths["reference.x"]
