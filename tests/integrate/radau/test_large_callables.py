"""Radau on many unknowns given as callables: patterns told or found, differences of groups of columns."""

from __future__ import annotations

import math
from collections.abc import Callable

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, eye_array

import herk
import testset
from herk.core import InputError
from herk.integrate.methods import IMPLICIT
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.run import Run
from herk.integrate.start import started
from herk.integrate.steppers.radau.sparse_machine import SparseMachine

LARGEST = IMPLICIT["radau5"].largest
TIGHT = {"rtol": 1e-8, "atol": 1e-11}


def run_of(dae: herk.Dae, t_span: tuple[float, float], y0: np.ndarray) -> Run:
    return started(request(dae, t_span, y0, "radau5", OPTIONS | TIGHT, {}))


def rod(count: int, **more: object) -> tuple[herk.Dae, Callable[[float], np.ndarray]]:
    """Heat in a rod with cold ends, from two eigenvectors: what is exact in space is exact in time."""
    share = (count + 1.0) ** 2
    x = np.arange(1, count + 1) / (count + 1)

    def f(t: float, y: np.ndarray) -> np.ndarray:
        wide = np.concatenate([[0.0], y, [0.0]])
        return share * (wide[:-2] - 2 * wide[1:-1] + wide[2:])

    def exact(t: float) -> np.ndarray:
        rates = [4 * share * math.sin(k * math.pi / (2 * (count + 1))) ** 2 for k in (1, 3)]
        return sum(math.exp(-r * t) * np.sin(k * np.pi * x) for r, k in zip(rates, (1, 3), strict=True))

    return herk.Dae(E=eye_array(count).tocsr(), f=f, n=count, m=0, **more), exact


def band(count: int) -> csr_array:
    return csr_array(
        diags_array([np.ones(count - 1), np.ones(count), np.ones(count - 1)], offsets=(-1, 0, 1))
    )


@pytest.mark.parametrize("told", [True, False])
def test_heat_in_a_rod_beyond_full_matrices_is_that_of_its_eigenvectors(told: bool) -> None:
    count = LARGEST + 200
    dae, exact = rod(count, **({"jac_f_sparsity": band(count)} if told else {}))
    sol = herk.solve_dae(dae, (0.0, 0.1), exact(0.0), method="radau5", **TIGHT)
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] - exact(0.1)).max() < 1e-8


def test_auto_goes_over_to_differences_of_groups_where_stability_limits_steps() -> None:
    dae, exact = rod(LARGEST + 1)
    sol = herk.solve_dae(dae, (0.0, 0.1), exact(0.0), method="auto", rtol=1e-6, atol=1e-9)
    assert sol.success, sol.message
    assert sol.methods[-1].method == "radau5"
    assert sol.nstep < 1000  # stability would ask for more than 1e5
    assert np.abs(sol.y[:, -1] - exact(0.1)).max() < 1e-6


@pytest.mark.parametrize(("name", "size"), [("stokes", 19), ("lc_ladder", 520)])
def test_models_as_callables_end_where_they_should(name: str, size: int) -> None:
    problem = testset.get(name, N=size, t_end=0.2)
    full = problem.dae
    assert full.n > LARGEST
    E = full.E(0.0, np.array(problem.y0)) if callable(full.E) else full.E
    dae = herk.Dae(E=E, f=full.f, g=full.g, n=full.n, m=full.m)
    sol = herk.solve_dae(dae, problem.t_span, problem.y0, method="radau5", **TIGHT)
    if problem.reference is not None:  # exact
        wanted = problem.reference.y
    else:
        wanted = herk.solve_dae(problem, method="dop853", rtol=1e-11, atol=1e-13).y[:, -1]
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert sol.residual < 1e-10


def test_the_chain_ends_where_explicit_steps_lead() -> None:
    chain = testset.get("hanging_chain", N=220, t_end=0.02)
    implicit, explicit = (herk.solve_dae(chain, method=name, rtol=1e-8) for name in ("radau5", "dop853"))
    assert implicit.success, implicit.message
    assert np.abs(implicit.y[:440, -1] - explicit.y[:440, -1]).max() < 1e-7


def test_masses_that_depend_on_the_state_are_differentiated_in_groups() -> None:
    count = 150
    i = np.arange(count)

    def E(t: float, y: np.ndarray) -> csr_array:
        return csr_array(diags_array([np.ones(count - 1), 4 + y**2], offsets=(1, 0)))

    def f(t: float, y: np.ndarray) -> np.ndarray:
        return E(t, y) @ np.cos(t + i) - 1e4 * (y - np.sin(t + i))

    dae = herk.Dae(E=E, f=f, n=count, m=0)
    sol = herk.solve_dae(dae, (0.0, 2.0), np.sin(i), method="radau5", **TIGHT)
    assert sol.nstep < 200
    assert np.abs(sol.y[:, -1] - np.sin(2.0 + i)).max() < 1e-7


