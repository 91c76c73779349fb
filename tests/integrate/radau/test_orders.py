"""Radau has order 5, 9, 13 in every component, whatever the index, and no drift: constraints hold to rounding."""

from __future__ import annotations

from dataclasses import replace
from math import cos, exp, sin

import mpmath
import numpy as np
import pytest

import herk
import testset
from tests.integrate.extended import long_numbers
from tests.integrate.precise_systems import PENDULUM as PRECISE_PENDULUM
from tests.integrate.radau import precise
from tests.integrate.systems import ACADEMIC, PENDULUM, SELECTOR, System

ORDER = 5
SELECTION = "complete"  # rows by the point alone: those kept while they are good change at times that scatter


def errors(system: System, counts: tuple[int, ...], t_span: tuple[float, float]) -> np.ndarray:
    """Return the largest error of every component over time, one row for each number of steps."""
    found = []
    for count in counts:
        step = (t_span[1] - t_span[0]) / count
        how = {"method": "radau5", "step": step, "selection": SELECTION}
        sol = herk.solve_dae(system.dae, t_span, system.exact(t_span[0]), **how)
        assert sol.success, sol.message
        assert sol.nstep == count
        assert sol.residual < 1e-12
        found.append(np.abs(sol.y - np.array([system.exact(t) for t in sol.t]).T).max(axis=1))
    return np.array(found)


def slope(found: np.ndarray) -> np.ndarray:
    """Return the observed order from the longest to the shortest step, which are a factor of four apart."""
    return np.log2(found[0] / found[-1]) / (len(found) - 1)


def two_index_f(t, y):
    return np.array([y[1] - 0.5 * y[2], -y[0] + y[2] * cos(t), y[0] - sin(t)])


def two_index_g(t, y):  # x = sin t, so x' = cos t = y - z/2, and z follows from its derivative
    return np.array([y[0] - sin(t), y[1] - 0.5 * y[2] - cos(t)])


# (span, numbers of steps): errors between the range of asymptotics and rounding
CASES = {
    "pendulum of index 3": (PENDULUM, (0.0, 0.5), (20, 40, 80)),
    "selector of index 2": (SELECTOR, SELECTOR.t_span, (8, 16, 32)),
    "academic of index 1": (ACADEMIC, ACADEMIC.t_span, (4, 8, 16)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_component_converges_with_order_five(name: str) -> None:
    system, span, counts = CASES[name]
    found = errors(system, counts, span)
    visible = found[-1] > 1e-13 * (1.0 + np.abs(system.exact(span[1])))
    assert visible.any()
    assert slope(found[:, visible]) == pytest.approx(ORDER, abs=0.25)


@pytest.mark.parametrize(("method", "order"), [("radau5", 5), ("radau9", 9), ("radau13", 13)])
def test_every_order_holds_in_every_component_of_index_three_in_long_numbers(
    method: str, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, t_end = replace(PRECISE_PENDULUM, t_span=("0", "0.1")), "0.1"
    with long_numbers():
        exact, found = problem.exact(mpmath.mpf(t_end)), []
        for count in (2, 4):
            _, points = precise.solve(problem, method, count, t_end, monkeypatch)
            ends = [mpmath.mpf(str(value)) for value in points[-1]]
            found.append([float(abs(end - value)) for end, value in zip(ends, exact, strict=True)])
    assert slope(np.array(found)) == pytest.approx(order, abs=0.3)


def test_models_and_callables_have_the_same_order_in_positions_velocities_and_multipliers() -> None:
    problem = testset.get("pendulum")
    counts, found = (20, 40, 80), []
    for count in counts:
        sol = herk.solve_dae(problem.dae, (0.0, 0.5), method="radau5", step=0.5 / count, selection=SELECTION)
        exact = np.array([problem.reference.exact(t) for t in sol.t]).T
        found.append([np.abs(sol.y - exact)[list(rows)].max() for rows in problem.groups.values()])
    assert len(problem.groups) == 3
    assert slope(np.array(found)) == pytest.approx(ORDER, abs=0.25)


def test_the_order_does_not_depend_on_the_index_of_an_algebraic_component_with_its_own_equation() -> None:
    """x = sin t is prescribed, y and z follow: y - z/2 = cos t, y' = -x + z cos t."""
    dae = herk.Dae(E=np.diag([1.0, 1.0, 0.0]), f=two_index_f, g=two_index_g, n=3, m=2)

    def exact(t: float) -> np.ndarray:
        """z' / 2 = y' + sin t = z cos t, hence z = exp(2 sin t)."""
        z = exp(2.0 * sin(t))
        return np.array([sin(t), cos(t) + 0.5 * z, z])

    system = System("prescribed", dae, (0.0, 1.0), exact)
    found = errors(system, (8, 16, 32), system.t_span)
    assert slope(found[:, 1:]) == pytest.approx(ORDER, abs=0.25)
    assert found[:, 0].max() < 1e-14  # the constraint itself


def drift(periods: int) -> herk.Solution:
    problem = testset.get("pendulum", t_end=2.0 * periods)
    sol = herk.solve_dae(problem, method="radau5", rtol=1e-5, atol=1e-8)
    assert sol.success, sol.message
    x, y, v, w, _ = sol.y
    assert np.abs(x * x + y * y - 1.0).max() < 1e-13
    assert np.abs(x * v + y * w).max() < 1e-12
    return sol


def test_constraints_hold_to_rounding_over_a_hundred_periods() -> None:
    assert drift(100).residual < 1e-11


@pytest.mark.slow
def test_constraints_hold_to_rounding_over_a_thousand_periods() -> None:
    assert drift(1000).residual < 1e-11
