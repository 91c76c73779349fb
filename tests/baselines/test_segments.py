"""Problems with breakpoints are solved segment by segment.

No step crosses a breakpoint, jumps are found, points and counters belong to one run.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import baselines
import herk
from baselines.adapter import tolerances
from herk.core import Problem, Reason, Settings

BREAK = 1.0


def stairs(breakpoints: tuple[float, ...] = (BREAK, 3.0)) -> Problem:
    """x' = z, z = 0 before the first breakpoint, 2 (t - 1) + 1 behind it, 0 again from 3 on: z jumps, x has corners."""
    slope = f"Piecewise((0, t < {BREAK}), (2*t - 1, t < 3), (0, True))"
    model = herk.Model(
        "stairs", ["x", "z"], [[1, 0], [0, 0]], ["z", f"z - {slope}"], t_span=(0, 4), y0=(1.0, 0.0)
    )
    return Problem(
        "stairs",
        "Stairs",
        (0.0, 4.0),
        np.array([1.0, 0.0]),
        "made for this test",
        model,
        breakpoints=breakpoints,
    )


def exact(t: float) -> tuple[float, float]:
    """Return the solution, at breakpoints the limit from the left."""
    if t <= BREAK:
        return 1.0, 0.0
    return (1 + t**2 - t, 2 * t - 1) if t <= 3 else (7.0, 0.0)


SOLVERS = [
    ("herk_dopri5", "overdetermined"),
    ("scipy_radau", "ode"),
    ("scipy_rk45", "ode"),
    ("ida_sundae", "index1"),
    ("solve_dae_radau", "index1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "form"), SOLVERS)
def test_every_solver_starts_anew_at_breakpoints_and_finds_the_jump(solver, form):
    rival, times = baselines.get(solver), np.array([0.0, 0.5, 1.0, 1.5, 3.0, 3.5])
    prepared = rival.prepare(stairs(), form)
    solution = rival.solve(prepared, Settings(rtol=1e-8, atol=1e-10, t_eval=times))
    assert solution.success
    np.testing.assert_array_equal(solution.t, times)
    np.testing.assert_allclose(solution.y.T, [exact(t) for t in times], rtol=1e-7, atol=1e-9)
    free = rival.solve(prepared, Settings(rtol=1e-8, atol=1e-10))
    assert (np.diff(free.t) > 0).all()
    assert free.t[-1] == 4.0
    assert not ((free.t[:-1] < BREAK - 1e-9) & (free.t[1:] > BREAK + 1e-9)).any()


def test_breakpoints_that_a_model_shows_are_met_without_being_told():
    rival, settings = baselines.get("herk_dopri5"), Settings(rtol=1e-8, atol=1e-10)
    prepared = rival.prepare(stairs(), "overdetermined")
    told, found = rival.solve(prepared, settings), rival.solve(replace(prepared, breakpoints=()), settings)
    assert found.nreject == 0
    assert found.nstep == told.nstep
    assert np.array_equal(found.y, told.y)


def test_run_that_ends_early_keeps_the_segments_before():
    rival = baselines.get("herk_dopri5")
    prepared = rival.prepare(stairs(), "overdetermined")
    solution = rival.solve(
        prepared, Settings(rtol=1e-8, atol=1e-10, options={"max_steps": 2, "max_step": 0.4})
    )
    assert solution.reason is Reason.MAX_STEPS
    assert 0.0 < solution.t[-1] < BREAK


def test_breakpoints_are_met_backwards_in_time_too():
    """From the end, where x = 7 and z = 0, back to the start: x = 1 before the first breakpoint."""
    rival, times = baselines.get("scipy_radau"), np.array([4.0, 3.5, 2.5, 1.5, 0.5, 0.0])
    prepared = rival.prepare(stairs(), "ode")
    z, zp = prepared.form.start(np.array(exact(4.0)), 4.0)
    back = replace(prepared, t_span=(4.0, 0.0), start=(z, zp))
    solution = rival.solve(back, Settings(rtol=1e-8, atol=1e-10, t_eval=times))
    assert solution.success
    np.testing.assert_array_equal(solution.t, times)
    np.testing.assert_allclose(solution.y.T, [exact(t) for t in times], rtol=1e-7, atol=1e-9)


def test_formulas_by_pieces_are_no_problem_for_casadi_but_a_reason():
    supported, why = baselines.get("casadi_idas").supports(stairs(), "index1")
    assert not supported
    assert "by pieces" in why


def test_sizes_of_the_problem_reach_every_solver():
    sized = replace(stairs(), sizes=(10.0, 1e-3))
    for solver, form in SOLVERS[:2]:
        prepared = baselines.get(solver).prepare(sized, form)
        np.testing.assert_allclose(tolerances(prepared, 1e-6)[:1], 1e-5)
        np.testing.assert_allclose(tolerances(prepared, (1e-6, 1e-7))[:1], 1e-6)
