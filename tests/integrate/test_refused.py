"""Right models that were once refused, slowed down or misread: each is solved, or refused with a sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import herk
import testset
from tests.model.index_reduction.test_regularize_large import rods


def test_a_narrow_pulse_is_evaluated_as_it_is_written() -> None:
    model = herk.Model("pulse", ["z"], [[0]], ["z - 100*exp(-((t - 5)/0.01)**2)"], t_span=(0, 10), y0=[0])
    times = np.array([0.0, 4.98, 4.99, 5.0, 5.013, 10.0])
    g = model.form("overdetermined").g
    right = 100 * np.exp(-(((times - 5) / 0.01) ** 2))
    np.testing.assert_allclose([-g(t, np.zeros(1))[0] for t in times], right, rtol=1e-10)


@pytest.mark.parametrize("count", [45])
def test_many_algebraic_unknowns_are_no_trouble(count: int) -> None:
    rows = ["-x", *(f"z{i} - {i + 1}*x" for i in range(count))]
    names = ["x", *(f"z{i}" for i in range(count))]
    E = np.diag([1.0] + [0.0] * count)
    model = herk.Model("many", names, E, rows, t_span=(0, 1), y0=[1.0, *[None] * count])
    sol = herk.solve_dae(model, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(sol.y[:, -1], np.exp(-1) * np.arange(count + 1).clip(1), rtol=1e-6)


@pytest.mark.parametrize("name", ["andrews", "rods"])
def test_large_mechanisms_are_solved_without_generated_stages_too(name: str) -> None:
    system = testset.get("andrews") if name == "andrews" else rods(3)
    t0, t1 = system.t_span
    span = (t0, t0 + 0.02 * (t1 - t0))
    there, here = (herk.solve_dae(system, span, rtol=1e-6, atol=1e-6, generate=how) for how in (False, True))
    assert there.success, there.message
    size = np.abs(here.y).max(axis=1) + 1e-3
    assert (np.abs(there.y[:, -1] - here.y[:, -1]) <= 1e-3 * size).all()


def test_a_matrix_that_is_singular_everywhere_is_analysed_or_refused_with_a_sentence() -> None:
    rows = ["-x", "y - sin(t) - x"]
    model = herk.Model("rank1", ["x", "y"], [["x", "x"], ["x", "x"]], rows, t_span=(0, 1), y0=[None, None])
    with pytest.raises(herk.HerkError, match=r"\.$"):
        herk.solve_dae(model)
    good = herk.Model("sum", ["x", "y"], [[1, 1], [1, 1]], ["y", "y - x + 1"], t_span=(0, 1), y0=[1, 1])
    sol = herk.solve_dae(good, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(sol.y, [np.ones(sol.t.size), np.exp(sol.t)], rtol=1e-6)  # x = 1, y' = y


def test_a_start_without_an_order_is_refused() -> None:
    with pytest.raises(herk.InputError, match=r"order|sequence"):
        herk.solve_dae(testset.get("academic"), y0={1.0, 2.0})


def test_a_run_of_many_unknowns_keeps_its_libraries_to_one_thread() -> None:
    seen: list[int] = []

    def f(t: float, y: np.ndarray) -> np.ndarray:
        libraries = [each for each in threadpool_info() if each["user_api"] == "blas"]
        used = [
            each for each in libraries if re.search("numpy|scipy", each["filepath"])
        ]  # rivals bring others
        seen.extend(each["num_threads"] for each in used or libraries)
        return -y

    herk.solve_dae(herk.Dae(E=np.eye(80), f=f, n=80), (0, 0.1), np.ones(80), max_steps=3)
    assert seen
    assert set(seen) == {1}


def test_the_time_limit_of_a_run_covers_the_search_for_hidden_constraints() -> None:
    with pytest.raises(herk.HerkError, match="did not end within the time allowed"):
        herk.solve_dae(rods(4), time_limit=1e-3)
    assert herk.solve_dae(rods(2), t_span=(0.0, 0.01), time_limit=600.0).success


def test_a_driven_crank_stays_on_its_branch_between_the_steps_of_radau() -> None:
    rows = ["ax - cos(6*t)", "ay - sin(6*t)", "(s - ax)**2 + ay**2 - 1.44"]
    model = herk.Model("crank", ["ax", "ay", "s"], [[0] * 3] * 3, rows, t_span=(0, 10), y0=[1, 0, 2.2])
    times = np.linspace(0.0, 10.0, 2001)
    sol = herk.solve_dae(model, method="radau5", dense_output=True)
    assert sol.success
    exact = np.cos(6 * times) + np.sqrt(1.44 - np.sin(6 * times) ** 2)
    assert np.abs(sol(times)[2] - exact).max() < 1e-6
