"""Error estimates that vanish by chance: of y' = lambda y they are polynomials of z = h lambda, with zeros."""

from __future__ import annotations

import numpy as np
import pytest

import herk

Polynomial = np.polynomial.Polynomial
PAIRS = [name for name in herk.METHODS if herk.METHODS[name].adaptive]
TOLERANCES = 1e-4, 1e-6, 1e-8
FORGIVEN = 10  # tolerances, beside the largest |y|: pairs at the edge of their stability are this rough


def polynomial(weights: np.ndarray, method: str) -> np.polynomial.Polynomial:
    """Return sum_j w_j h k_j of y' = lambda y, y = 1, as a polynomial of z."""
    z, tableau = Polynomial([0.0, 1.0]), herk.METHODS[method]
    stages: list[np.polynomial.Polynomial] = []
    for row in [*np.asarray(tableau.A), np.asarray(tableau.b)]:
        stages.append(1.0 + z * sum((a * k for a, k in zip(row, stages, strict=False)), start=0.0 * z))
    return z * sum((w * k for w, k in zip(weights, stages, strict=False)), start=0.0 * z)


def zeros(method: str) -> list[complex]:
    """Return the zeros of the first estimate, those at 0 left out, and one of each conjugate pair."""
    estimate = polynomial(np.asarray(herk.METHODS[method].error[0]), method)
    order = int(np.argmax(np.abs(estimate.coef) > 1e-14 * np.abs(estimate.coef).sum()))
    places = Polynomial(np.where(np.abs(estimate.coef) > 1e-17, estimate.coef, 0.0)[order:]).trim().roots()
    return [complex(z) for z in places if z.imag > -1e-9]


def deceptive(tolerance: float) -> list[tuple[str, complex]]:
    """Return zeros at which the error is large: the estimate alone would call such a step a success."""
    found = []
    for method in PAIRS:
        growth = polynomial(np.asarray(herk.METHODS[method].b), method) + 1.0
        for z in zeros(method):
            off = abs(growth(z) - np.exp(z)) / max(1.0, abs(np.exp(z)))
            found += [(method, z)] if off > 100 * tolerance else []
    return found


def turning(z: complex) -> herk.Model:
    """Return y' = lambda y in real and imaginary parts, |lambda| = 1 and arg lambda = arg z."""
    a, b = float(z.real / abs(z)), float(z.imag / abs(z))
    f = [f"{a!r}*x - ({b!r})*y", f"{b!r}*x + ({a!r})*y"]
    return herk.Model("turning", ["x", "y"], [[1, 0], [0, 1]], f, t_span=(0, 20 * abs(z)), y0=[1, 0])


def test_estimates_have_zeros_at_which_the_error_is_large() -> None:
    assert {method for method, _ in deceptive(1e-8)} == set(PAIRS)
    assert min(abs(z + 1.0) for z in zeros("bs32")) < 1e-12  # -(z^3 + z^4)/48


@pytest.mark.parametrize(
    ("method", "z", "tolerance"), [(*case, tol) for tol in TOLERANCES for case in deceptive(tol)]
)
@pytest.mark.parametrize("beside", [-1e-3, 0.0, 1e-4])
def test_an_estimate_that_vanishes_by_chance_is_not_believed(
    method: str, z: complex, tolerance: float, beside: float
) -> None:
    settings = {"method": method, "rtol": tolerance, "atol": tolerance}
    sol = herk.solve_dae(turning(z), first_step=abs(z) * (1 + beside), max_steps=1, **settings)
    right = np.exp(sol.t[-1] * z / abs(z))
    off = abs(complex(*sol.y[:, -1]) - right)
    assert off < FORGIVEN * tolerance * max(1.0, abs(right))


def test_a_first_step_chosen_by_herk_may_land_on_a_zero_of_the_estimate() -> None:
    # 3e-8 of a decay with the rate 1e8: bs32 went there in steps of which the first had h * lambda = -1.
    model = herk.Model("decay", ["x"], [[1]], ["-1e8*x"], t_span=(0, 3e-8), y0=[1])
    sol = herk.solve_dae(model, method="bs32")
    assert sol.success
    assert abs(sol.y[0, -1] - np.exp(-3.0)) < 1e-5


@pytest.mark.parametrize("method", PAIRS)
def test_an_estimate_that_vanishes_with_the_error_is_believed(method: str) -> None:
    # y = t^2/2 is exact in every pair: steps grow without one that is rejected.
    model = herk.Model("fall", ["x", "v"], [[1, 0], [0, 1]], ["v", "1"], t_span=(0, 10), y0=[0, 0])
    sol = herk.solve_dae(model, method=method)
    assert sol.success
    assert sol.nreject == 0
    np.testing.assert_allclose(sol.y[:, -1], [50.0, 10.0], rtol=1e-12)
