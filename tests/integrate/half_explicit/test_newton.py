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
