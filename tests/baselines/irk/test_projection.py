"""The projection (2.7) holds all constraints it should, moves along the directions of the paper.

And costs what is counted.
"""

from __future__ import annotations

import numpy as np
import pytest

import baselines
import testset
from baselines.irk.projection import PROGRAM, own_index, project, projection
from herk.core import Problem, Settings
from herk.jit.native import passed
from herk.model.model import Model

RADAU5, PROJECTED = baselines.get("radau5"), baselines.get("radau5_projected")


def unequal_inertia() -> Problem:
    """A pendulum whose inertia is 1 in the direction of x and 3 in that of y.

    So that the gradient of g is not the direction.
    """
    states = ["x", "y", "v", "w", "lam"]
    E = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, "m", 0, 0], [0, 0, 0, "k", 0], [0, 0, 0, 0, 0]]
    f = ["v", "w", "-2*x*lam", "-k - 2*y*lam", "x**2 + y**2 - 1"]
    model = Model(
        "unequal_inertia",
        states,
        E,
        f,
        parameters={"m": 1.0, "k": 3.0},
        t_span=(0.0, 3.0),
        y0=(1.0, 0.0, 0.0, 0.0, 0.0),
    )
    return Problem(
        name="unequal_inertia", title="", t_span=model.t_span, y0=np.array(model.y0), source="", model=model
    )


def corrected(problem: Problem, y: np.ndarray) -> np.ndarray:
    """Return the projection of one point."""
    ready = PROJECTED.prepare(problem, "index3")
    p = projection(ready.top, ready.whole, *ready.start, ready.t_span[0])
    moved = y.copy()
    PROGRAM[project].call(*passed((0.0, moved, np.zeros(len(y)), p.address)))
    return moved


def test_positions_move_along_the_inverse_mass_times_the_gradient():
    """(2.7): u along f_v k_lam, v along k_lam; with masses M these are M^-1 Dg^T."""
    y = np.array([0.8, -0.6, 0.3, 0.4, 0.7]) + np.array([1e-3, 2e-3, -1e-3, 3e-3, 0.0])
    moved = corrected(unequal_inertia(), y)
    along = np.array([2 * y[0] / 1.0, 2 * y[1] / 3.0])
    for part in (slice(0, 2), slice(2, 4)):
        change = moved[part] - y[part]
        assert np.linalg.norm(change) > 1e-4
        assert change[0] * along[1] - change[1] * along[0] == pytest.approx(0.0, abs=4e-16)
    assert moved[4] == y[4]
    assert abs(moved[0] ** 2 + moved[1] ** 2 - 1) < 4e-16
    assert abs(moved[0] * moved[2] + moved[1] * moved[3]) < 4e-16


def test_a_point_on_the_constraints_stays():
    y = np.array([0.8, -0.6, 0.3, 0.4, 0.7])
    np.testing.assert_allclose(corrected(unequal_inertia(), y), y, atol=1e-16)


@pytest.mark.parametrize("form", ["index1", "index2", "index3"])
def test_constraints_are_at_rounding_with_projection_and_visibly_not_without(form):
    problem = testset.get("pendulum_unit")
    drift = {}
    for solver in (RADAU5, PROJECTED):
        sol = solver.solve(solver.prepare(problem, form), Settings(rtol=1e-6, atol=1e-6))
        assert sol.success
        drift[solver.name] = np.abs(
            [problem.dae.g(t, y)[:2] for t, y in zip(sol.t, sol.y.T, strict=True)]
        ).max()
    assert drift["radau5_projected"] < 1e-15
    assert drift["radau5"] > 1e-6


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_projection_saves_evaluations_on_the_pendulum(tolerance):
    problem, settings = testset.get("pendulum_unit"), Settings(rtol=tolerance, atol=tolerance)
    plain, projected = (
        solver.solve(solver.prepare(problem, "index3"), settings) for solver in (RADAU5, PROJECTED)
    )
    assert projected.nfev < plain.nfev
    assert projected.njev < plain.njev
    assert projected.ngev > projected.nstep
    assert plain.ngev == 0
    errors = [np.abs(sol.y[:4, -1] - problem.reference.y[:4]).max() for sol in (plain, projected)]
    assert errors[1] < errors[0]


def test_output_between_the_steps_is_projected_too():
    problem, times = testset.get("pendulum_unit"), np.linspace(0.0, 20.0, 77)
    sol = PROJECTED.solve(PROJECTED.prepare(problem, "index3"), Settings(rtol=1e-6, atol=1e-6, t_eval=times))
    np.testing.assert_array_equal(sol.t, times)
    assert np.abs([problem.dae.g(t, y)[:2] for t, y in zip(sol.t, sol.y.T, strict=True)]).max() < 1e-15


def test_chains_of_five_constraints_are_held_but_for_the_last():
    """spring_chain has index 5: the constraints of levels 0 to 3 determine positions and velocities.

    The last one the force.
    """
    problem = testset.get("spring_chain", t_end=20.0)
    sol = PROJECTED.solve(PROJECTED.prepare(problem, "index3"), Settings(rtol=1e-6, atol=1e-6))
    assert sol.success
    residuals = np.abs([problem.dae.g(t, y) for t, y in zip(sol.t, sol.y.T, strict=True)]).max(axis=0)
    assert residuals[:4].max() < 1e-14
    np.testing.assert_allclose(sol.y[:6, -1], problem.reference.y[:6], atol=1e-12)


def test_fewer_hidden_constraints_than_constraints_are_projected():
    """cv_circuit: three constraints, one of them with a hidden one (index 2)."""
    problem = testset.get("cv_circuit", t_end=0.02)
    sol = PROJECTED.solve(PROJECTED.prepare(problem, "index2"), Settings(rtol=1e-6, atol=1e-9))
    residuals = np.abs([problem.dae.g(t, y) for t, y in zip(sol.t, sol.y.T, strict=True)]).max(axis=0)
    assert residuals[:3].max() < 1e-15
    assert np.abs(sol.y[:2, -1] - problem.reference.y[:2]).max() < 1e-8


def test_a_problem_without_hidden_constraints_is_refused_with_the_reason():
    supported, reason = PROJECTED.supports(testset.get("akzo"), "index1")
    assert not supported
    assert "index 1" in reason


@pytest.mark.parametrize(
    ("name", "index"), [("akzo", 1), ("cv_circuit", 2), ("pendulum_unit", 3), ("spring_chain", 5)]
)
def test_the_index_of_the_model_is_found(name, index):
    assert own_index(testset.get(name).model) == index
