"""Constraints that say nothing at the end of the span: what is found there is rounding, and no success."""

from __future__ import annotations

import numpy as np
import pytest

import herk

MOVING = ["(1 + t)*x' = -x*(1 + t)", "w' = cos(t)"]
CHOICE = ["x' + sin(t)*z' = -x + sin(t)*(cos(t) - exp(-t))", "w' + t*x' = cos(t) - t*x"]


def vanishing(equations: list[str], zero: float, end: float, power: int) -> herk.Model:
    """Return a model with x = exp(-t), w = sin(t), z = x + w; z is multiplied by (t - zero)^power, expanded."""
    factors = {1: f"(3*t - {3 * zero})", 2: f"(t**2 - {2 * zero}*t + {zero * zero})"}
    constraint = f"0 = {factors[power]}*z - {factors[power]}*x - {factors[power]}*sin(t)"
    start = {"x": 1, "w": 0, "z": 1}
    return herk.Model.from_equations("last", [*equations, constraint], start=start, t_span=(0, end))


@pytest.mark.parametrize("equations", [MOVING, CHOICE], ids=["moving", "choice"])
@pytest.mark.parametrize(("zero", "power"), [(1.0, 1), (1.1, 2)])
def test_a_run_ends_before_a_last_point_that_rounding_decides_on(
    equations: list[str], zero: float, power: int
) -> None:
    sol = herk.solve_dae(vanishing(equations, zero, zero, power), method="radau5")
    assert not sol.success
    assert zero * (1 - 1e-3) < sol.t[-1] < zero
    right = np.array([np.exp(-sol.t), np.sin(sol.t), np.exp(-sol.t) + np.sin(sol.t)])
    order = [sol.names.index(name) for name in "xwz"]
    before = sol.t < zero * (1 - 1e-6)
    np.testing.assert_allclose(sol.y[order][:, before], right[:, before], atol=1e-5)


@pytest.mark.parametrize("equations", [MOVING, CHOICE], ids=["moving", "choice"])
def test_a_last_point_near_such_a_place_is_reached(equations: list[str]) -> None:
    end = 1.0 - 1e-4
    sol = herk.solve_dae(vanishing(equations, 1.0, end, 1), method="radau5")
    assert sol.success
    assert sol.y[sol.names.index("z"), -1] == pytest.approx(np.exp(-end) + np.sin(end), abs=1e-5)
