"""References of the classical problems are reached by rivals of other families than HERK, to six digits."""

from __future__ import annotations

import numpy as np
import pytest

import baselines
import testset
from herk.core import Problem, Settings, Solution


def solved(
    problem: Problem, solver: str, form: str, rtol: float, t_eval: np.ndarray | None = None
) -> Solution:
    rival = baselines.get(solver)
    return rival.solve(
        rival.prepare(problem, form), Settings(rtol=rtol, atol=rtol / 100, t_eval=t_eval, time_limit=60.0)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "group", "solver", "form", "rtol"),
    [
        ("car_axis", "positions", "scipy_radau", "ode", 1e-6),
        ("car_axis", "positions", "ida_sundae", "ggl", 1e-8),
        ("slider_crank", "positions", "ida_sundae", "index2", 1e-6),
        ("transistor_amplifier", "voltages", "solve_dae_radau", "index1", 1e-6),
        ("transistor_amplifier", "voltages", "scipy_radau", "ode", 1e-6),
        ("knife_edge", "positions", "ida_sundae", "index2", 1e-8),
        ("pendulum_2d", "positions", "scipy_radau", "ode", 1e-8),
        ("arevalo", "positions", "ida_sundae", "index2", 1e-10),
        ("circular_track", "positions", "scipy_dop853", "ode", 1e-9),
    ],
)
def test_rival_reaches_the_reference_to_six_digits(name, group, solver, form, rtol):
    p = testset.get(name)
    solution = solved(p, solver, form, rtol)
    assert solution.success
    members = list(p.groups[group])
    assert (
        np.abs(solution.y[members, -1] - p.reference.y[members]).max()
        < 1e-6 * np.abs(p.reference.y[members]).max()
    )


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "form", "rtol"), [
    ("herk_dopri5", "overdetermined", 1e-9), ("scipy_radau", "ode", 1e-8), ("ida_sundae", "index2", 1e-8),
])  # fmt: skip
def test_charge_pump_is_solved_from_breakpoint_to_breakpoint(solver, form, rtol):
    p = testset.get("charge_pump")
    times = np.array([20e-9, 55e-9, 100e-9, 115e-9, 535e-9, 1.2e-6])
    solution = solved(p, solver, form, rtol, times)
    assert solution.success
    np.testing.assert_array_equal(solution.t, times)
    exact = np.array([p.reference.exact(t) for t in times]).T
    sizes = {"charges": 3e-11, "voltages": 36.0, "currents": 3e-3}  # the largest values along the solution
    for group, size in sizes.items():
        members = list(p.groups[group])
        assert np.abs(solution.y[members] - exact[members]).max() < 1e-6 * size
    assert abs(p.invariants[0].value(1.2e-6, solution.y[:, -1])) < 1e-17
