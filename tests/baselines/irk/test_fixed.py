"""Families with fixed steps: orders on forms with an exact solution, output times, limits.

And reasons in words.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import testset
from baselines.irk.families import tableau
from baselines.irk.fixed import SOLVERS, FixedStep, Run
from baselines.prepared import implicit
from herk.core import Problem, Reason, Settings
from herk.model.model import Model

SOLVER = {solver.name: solver for solver in SOLVERS}


def jay() -> Problem:
    """Return the index-3 system of Jay (1993) with the solution (e^2t, e^-t, e^2t, e^-t, e^t)."""
    right = ["2*y1*y2*z1*z2", "-y1*y2*z2**2", "(y1*y2 + z1*z2)*u", "-y1*y2**2*z2**2*u", "y1*y2**2 - 1"]
    model = Model(
        "jay",
        ["y1", "y2", "z1", "z2", "u"],
        np.diag([1, 1, 1, 1, 0]),
        right,
        t_span=(0.0, 1.0),
        y0=(1.0,) * 5,
    )
    return Problem(
        name="jay", title="Jay", t_span=(0.0, 1.0), y0=np.ones(5), source="Jay (1993)", model=model
    )


def index2() -> Problem:
    """Return an index-2 system with the solution (e^t, e^-2t, e^2t)."""
    right = ["y1**3*y2**2*z", "-y1**2*y2**2 - y2**2*z", "y1**2*y2 - 1"]
    model = Model(
        "exponentials", ["y1", "y2", "z"], np.diag([1, 1, 0]), right, t_span=(0.0, 1.0), y0=(1.0,) * 3
    )
    return Problem(
        name="exponentials",
        title="exponentials",
        t_span=(0.0, 1.0),
        y0=np.ones(3),
        source="made here",
        model=model,
    )


RATES = {"jay": [2.0, -1.0, 2.0, -1.0, 1.0], "exponentials": [1.0, -2.0, 2.0]}  # solutions are exp(rate t)
GROUPS = {"jay": ((0, 1), (2, 3), (4,)), "exponentials": ((0, 1), (2,))}


def errors(solver: FixedStep, problem: Problem, form: str, steps: int) -> list[float]:
    """Return the largest error over the mesh in each group."""
    sol = solver.solve(solver.prepare(problem, form), Settings(step=1.0 / steps))
    assert sol.success, sol.message
    assert sol.nstep == steps
    wrong = np.abs(sol.y - np.exp(np.outer(RATES[problem.name], sol.t)))
    return [wrong[list(group)].max() for group in GROUPS[problem.name]]


@pytest.mark.parametrize(
    ("name", "form", "orders"),
    # theory: Hairer, Lubich, Roche (1989) and Hairer, Wanner, VI.1 and VII.4; rounding leaves two digits of
    # the slope
    [
        ("gauss2", "index1", (4, 4, 2)),
        ("gauss3", "index1", (6, 6, 4)),
        ("radau_iia2", "index1", (3, 3, 3)),
        ("radau_iia2", "index2", (3, 2)),
        ("radau_iia2", "index3", (3, 2, 1)),
        ("radau_iia3", "index3", (5, 3, 2)),
        ("lobatto_iiia3", "index1", (4, 4, 4)),
        ("lobatto_iiic3", "index2", (4, 2)),
        ("gauss3", "index2", (4, 2)),
    ],
)
def test_orders_of_the_components_are_those_of_theory(name, form, orders):
    problem = index2() if form == "index2" else jay()
    coarse, fine = errors(SOLVER[name], problem, form, 16), errors(SOLVER[name], problem, form, 32)
    np.testing.assert_allclose(np.log2(np.divide(coarse, fine)), orders, atol=0.3)


def test_stage_equations_are_solved_to_rounding():
    # positions of a direct index-3 discretisation by a stiffly accurate method fulfil the constraint at every
    # mesh point
    problem = testset.get("pendulum_3d", t_end=1.0)
    solver = SOLVER["radau_iia3"]
    sol = solver.solve(solver.prepare(problem, "index3"), Settings(step=0.01))
    assert np.abs((sol.y[:3] ** 2).sum(axis=0) - 1).max() < 5e-15


def test_the_span_is_filled_by_equal_steps_and_output_times_are_those_asked_for():
    problem, solver = jay(), SOLVER["radau_iia3"]
    prepared = solver.prepare(problem, "index1")
    sol = solver.solve(prepared, Settings(step=0.3))
    np.testing.assert_allclose(sol.t, [0, 0.25, 0.5, 0.75, 1.0], atol=1e-15)
    assert sol.t[-1] == 1.0
    times = np.array([0.0, 0.013, 0.25, 0.5, 0.99, 1.0])
    wanted = solver.solve(prepared, Settings(step=0.02, t_eval=times))
    np.testing.assert_array_equal(wanted.t, times)
    exact = np.exp(np.outer([2.0, -1.0, 2.0, -1.0, 1.0], times))
    assert np.abs(wanted.y - exact).max() < 1e-6


def test_time_may_run_backwards():
    solver = SOLVER["radau_iia3"]
    prepared = solver.prepare(jay(), "index2")
    back = replace(prepared, t_span=(0.0, -0.5))
    sol = solver.solve(back, Settings(step=0.01, t_eval=np.array([-0.1, -0.257, -0.5])))
    exact = np.exp(np.outer([2.0, -1.0, 2.0, -1.0, 1.0], [-0.1, -0.257, -0.5]))
    assert np.abs(sol.y - exact)[:4].max() < 1e-8


def test_work_is_counted():
    solver = SOLVER["radau_iia2"]
    sol = solver.solve(solver.prepare(jay(), "index1"), Settings(step=0.1))
    assert sol.nstep == 10
    assert sol.nfev % 2 == 0  # two stages
    assert sol.nit == sol.nfev // 2 >= 10
    assert sol.njev == 2 * sol.nlu
    assert 1 <= sol.nlu <= 10 * 8


def test_stage_equations_without_a_solution_end_the_run_with_the_points_reached():
    # z^2 = 1/2 - t has no real solution behind t = 1/2
    model = Model(
        "root", ["x", "z"], np.diag([1, 0]), ["1", "z**2 + x"], t_span=(0.0, 1.0), y0=(-0.5, 0.5**0.5)
    )
    problem = Problem(
        name="root",
        title="root",
        t_span=(0.0, 1.0),
        y0=np.array([-0.5, 0.5**0.5]),
        source="made here",
        model=model,
    )
    solver = SOLVER["radau_iia2"]
    sol = solver.solve(solver.prepare(problem, "index1"), Settings(step=1 / 64))
    assert not sol.success
    assert sol.reason in (Reason.NEWTON, Reason.NONFINITE, Reason.SINGULAR)
    assert 0.4 < sol.t[-1] <= 0.5
    assert "h = 0.015625" in sol.message
    np.testing.assert_allclose(sol.y[1], np.sqrt(0.5 - sol.t), atol=1e-6)


def test_a_singular_newton_matrix_is_a_reason():
    model = Model("free", ["x", "z"], np.diag([1, 0]), ["z", "x - t"], t_span=(0.0, 1.0), y0=(0.0, 1.0))
    problem = Problem(
        name="free", title="free", t_span=(0.0, 1.0), y0=np.array([0.0, 1.0]), source="made here", model=model
    )
    prepared = implicit(problem, "index2")
    run = Run(tableau("radau_iia", 2), prepared, 0.1)
    run.own.a[:] = 0.0  # A = 0: the constraint does not see the unknowns
    code, points, _ = run.chunk(1)
    assert code == 2
    assert len(points) == 0


def test_a_guess_outside_the_domain_is_followed_by_a_careful_one():
    # reaction rates of Akzo contain a square root; the slopes at the start lead to where it is not defined
    problem, solver = testset.get("akzo"), SOLVER["radau_iia3"]
    sol = solver.solve(solver.prepare(problem, "index1"), Settings(step=0.09))
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[:, -1], problem.reference.y, rtol=1e-6)


def test_a_fixed_step_and_a_time_limit_are_respected():
    solver = SOLVER["radau_iia2"]
    prepared = solver.prepare(jay(), "index1")
    missing = solver.solve(prepared, Settings())
    assert (missing.reason, "settings.step" in missing.message) == (Reason.UNSUPPORTED, True)
    long = solver.solve(prepared, Settings(step=1e-7, time_limit=0.05))
    assert (long.reason, long.success) == (Reason.TIME_LIMIT, False)
    assert 1 < len(long.t) < 10**7


def test_python_that_is_called_back_gives_the_same_steps():
    solver = SOLVER["lobatto_iiia3"]
    prepared = solver.prepare(jay(), "index1")
    plain = implicit(jay(), "index1")
    plain.__dict__["residual"], plain.__dict__["jacobian"] = (
        prepared.residual.py_func,
        prepared.jacobian.py_func,
    )
    ours, theirs = (solver.solve(given, Settings(step=0.25)).y for given in (prepared, plain))
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
