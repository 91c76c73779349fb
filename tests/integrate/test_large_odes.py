"""Many unknowns without constraints: E and Jacobians are values on patterns there as well."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array

import herk
from herk.integrate.options import request
from herk.integrate.prepared import OPTIONS
from herk.integrate.start import started
from herk.integrate.steppers.half_explicit.sparse_machine import SparseMachine as Explicit
from herk.integrate.steppers.radau.sparse_machine import SparseMachine as Implicit

MODES = (1, 3)  # eigenvectors of the second difference, sin(k pi x), that a start is made of


def rates(count: int) -> np.ndarray:
    """Return minus the eigenvalues of the second difference that belong to them."""
    return np.array([4 * (count + 1) ** 2 * np.sin(k * np.pi / (2 * (count + 1))) ** 2 for k in MODES])


def heat_at(t: float, count: int) -> np.ndarray:
    x = np.arange(1, count + 1) / (count + 1)
    waves = np.array([np.sin(k * np.pi * x) for k in MODES])
    return np.exp(-rates(count) * t) @ waves


def second_differences(unknowns: list[str], factor: str) -> list[str]:
    wide = ["0", *unknowns, "0"]
    return [f"{factor}*({a} - 2*{b} + {c})" for a, b, c in zip(wide[:-2], wide[1:-1], wide[2:], strict=True)]


@cache
def heat(count: int) -> herk.Model:
    y = [f"y{i}" for i in range(count)]
    E = {(i, i): 1 for i in range(count)}
    f = second_differences(y, str((count + 1) ** 2))
    return herk.Model("heat", y, E, f, t_span=(0.0, 0.1), y0=tuple(heat_at(0.0, count)))


@pytest.mark.parametrize("method", ["radau5", "radau", "auto"])
def test_heat_of_many_unknowns_is_that_of_its_eigenvectors(method: str) -> None:
    sol = herk.solve_dae(heat(2000), method=method, rtol=1e-7, atol=1e-10)
    assert sol.success, sol.message
    assert sol.methods[-1].method.startswith("radau")
    assert np.abs(sol.y[:, -1] - heat_at(0.1, 2000)).max() < 1e-7


@pytest.mark.parametrize(("method", "kind"), [("dop853", Explicit), ("radau5", Implicit)])
def test_memory_of_a_run_grows_with_the_unknowns(method: str, kind: type) -> None:
    words = []
    for count in (500, 2000):
        machine = started(request(heat(count), None, None, method, OPTIONS, {})).machine
        assert isinstance(machine, kind)
        words.append(machine.state.words.size / count)
    assert words[1] < 1.1 * words[0] < 200


def waves(count: int, **parameters: float) -> herk.Model:
    """m q'' = second difference of q, as a system of first order with a mass that is a parameter."""
    q, v = ([f"{name}{i}" for i in range(count)] for name in "qv")
    E = {(i, i): 1 for i in range(count)} | {(count + i, count + i): "m" for i in range(count)}
    f = [*v, *second_differences(q, "1")]
    start = np.concatenate([wave_at(0.0, count, 1.0), np.zeros(count)])
    return herk.Model(
        "waves", [*q, *v], E, f, parameters={"m": 1.0} | parameters, t_span=(0.0, 9.0), y0=start
    )


def wave_at(t: float, count: int, m: float) -> np.ndarray:
    x = np.arange(1, count + 1) / (count + 1)
    speeds = np.sqrt(rates(count) / m) / (count + 1)
    return np.cos(speeds * t) @ np.array([np.sin(k * np.pi * x) for k in MODES])


@pytest.mark.parametrize("consistent", ["check", "project"])
def test_explicit_runs_follow_the_values_of_parameters_in_e(consistent: str) -> None:
    run = herk.prepare(waves(60), method="dop853", rtol=1e-9, atol=1e-12, consistent=consistent)
    for m in (1.0, 4.0, 1.0, 1.0):
        sol = run.solve(parameters={"m": m})
        assert np.abs(sol.y[:60, -1] - wave_at(9.0, 60, m)).max() < 1e-8
        again = herk.solve_dae(waves(60, m=m), method="dop853", rtol=1e-9, atol=1e-12)
        assert np.array_equal(again.y[:, -1], sol.y[:, -1])


def test_values_between_explicit_steps_are_exact() -> None:
    times = np.linspace(0.0, 9.0, 13)
    sol = herk.solve_dae(waves(60), method="dop853", rtol=1e-10, atol=1e-12, t_eval=times, dense_output=True)
    wanted = np.array([wave_at(t, 60, 1.0) for t in times])
    assert np.abs(sol.y[:60].T - wanted).max() < 1e-8
    assert np.abs(sol.sol(4.321)[:60] - wave_at(4.321, 60, 1.0)).max() < 1e-8


@pytest.mark.parametrize("method", ["dop853", "radau5"])
def test_callables_with_a_sparse_e_that_couples_neighbours(method: str) -> None:
    count = 150
    i = np.arange(count)
    E = csr_array(
        diags_array([np.ones(count - 1), np.full(count, 4.0), np.ones(count - 1)], offsets=(-1, 0, 1))
    )
    dae = herk.Dae(E=E, f=lambda t, y: E @ (np.cos(t + i) + np.sin(t + i) - y), n=count, m=0)
    sol = herk.solve_dae(dae, (0.0, 2.0), np.sin(i), method=method, rtol=1e-9, atol=1e-12)
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] - np.sin(2.0 + i)).max() < 1e-8


@pytest.mark.parametrize("method", ["auto", "dopri5", "dop853", "radau5"])
@pytest.mark.parametrize("unit", [(1, 1, 1), (1e12, 1, 1), (1e12, 1, 1e-9)])
def test_rows_of_a_moving_E_are_solved_in_the_units_of_the_unknowns(unit, method: str) -> None:
    """y' = (1, 2, 3), forty times; 1 - cos(t), which vanishes at 0, is the largest number of its column."""
    plain = [["1 - cos(t)", "1", "0"], ["1", "0", "1"], ["0", "1", "1"]]
    slope = np.array([1, 2, 3]) / unit
    block = [[f"{unit[0] * unit[j]!r}*({plain[i][j]})" for j in range(3)] for i in range(3)]
    row = [
        " + ".join(f"{block[i][j]}*{float(slope[j])!r}" for j in range(3) if plain[i][j] != "0")
        for i in range(3)
    ]
    E = {
        (3 * k + i, 3 * k + j): block[i][j]
        for k in range(40)
        for i in range(3)
        for j in range(3)
        if plain[i][j] != "0"
    }
    states = [f"y{i}" for i in range(120)]
    model = herk.Model("copies", states, E, row * 40, t_span=(0, 1), y0=[0] * 120)
    sol = herk.solve_dae(model, method=method, rtol=1e-9, atol=np.tile(1e-9 / np.array(unit), 40))
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] / np.tile(slope, 40) - 1).max() < 1e-12
