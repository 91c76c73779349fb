"""method="radau": orders 5, 9 and 13, chosen on the way; everything between steps knows of it."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def solved(problem, method: str = "radau", **options) -> herk.Solution:
    sol = herk.solve_dae(problem, method=method, **(TIGHT | options))
    assert sol.success, sol.message
    return sol


@pytest.mark.parametrize("method", ["radau", "radau9", "radau13"])
@pytest.mark.parametrize(
    ("name", "atol"),
    [("akzo", 1e-12), ("robertson", 1e-16), ("transistor_amplifier", 1e-11), ("rectifier", 1e-12)],
)
def test_references_are_reached_with_fewer_steps_than_with_order_five(
    name: str, atol: float, method: str
) -> None:
    problem = testset.get(name)
    sol, plain = solved(problem, method, atol=atol), solved(problem, "radau5", atol=atol)
    wanted = problem.reference.y
    assert (np.abs(sol.y[:, -1] - wanted) / np.maximum(np.abs(wanted), 1e-4)).max() < 1e-8
    assert sol.residual < 1e-13
    assert sol.nstep < 0.7 * plain.nstep


@pytest.mark.parametrize("method", ["radau9", "radau13"])
def test_rounding_does_not_stop_newton_at_the_smallest_tolerances(method: str) -> None:
    """The change of basis enlarges rounding by 51 and 600: increments below that never become smaller."""
    problem = testset.get("transistor_amplifier")
    sol = solved(problem, method, rtol=1e-12, atol=1e-14)
    assert np.abs(sol.y[:, -1] - problem.reference.y).max() < 1e-9


def test_values_between_steps_are_exact_and_on_the_constraints_across_changes_of_order() -> None:
    problem = testset.get("pendulum", t_end=2.0)
    times = np.linspace(0.0, 2.0, 301)
    exact = np.array([problem.reference.exact(t) for t in times]).T
    dense, given = solved(problem, dense_output=True), solved(problem, t_eval=times)
    assert dense.nstep < 0.5 * solved(problem, "radau5").nstep
    for values in (dense(times), given.y):
        assert np.abs(values - exact).max() < 1e-6
        assert max(np.abs(problem.dae.g(t, y)).max() for t, y in zip(times, values.T, strict=True)) < 1e-12


def test_events_are_found_between_long_steps() -> None:
    problem = testset.get("pendulum", t_end=2.0)

    def lowest(t: float, y: np.ndarray) -> float:
        return float(y[0])

    sol = solved(problem, events=lowest)
    assert sol.t_events[0] == pytest.approx([0.5, 1.5], abs=1e-8)  # the period is 2


def test_time_may_go_backward() -> None:
    problem = testset.get("pendulum", t_end=1.0)
    back = solved(problem.dae, t_span=(1.0, 0.0), y0=problem.reference.exact(1.0), consistent="project")
    assert back.y[:, -1] == pytest.approx(problem.y0, abs=1e-7)


def test_a_prepared_run_gives_the_same_every_time() -> None:
    prepared = herk.prepare(testset.get("akzo"), method="radau", **TIGHT)
    first, second = prepared.solve(), prepared.solve()
    assert np.array_equal(first.y, second.y)
    assert np.array_equal(prepared.copy().solve().y, first.y)


def test_an_ensemble_takes_the_steps_of_single_runs() -> None:
    model = testset.get("pendulum", t_end=1.0).model
    times = np.linspace(0.0, 1.0, 7)
    found = herk.solve_many(model, parameters={"g": [9.0, 10.0]}, method="radau", t_eval=times, **TIGHT)
    for g, values in zip((9.0, 10.0), found.y, strict=True):
        single = herk.solve_dae(model, parameters={"g": g}, method="radau", t_eval=times, **TIGHT)
        assert np.array_equal(values, single.y)


def test_fixed_steps_are_refused_since_the_order_would_be_open() -> None:
    with pytest.raises(InputError, match="changes its order with the steps"):
        herk.solve_dae(testset.get("pendulum"), method="radau", step=0.01)


def test_a_change_of_order_near_a_fold_does_not_forget_that_solutions_meet_there() -> None:
    """x = sin(w t) touches the fold z = 0 of x^2 + z^2 = 1 at w t = pi/2; the order changes just before."""
    w = 1.8699708203856276
    f = ["x**2 + z**2 - 1", "x - sin(w*t)"]
    model = herk.Model("fold", ["x", "z"], [[0, 0]] * 2, f, parameters={"w": 1.0}, t_span=(0, 3), y0=[0, 1])
    tolerances = {"rtol": 1.0531251896696265e-09, "atol": [6.404387991266854e-10, 1.0531251896696265e-09]}
    sol = herk.solve_dae(model, (0, 1.0867782004091622), method="radau", parameters={"w": w}, **tolerances)
    assert sol.reason == "singular", sol.message
    assert sol.t[-1] == pytest.approx(np.pi / 2 / w, rel=1e-6)
