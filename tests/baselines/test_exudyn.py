"""exudyn's integrators: the order they claim, no drift, and words for what is no mechanical system."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import baselines
import testset
from baselines.exudyn import scales
from herk.core import InputError, Reason, Settings

METHODS = ("exudyn_alpha", "exudyn_trapezoidal")


def usable(name):
    solver = baselines.get(name)
    available, reason = solver.available()
    if not available:
        pytest.skip(reason)
    return solver


@pytest.mark.parametrize("name", METHODS)
def test_observed_order_is_two_and_the_constraint_of_the_method_is_kept(name):
    solver, p = usable(name), testset.get("pendulum", t_end=0.5)
    prepared = solver.prepare(p, "second_order")
    sols = [solver.solve(prepared, Settings(step=0.5 / count)) for count in (50, 100, 200)]
    errors = [np.abs(sol.y[:4, -1] - p.reference.y[:4]).max() for sol in sols]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.25)
    x, y, v, w = sols[0].y[:4]
    kept = x**2 + y**2 - 1 if name == "exudyn_alpha" else x * v + y * w
    assert np.abs(kept).max() < 1e-9
    assert [sol.nstep for sol in sols] == [50, 100, 200]
    assert (sols[0].t[0], sols[0].t[-1]) == p.t_span


@pytest.mark.parametrize(
    ("name", "problem"), [("exudyn_trapezoidal", "car_axis"), ("exudyn_alpha", "four_bar")]
)
def test_constraints_that_move_and_masses_that_depend_on_angles_are_understood(name, problem):
    solver, p = usable(name), testset.get(problem, t_end=0.3)
    other = baselines.get("ida_sundae_jac")
    best = other.solve(other.prepare(p, "index1"), Settings(rtol=1e-10, atol=1e-12)).y[:, -1]
    sol = solver.solve(solver.prepare(p, "second_order"), Settings(step=p.t_span[1] / 600))
    places = list(p.groups["positions"])
    assert sol.success, sol.message
    assert np.abs(sol.y[places, -1] - best[places]).max() < 1e-4
    assert np.abs(sol.y[-2:, -1] - best[-2:]).max() < 1e-2 * np.abs(best[-2:]).max()  # multipliers, by scale


def test_output_times_are_served_and_a_missing_step_is_asked_for():
    solver, p = usable("exudyn_alpha"), testset.get("pendulum", t_end=0.5)
    prepared = solver.prepare(p, "second_order")
    times = np.array([0.0, 0.123, 0.4, 0.5])
    sol = solver.solve(prepared, Settings(step=0.005, t_eval=times))
    np.testing.assert_array_equal(sol.t, times)
    exact = np.array([p.reference.exact(t) for t in times]).T
    assert np.abs(sol.y[:4] - exact[:4]).max() < 1e-2
    assert solver.solve(prepared, Settings()).reason is Reason.UNSUPPORTED


def test_time_limit_is_a_reason_and_keeps_the_points():
    solver = usable("exudyn_alpha")
    prepared = solver.prepare(testset.get("pendulum", t_end=0.5), "second_order")
    sol = solver.solve(prepared, Settings(step=1e-6, time_limit=0.1))
    assert sol.reason is Reason.TIME_LIMIT
    assert len(sol.t) > 1


def test_multipliers_must_act_along_the_gradients_of_constraints():
    x, y, v, w, lam = sp.symbols("x y v w lam")
    about = {"p": [x, y], "v": [v, w], "lam": [lam], "g": sp.Matrix([x**2 + y**2 - 1])}
    assert scales(about | {"force": sp.Matrix([-6 * lam * x, -6 * lam * y - 1])}) == [3.0]
    with pytest.raises(InputError, match="gradients"):
        scales(about | {"force": sp.Matrix([-lam * x, lam * y])})
    with pytest.raises(InputError, match="positions alone"):
        scales(about | {"g": sp.Matrix([x * v]), "force": sp.Matrix([lam, lam])})
