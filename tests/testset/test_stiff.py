"""Stiff problems: implicit rivals reach the references.

Explicit methods end after a bounded effort with a reason.
"""

from __future__ import annotations

import numpy as np
import pytest

import baselines
import herk
import testset
from herk.core import Problem, Reason, Settings, Solution


def solved(problem: Problem, solver: str, form: str, rtol: float, atol: float) -> Solution:
    rival = baselines.get(solver)
    return rival.solve(rival.prepare(problem, form), Settings(rtol=rtol, atol=atol, time_limit=60.0))


def relative(problem: Problem, solution: Solution) -> float:
    """Return the largest relative error of a component."""
    return float((np.abs(solution.y[:, -1] - problem.reference.y) / np.abs(problem.reference.y)).max())


@pytest.mark.slow
@pytest.mark.parametrize("t_end", [0.4, 40.0, 4e3, 1e5, 1e7, 4e10, 1e11])
def test_radau_reaches_robertson_at_every_stored_time(t_end):
    p = testset.get("robertson", t_end=t_end)
    assert relative(p, solved(p, "scipy_radau", "ode", 1e-9, 1e-16)) < 1e-6


@pytest.mark.slow
def test_ida_reaches_robertson_at_the_end():
    p = testset.get("robertson")
    assert relative(p, solved(p, "ida_sundae_jac", "index1", 1e-9, 1e-15)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "t_end"), [("scipy_radau", 30.0), ("scipy_radau", 360.0), ("scipy_lsoda", 360.0)]
)
def test_two_families_reach_the_oregonator(solver, t_end):
    p = testset.get("oregonator", t_end=t_end)
    assert relative(p, solved(p, solver, "ode", 1e-9, 1e-11)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "rtol"), [("scipy_radau", 1e-6), ("scipy_bdf", 1e-8)])
def test_two_families_reach_the_nand_gate(solver, rtol):
    p = testset.get("nand_gate")
    solution = solved(p, solver, "ode", rtol, rtol)
    assert solution.success
    assert solution.t[-1] == 80.0
    assert np.abs(solution.y[:, -1] - p.reference.y).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["robertson", "oregonator", "nand_gate"])
def test_explicit_method_on_a_stiff_problem_ends_after_a_bounded_effort_and_says_so(name):
    p = testset.get(name)
    solution = herk.solve_dae(p, method="dopri5", rtol=1e-4, atol=1e-6, max_steps=2000, generate=False)
    assert solution.reason is Reason.MAX_STEPS
    assert "2000 steps" in solution.message
    assert solution.t[-1] < 0.3 * p.t_span[1]


@pytest.mark.slow
def test_explicit_method_solves_robertson_while_it_is_short():
    p = testset.get("robertson", t_end=0.4)
    solution = herk.solve_dae(p, method="dopri5", rtol=1e-9, atol=p.atol(1e-10), generate=False)
    assert relative(p, solution) < 1e-6
    assert solution.residual < 1e-15
