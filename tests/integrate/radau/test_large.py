"""Radau on many unknowns: values on patterns give what full matrices give, and cost what their entries do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import herk
import testset
from herk.integrate.methods import IMPLICIT
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.run import Run
from herk.integrate.start import started
from herk.integrate.steppers.radau.on_patterns import put_derivatives
from herk.integrate.steppers.radau.sparse_machine import SparseMachine
from herk.integrate.work import work_of
from herk.jit.program import Program

PROGRAM = Program(put_derivatives)
FULL = replace(IMPLICIT["radau5"], full=True)
TIGHT = {"rtol": 1e-8, "atol": 1e-11}


def coupled(count: int = 60) -> herk.Model:
    """E(y) y' = E(y) cos(t + i), E tridiagonal and a function of the state, and z_i = y_i^2: y_i = sin(t + i)."""
    y, z = sp.symbols(f"y0:{count}", real=True), sp.symbols(f"z0:{count}", real=True)
    E, f = {}, [sp.S.Zero] * count + [z[i] - y[i] ** 2 for i in range(count)]
    for i in range(count):
        for j in range(max(i - 1, 0), min(i + 2, count)):
            E[i, j] = 4 + y[i] ** 2 if i == j else 1 + y[j] / 2
            f[i] += E[i, j] * sp.cos(herk.t + j)
    start = exact(0.0, count)
    return herk.Model("coupled", [*y, *z], E, f, t_span=(0.0, 2.0), y0=tuple(start))


def exact(t: float, count: int = 60) -> np.ndarray:
    y = np.sin(t + np.arange(count))
    return np.concatenate([y, y**2])


def run_of(system, method="radau5") -> Run:
    return started(request(system, None, None, method, OPTIONS | TIGHT, {}))


PROBLEMS = {"lc_ladder": (60, 2.0), "stokes": (7, 1.0), "pipe_grid": (7, 1.0)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_on_patterns_lead_to_the_exact_solution(name: str) -> None:
    size, t_end = PROBLEMS[name]
    problem = testset.get(name, N=size, t_end=t_end)
    wanted = problem.reference.y
    sol = herk.solve_dae(problem, method="radau5", **TIGHT)
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] - wanted).max() < 1e-7 * np.abs(wanted).max()
    assert sol.residual < 1e-10


def test_steps_on_patterns_are_those_of_full_matrices() -> None:
    model = coupled(51)
    sol, full = (herk.solve_dae(model, method=method, **TIGHT) for method in ("radau5", FULL))
    assert np.abs(sol.y[:, -1] - exact(2.0, 51)).max() < 1e-7
    assert np.abs(sol.y[:, -1] - full.y[:, -1]).max() < 1e-8


def test_newton_matrices_hold_the_derivatives_of_masses_times_rates() -> None:
    run, random = run_of(coupled()), np.random.default_rng(2)
    machine, dae = run.machine, run.request.dae
    assert isinstance(machine, SparseMachine)
    assert machine.structure is not None
    state, t, y, rate, way = machine.state, 0.3, *random.uniform(0.5, 1.5, (3, 120))
    state.y[:], state.slope[:] = y, rate
    PROGRAM[put_derivatives].call(t, state.address)
    found = machine.structure.whole.matrix(state.jacobian)[:120] @ way

    def residual(y: np.ndarray) -> np.ndarray:
        return dae.E(t, y) @ rate - dae.f(t, y)

    wanted = (residual(y + 1e-6 * way) - residual(y - 1e-6 * way)) / 2e-6
    assert np.abs(found - wanted).max() < 1e-7 * np.abs(wanted).max()


def test_large_models_take_sparse_steps_and_small_ones_full_ones() -> None:
    assert isinstance(run_of(testset.get("lc_ladder", N=60)).machine, SparseMachine)
    assert not isinstance(run_of(testset.get("lc_ladder", N=8)).machine, SparseMachine)
    assert not isinstance(run_of(testset.get("lc_ladder", N=60), FULL).machine, SparseMachine)


def test_factors_of_a_ladder_grow_with_its_sections() -> None:
    entries = []
    for size in (100, 800):
        run = run_of(testset.get("lc_ladder", N=size, t_end=1e-3))
        run.go()
        assert isinstance(run.machine, SparseMachine)
        assert run.machine.held.step is not None
        entries.append(run.machine.held.step.upper.size / size)
    assert entries[1] < 1.1 * entries[0]