def test_memory_grows_with_the_entries() -> None:
    words = []
    for count in (500, 2000):
        dae, exact = rod(count)
        machine = run_of(dae, (0.0, 0.1), exact(0.0)).machine
        assert isinstance(machine, SparseMachine)
        words.append(machine.state.words.size / count)
    assert words[1] < 1.1 * words[0] < 200


def test_entries_that_show_later_are_found_where_newton_fails_without_them() -> None:
    """Neighbours are tied to each other, stiffly, once y_0 is below a half: along the solution that is zero."""
    count, stiff = 120, 1e6
    size = 1.0 + np.arange(count) / count

    def f(t: float, y: np.ndarray) -> np.ndarray:
        apart = np.append(np.diff(y / size), 0.0) if y[0] < 0.5 else np.zeros(count)
        return -y + stiff * apart

    dae = herk.Dae(E=eye_array(count).tocsr(), f=f, n=count, m=0)
    run = run_of(dae, (0.0, 2.0), size)
    assert isinstance(run.machine, SparseMachine)
    assert run.machine.structure is not None
    before = run.machine.structure.parts["jac_f"].nnz
    run.go()
    assert before == count
    assert run.machine.structure.parts["jac_f"].nnz >= 2 * count - 1
    assert np.abs(run.machine.state.y - size * math.exp(-2.0)).max() < 1e-7
    assert run.output.steps < 300  # without those entries steps are as short as 1 / stiff


def test_columns_of_a_group_that_leave_the_domain_go_the_other_way() -> None:
    """y_0 = 1 and y_1 = 0 are ends of domains, on opposite sides: moved together, one of them is left."""
    count = 120

    def f(t: float, y: np.ndarray) -> np.ndarray:
        out = -y
        out[0], out[1] = math.sqrt(1.0 - y[0]), -math.sqrt(y[1])
        return out

    y0 = np.ones(count)
    y0[1] = 0.0
    dae = herk.Dae(E=eye_array(count).tocsr(), f=f, n=count, m=0)
    sol = herk.solve_dae(dae, (0.0, 1.0), y0, method="radau5", **TIGHT)
    assert sol.success, sol.message
    assert np.abs(sol.y[2:, -1] - math.exp(-1.0)).max() < 1e-8
    assert sol.y[:2, -1] == pytest.approx([1.0, 0.0], abs=1e-8)


def test_functions_with_entries_nearly_everywhere_keep_full_matrices() -> None:
    count = 110
    dae = herk.Dae(E=eye_array(count).tocsr(), f=lambda t, y: y.mean() - y, n=count, m=0)
    assert not isinstance(run_of(dae, (0.0, 1.0), np.arange(count) / count).machine, SparseMachine)


@pytest.mark.parametrize("method", ["dop853", "radau5"])
@pytest.mark.parametrize("compiled", [True, False])
def test_a_matrix_with_an_entry_it_had_not_near_the_start_is_no_success(method: str, compiled: bool) -> None:
    count = LARGEST + 1

    def E(t: float, y: np.ndarray) -> np.ndarray:
        found = np.eye(count)
        found[0, 1] = max(0.0, 0.5 - y[0])
        return found

    dae = herk.Dae(
        E=numba.njit(E) if compiled else E,
        f=lambda t, y: -y,
        g=lambda t, y: y[-1:] - math.exp(-t),
        n=count,
        m=1,
        jac_f_sparsity=eye_array(count),
    )
    sol = herk.solve_dae(dae, (0.0, 2.0), np.ones(count), method=method, rtol=1e-4)
    assert not sol.success
    assert "E has an entry at (0, 1), where it had none near the start" in sol.message


def test_a_sparsity_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(InputError, match=r"jac_f_sparsity has shape \(3, 3\); it must be 2 x 2"):
        herk.Dae(E=np.eye(2), f=lambda t, y: y, n=2, jac_f_sparsity=np.eye(3))


SMALL = ("andrews", "akzo", "car_axis", "cv_circuit", "pendulum_3d", "spring_chain", "transistor_amplifier")


@pytest.mark.parametrize("name", SMALL)
def test_small_problems_taken_for_large_ones_end_where_full_matrices_lead(name: str, monkeypatch) -> None:
    problem = testset.get(name)
    given = problem.dae
    matrix = given.E(0.0, np.array(problem.y0)) if callable(given.E) else given.E
    t0, t1 = problem.t_span
    ends = []
    for large, crowded in ((100, 0.2), (1, 2.0)):
        monkeypatch.setattr("herk.core.dae.LARGE", large)
        monkeypatch.setattr("herk.integrate.steppers.radau.sparse_ready.CROWDED", crowded)
        dae = herk.Dae(E=matrix, f=given.f, g=given.g, n=given.n, m=given.m)
        span = (t0, t0 + 0.1 * (t1 - t0))
        assert isinstance(run_of(dae, span, problem.y0).machine, SparseMachine) == (large == 1)
        sol = herk.solve_dae(dae, span, problem.y0, method="radau5", **TIGHT)
        assert sol.success, sol.message
        ends.append(sol.y[:, -1])
    assert np.abs(ends[1] - ends[0]).max() < 1e-5 * (1 + np.abs(ends[0]).max())
