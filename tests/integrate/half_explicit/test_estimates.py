"""Error estimates where one of them vanishes by chance: of y' = -y it is a polynomial of the step, with zeros."""

from __future__ import annotations

import numpy as np
import pytest

import herk

TOLERANCE = 1e-8
DOP853 = herk.METHODS["dop853"]


def polynomial(weights: np.ndarray) -> np.polynomial.Polynomial:
    """Return sum_j w_j h k_j of y' = -y, y = 1, as a polynomial of z = -h."""
    z = np.polynomial.Polynomial([0.0, 1.0])
    stages: list[np.polynomial.Polynomial] = []
    for row in [*np.asarray(DOP853.A), np.asarray(DOP853.b)]:
        stages.append(1.0 + z * sum((a * k for a, k in zip(row, stages, strict=False)), start=0.0 * z))
    return z * sum((w * k for w, k in zip(weights, stages, strict=False)), start=0.0 * z)


def deceptive() -> list[float]:
    """Return steps for y' = -y at which the finer estimate vanishes, while the error is large."""
    rows = np.asarray(DOP853.error)
    fine = polynomial(rows[0])
    roots = fine.roots()
    real = -roots[np.abs(roots.imag) < 1e-9].real
    growth = polynomial(np.asarray(DOP853.b)) + 1.0
    return [float(h) for h in real if h > 0.1 and abs(growth(-h) - np.exp(-h)) > 100 * TOLERANCE]


def test_the_finer_estimate_has_a_zero_at_which_the_error_is_large() -> None:
    assert len(deceptive()) > 0


@pytest.mark.parametrize("h", deceptive())
@pytest.mark.parametrize("beside", [-1e-3, 0.0, 1e-4])
def test_an_estimate_that_vanishes_by_chance_is_not_believed(h: float, beside: float) -> None:
    model = herk.Model("decay", ["y"], [[1]], ["-y"], t_span=(0, 20 * h), y0=[1])
    settings = {"method": "dop853", "rtol": TOLERANCE, "atol": TOLERANCE}
    sol = herk.solve_dae(model, first_step=h * (1 + beside), max_steps=1, **settings)
    assert abs(sol.y[0, -1] - np.exp(-sol.t[-1])) < 10 * TOLERANCE
