"""Newton's iteration for constraints given as callables: it ends where rounding allows no better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import herk

APART = 1e-4  # how much the two constraints differ


def loud(t: float, y: np.ndarray) -> np.ndarray:
    """Return constraints of b = cos x and a = x + 3 - b, in sums of terms much larger than their values."""
    x, a, b = y
    a, b = 12.0 * a - 11.0 * a, 12.0 * b - 11.0 * b
    return np.array([a + b - x - 3.0, a + b * (1.0 + APART) - x - 3.0 - APART * np.cos(x)])


@pytest.mark.parametrize("how", [{}, {"jac_g_sparsity": np.ones((2, 3))}], ids=["full", "on a pattern"])
def test_constraints_that_rounding_disturbs_more_than_their_terms_tell_are_solved(
    how: dict[str, Any],
) -> None:
    dae = herk.Dae(
        n=3,
        m=2,
        E=np.diag([1.0, 0.0, 0.0]),
        f=lambda t, y: np.array([np.sin(y[0]) + 2.0, 0.0, 0.0]),
        g=loud,
        **how,
    )
    sol = herk.solve_dae(dae, (0.0, 10.0), [0.0, 2.0, 1.0], method="dop853")
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[2], np.cos(sol.y[0]), atol=100 * np.finfo(float).eps * 12.0 / APART)


EVEN = {
    "a pole of second order at t = 1": (lambda t, y: np.array([y[1] * (1 - y[0]) ** 2 - 1]), 2.0, 1.0),
    "two branches that cross at pi/2": (
        lambda t, y: np.array([y[1] ** 2 - np.cos(y[0]) ** 2]),
        1.7,
        np.pi / 2,
    ),
}


@pytest.mark.parametrize("method", ["dopri5", "dop853", "verner98"])
@pytest.mark.parametrize("place", EVEN)
def test_a_run_ends_where_a_row_of_the_constraints_vanishes_as_a_whole(place: str, method: str) -> None:
    """Of one row in units of itself nothing vanishes: runs went across, and were called a success."""
    g, t_end, there = EVEN[place]
    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=lambda t, y: np.array([1.0, 0.0]), g=g, n=2, m=1)
    sol = herk.solve_dae(dae, (0.0, t_end), [0.0, 1.0], method=method, rtol=1e-6, atol=1e-6)
    assert sol.reason == "singular", sol.message
    assert abs(sol.t[-1] - there) < 1e-2


def test_a_row_that_dies_away_is_no_singular_place() -> None:
    """x = sin t, however small the factor in front of it."""
    dae = herk.Dae(
        E=np.diag([1.0, 0.0]),
        f=lambda t, y: np.array([1.0, 0.0]),
        g=lambda t, y: np.array([np.exp(-5 * y[0]) * (y[1] - np.sin(y[0]))]),
        n=2,
        m=1,
    )
    sol = herk.solve_dae(dae, (0.0, 10.0), [0.0, 0.0], rtol=1e-6, atol=1e-6)
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[1], np.sin(sol.t), atol=1e-9)