@pytest.mark.parametrize("method", ["radau5", "radau"])
def test_values_between_points_are_as_exact_as_points(method: str) -> None:
    times = np.linspace(0.0, 2.0, 23)
    sol = herk.solve_dae(coupled(), method=method, t_eval=times, **TIGHT)
    assert np.abs(sol.y - np.array([exact(t) for t in times]).T).max() < 1e-7


def test_an_event_is_found_where_the_exact_solution_has_it() -> None:
    def event(t, y):
        return y[0] - 0.5

    event.terminal = True
    sol = herk.solve_dae(coupled(), method="radau5", events=event, dense_output=True, **TIGHT)
    assert sol.t[-1] == pytest.approx(np.pi / 6, abs=1e-7)
    assert np.abs(sol.sol(0.3) - exact(0.3)).max() < 1e-7


def test_derivatives_at_points_are_those_of_the_exact_solution() -> None:
    sol = herk.solve_dae(coupled(), method="radau5", **TIGHT)
    found = sol.slopes(sol.t[-1], sol.y[:, -1])
    i = np.arange(60)
    slope = np.concatenate([np.cos(2.0 + i), np.sin(2 * (2.0 + i))])
    assert np.abs(found - slope).max() < 1e-6


def test_rows_are_exchanged_where_the_constraints_determine_other_unknowns() -> None:
    """Points on circles pass places at which x, then y, alone is determined by the constraint."""
    count = 40
    x, y, u = (sp.symbols(f"{name}0:{count}", real=True) for name in "xyu")
    E = {(i, i): 1 for i in range(2 * count)}
    f = [-(1 + sp.Rational(i, count)) * y[i] + u[i] * x[i] for i in range(count)]
    f += [(1 + sp.Rational(i, count)) * x[i] + u[i] * y[i] for i in range(count)]
    f += [x[i] ** 2 + y[i] ** 2 - 1 for i in range(count)]
    start = (1.0,) * count + (0.0,) * 2 * count
    model = herk.Model("circles", [*x, *y, *u], E, f, t_span=(0.0, 7.0), y0=start)
    run = run_of(model)
    run.go()
    angles = 7.0 * (1 + np.arange(count) / count)
    assert (
        np.abs(run.machine.state.y - np.concatenate([np.cos(angles), np.sin(angles), 0 * angles])).max()
        < 1e-6
    )
    assert run.machine.state.changes >= 4
    assert run.machine.residual < 1e-14


def rod(count: int, diffusion: str) -> herk.Model:
    """Heat in a rod with cold ends, from half a sine: y' = diffusion (y_(i-1) - 2 y_i + y_(i+1)); z = y_0."""
    y, z = [f"y{i}" for i in range(count)], "z"
    inner = ["0", *y, "0"]
    f = [f"{diffusion}*({inner[i]} - 2*{inner[i + 1]} + {inner[i + 2]})" for i in range(count)]
    start = np.sin(np.pi * np.arange(1, count + 1) / (count + 1))
    E = {(i, i): 1 for i in range(count)}
    return herk.Model("rod", [*y, z], E, [*f, "z - y0"], t_span=(0.0, 1.0), y0=(*start, start[0]))


@pytest.mark.parametrize(
    ("factor", "methods"), [("1", ["radau5"]), ("3*t**2", ["dop853", "radau5"])], ids=["stiff", "later"]
)
def test_auto_knows_values_on_patterns_above_the_size_of_full_matrices(factor, methods) -> None:
    """A rod that is stiff from its start is begun implicitly; one that becomes so is gone over in."""
    count, diffusion = IMPLICIT["radau5"].largest + 1, 300_000  # times what is 1 on average
    model = rod(count, f"{diffusion}*{factor}")
    sol = herk.solve_dae(model, method="auto", rtol=1e-6, atol=1e-9)
    rate = 4 * diffusion * np.sin(np.pi / (2 * (count + 1))) ** 2
    assert sol.success, sol.message
    assert [use.method for use in sol.methods] == methods
    assert np.abs(sol.y[:, -1] - np.exp(-rate) * np.asarray(model.y0, dtype=float)).max() < 1e-5


@pytest.mark.parametrize("name", PROBLEMS)
def test_work_is_counted_by_the_entries_that_factors_have(name: str) -> None:
    problem = testset.get(name, N=PROBLEMS[name][0], t_end=PROBLEMS[name][1])
    explicit, implicit = run_of(problem, "auto"), run_of(problem)
    implicit.go()
    step = implicit.machine.held.step
    counted = work_of(explicit.request, explicit.machine)
    operations = 2 * np.diff(step.upper_start)[step.lower].sum()
    assert 1 / 4 < counted.entries / (step.lower.size + step.upper.size) < 4
    assert 1 / 4 < counted.factors / operations < 4
