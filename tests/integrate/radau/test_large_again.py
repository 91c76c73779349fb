"""Machines for many unknowns that serve again: rows and orders of pivots are kept, and checked where used."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import herk
from herk.core import InputError
from herk.integrate.steppers.radau.sparse_machine import SparseMachine

COUNT = 40
TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def circles(speed: float = 1.0, mass: float = 1.0) -> herk.Model:
    """Points on circles: at (1, 0) the constraint determines x, at (0, 1) it determines y."""
    x, y, u = (sp.symbols(f"{name}0:{COUNT}", real=True) for name in "xyu")
    w, m = sp.symbols("w m")
    E = {(i, i): m for i in range(2 * COUNT)}
    f = [m * (-w * (1 + sp.Rational(i, COUNT)) * y[i] + u[i] * x[i]) for i in range(COUNT)]
    f += [m * (w * (1 + sp.Rational(i, COUNT)) * x[i] + u[i] * y[i]) for i in range(COUNT)]
    f += [x[i] ** 2 + y[i] ** 2 - 1 for i in range(COUNT)]
    known = {"parameters": {w: speed, m: mass}, "t_span": (0.0, 1.0), "y0": tuple(at(0.0))}
    return herk.Model("circles", [*x, *y, *u], E, f, **known)


def at(angle: float) -> np.ndarray:
    """Return the state after the slowest point has gone this far."""
    angles = angle * (1 + np.arange(COUNT) / COUNT)
    return np.concatenate([np.cos(angles), np.sin(angles), 0 * angles])


def test_a_machine_begins_elsewhere_and_comes_back_to_the_same_numbers() -> None:
    run = herk.prepare(circles(), method="radau5", **TIGHT)
    machine = run.machine
    assert isinstance(machine, SparseMachine)
    ends = {}
    for start, end in ((0.0, 1.0), (0.3, 5.0), (0.0, 1.0), (1.6, 0.2), (0.3, 5.0), (0.0, 1.0)):
        sol = run.solve((start, end), at(start))
        assert sol.success, sol.message
        assert np.abs(sol.y[:, -1] - at(end)).max() < 1e-7
        assert np.array_equal(ends.setdefault((start, end), sol.y[:, -1]), sol.y[:, -1])
    assert run.machine is machine


def test_nothing_is_factored_anew_in_python_from_a_start_like_the_first() -> None:
    run = herk.prepare(circles(), method="radau5", **TIGHT)
    run.solve((0.0, 0.1))
    machine = run.machine
    assert isinstance(machine, SparseMachine)
    assert machine.held.step is not None
    kept = machine.held.step.address, machine.held.masses.address
    sol = run.solve((0.05, 0.2), at(0.05))
    assert np.abs(sol.y[:, -1] - at(0.2)).max() < 1e-7
    assert (machine.held.step.address, machine.held.masses.address) == kept


def test_other_values_of_parameters_count_in_masses_and_rates() -> None:
    run = herk.prepare(circles(), method="radau5", **TIGHT)
    for speed, mass in ((1.0, 1.0), (-2.0, 1e-3), (0.5, 1e3)):
        sol = run.solve(parameters={"w": speed, "m": mass})
        assert np.abs(sol.y[:, -1] - at(speed)).max() < 1e-7
        again = herk.solve_dae(circles(speed, mass), method="radau5", **TIGHT)
        assert np.abs(again.y[:, -1] - at(speed)).max() < 1e-7


def test_a_start_off_the_constraints_is_still_refused() -> None:
    run = herk.prepare(circles(), method="radau5", **TIGHT)
    with pytest.raises(InputError, match="inconsistent"):
        run.solve(y0=at(0.0) + 0.1 * (np.arange(3 * COUNT) == 7))
    assert run.solve().success


def test_tolerances_of_a_run_are_its_own() -> None:
    run = herk.prepare(circles(), method="radau5", **TIGHT)
    steps = [run.solve(rtol=rtol, atol=rtol).nstep for rtol in (1e-9, 1e-4, 1e-9)]
    assert steps[0] == steps[2] > 2 * steps[1]


def test_times_in_between_do_not_disturb_the_next_run() -> None:
    run = herk.prepare(circles(), method="radau5", **TIGHT)
    times = np.linspace(0.0, 1.0, 7)
    for _ in range(2):
        sol = run.solve(t_eval=times)
        assert np.abs(sol.y - np.array([at(t) for t in times]).T).max() < 1e-7
