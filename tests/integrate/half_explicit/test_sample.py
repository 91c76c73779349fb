"""Values between steps are on the branch of the step, however many other solutions g = 0 has."""

from __future__ import annotations

import numpy as np
import pytest

import herk

TIMES = np.linspace(0.0, 8.0, 1001)


def swinging(t: float, y: np.ndarray) -> np.ndarray:
    """Return the constraints of a crank that swings: sin(y1) = 0.95 sin(y0), which every 2 pi solves too."""
    return np.array([2 * np.sin(y[1]) - 1.9 * np.sin(y[0]), y[2] - 1.9 * np.cos(y[0]) - 2 * np.cos(y[1])])


def crank(m: int) -> tuple[herk.Dae, list[float]]:
    """Return it with and without what follows from the angles, and its start."""
    E, rate = np.diag([1.0, 0.0, 0.0][: m + 1]), np.array([5.0, 0.0, 0.0][: m + 1])
    dae = herk.Dae(E=E, f=lambda t, y: rate, g=lambda t, y: swinging(t, np.append(y, 0.0))[:m], n=m + 1, m=m)
    return dae, [0.0, 0.0, 3.9][: m + 1]


@pytest.mark.parametrize("method", ["dopri5", "dop853", "verner98"])
@pytest.mark.parametrize("m", [1, 2])
def test_values_between_steps_are_on_the_branch_of_the_step(m: int, method: str) -> None:
    dae, start = crank(m)
    for rtol in (1e-6, 1e-8):
        sol = herk.solve_dae(dae, (0.0, 8.0), start, method=method, rtol=rtol, atol=rtol, t_eval=TIMES)
        assert sol.success, sol.message
        np.testing.assert_allclose(sol.y[1], np.arcsin(0.95 * np.sin(5 * TIMES)), atol=1e-9)


def test_one_value_alone_is_on_the_branch_of_its_step_too() -> None:
    dae, start = crank(2)
    time = 5.3226666666666667
    sol = herk.solve_dae(dae, (0.0, 8.0), start, rtol=1e-8, atol=1e-8, t_eval=[time])
    assert sol.y[1, 0] == pytest.approx(np.arcsin(0.95 * np.sin(5 * time)), abs=1e-9)
