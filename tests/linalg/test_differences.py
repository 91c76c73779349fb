"""Steps of differences follow spans and sizes of unknowns: any units give the same digits."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.linalg.differences import time_size, time_step
from herk.model.evaluate import jacobian


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("t", [0.0, 3.0, 1e4])
def test_a_central_difference_has_two_thirds_of_the_digits_in_any_unit(unit: float, t: float) -> None:
    step = time_step(t * unit, time_size(0.0, 100 * unit))
    time = t * unit
    high, low = time + step, time - step
    slope = (np.sin(high / unit) - np.sin(low / unit)) / (high - low) * unit
    assert abs(slope - np.cos(t)) < 1e-9 * max(1.0, t)  # (eps t)^(2/3), and some room


def mixed(unit: float) -> herk.Dae:
    """x' + z'/2 in one row and no formula for dg/dt: x = sin(t/unit), z = cos(t/unit)."""
    return herk.Dae(
        E=lambda t, y: np.array([[1.0, 0.5], [0.0, 0.0]]),
        f=lambda t, y: np.array([(np.cos(t / unit) - 0.5 * np.sin(t / unit)) / unit, 0.0]),
        g=lambda t, y: np.array([y[0] - np.sin(t / unit)]),
        n=2,
        m=1,
    )


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("since", [0.0, 1e4])
def test_constraints_by_callables_move_alike_in_any_unit_of_time(
    unit: float, since: float, method: str
) -> None:
    start = [np.sin(since), np.cos(since)]
    span = (since * unit, (since + 6) * unit)
    sol = herk.solve_dae(mixed(unit), span, start, method=method, rtol=1e-8, atol=1e-10)
    assert sol.success
    np.testing.assert_allclose(sol.y, [np.sin(sol.t / unit), np.cos(sol.t / unit)], atol=1e-6)


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e-12, 1e-12), (1e12, 1e12), (1e-12, 1e6), (1e9, 1e-12)])
@pytest.mark.parametrize("pairs", [1, 60])
def test_slopes_of_constraints_by_callables_are_right_in_any_units(
    pairs: int, units: tuple[float, float]
) -> None:
    a, b = units

    def g(t: float, y: np.ndarray) -> np.ndarray:
        return (y[:pairs] / a) ** 3 - (y[pairs:] / b) ** 5

    dae = herk.Dae(E=np.zeros((2 * pairs, 2 * pairs)), f=lambda t, y: 0.0 * y, g=g, n=2 * pairs, m=pairs)
    x, z = np.linspace(1.0, 2.0, pairs), np.linspace(2.0, 0.5, pairs)
    found = jacobian(dae, 0.0, np.concatenate([a * x, b * z]))
    exact = np.hstack([np.diag(3 * x**2 / a), np.diag(-5 * z**4 / b)])
    np.testing.assert_allclose(found, exact, rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0])
def test_unknown_that_is_zero_moves_by_what_its_neighbours_are(unit: float) -> None:
    dae = herk.Dae(
        E=np.zeros((2, 2)),
        f=lambda t, y: 0.0 * y,
        g=lambda t, y: [(y[0] / unit) ** 2 + np.sin(y[1] / unit) - 1],
        n=2,
        m=1,
    )
    np.testing.assert_allclose(unit * jacobian(dae, 0.0, np.array([unit, 0.0])), [[2.0, 1.0]], rtol=1e-6)


def test_slope_that_vanishes_is_not_looked_for_far_away() -> None:
    dae = herk.Dae(
        E=np.zeros((2, 2)), f=lambda t, y: 0.0 * y, g=lambda t, y: [y[1] ** 3 + y[0] - 1.0], n=2, m=1
    )
    np.testing.assert_allclose(jacobian(dae, 0.0, np.array([1.0, 0.0])), [[1.0, 0.0]], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 1e-9, 1e-13, 1e-17])
def test_value_near_zero_by_chance_does_not_make_its_step_short(value: float) -> None:
    dae = herk.Dae(
        E=np.zeros((2, 2)), f=lambda t, y: 0.0 * y, g=lambda t, y: [np.sin(y[1]) + y[0] - 1.0], n=2, m=1
    )
    np.testing.assert_allclose(jacobian(dae, 0.0, np.array([1.0, value])), [[1.0, 1.0]], rtol=1e-6)


@pytest.mark.parametrize("raising", [False, True])
@pytest.mark.parametrize("pairs", [1, 60])
def test_slopes_at_the_edge_of_a_domain_are_taken_on_its_side(pairs: int, raising: bool) -> None:
    # sqrt(x^3) and (1 - z)^(5/2) at x = 0 and z = 1: the domain ends below for one unknown, above for the other
    def g(t: float, y: np.ndarray) -> np.ndarray:
        x, z = y[:pairs], y[pairs:]
        if raising and (min(x) < 0 or max(z) > 1):
            raise ValueError("outside")
        return np.concatenate([x + np.sqrt(x**3), z - (1 - z) ** 2.5])

    zero = np.zeros((2 * pairs, 2 * pairs))
    dae = herk.Dae(
        E=zero, f=lambda t, y: 0.0 * y, g=g, n=2 * pairs, m=2 * pairs, jac_g_sparsity=np.eye(2 * pairs)
    )
    found = jacobian(dae, 0.0, np.concatenate([np.zeros(pairs), np.ones(pairs)]))
    np.testing.assert_allclose(found, np.eye(2 * pairs), atol=1e-2)


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_an_unknown_that_is_zero_moves_by_what_its_tolerance_tells_of_its_size(method: str) -> None:
    """x = exp(-t), z = 1e9 sin(t): by steps that fit x nothing of z was seen, and g contradicted x' = -x."""
    dae = herk.Dae(
        E=np.diag([1.0, 0.0]),
        f=lambda t, y: np.array([-y[0], 0.0]),
        g=lambda t, y: np.array([y[1] / 1e9 - np.sin(t) + y[0] - np.exp(-t)]),
        n=2,
        m=1,
    )
    sol = herk.solve_dae(dae, (0.0, 1.0), [1.0, 0.0], atol=[1e-9, 1.0], rtol=1e-9, method=method)
    assert sol.y[:, -1] == pytest.approx([np.exp(-1), 1e9 * np.sin(1)], rel=1e-7)


def test_an_entry_that_is_lost_in_one_row_only_is_found() -> None:
    """x z and z to 1e-10 of it in one row, x alone in another: each entry is an exact coefficient."""
    sizes = np.array([1e9, 1e4])
    dae = herk.Dae(
        E=np.zeros((2, 2)),
        f=lambda t, y: 0.0 * y,
        g=lambda t, y: [1e-15 * y[0], 1e-10 * y[1] + 1e-16 * y[0] * y[1] - 1e-6],
        n=2,
        m=2,
    )
    found = jacobian(dae, 0.0, np.array([0.0, 1e4]), sizes)
    np.testing.assert_allclose(found, [[1e-15, 0.0], [1e-12, 1e-10]], rtol=1e-6)
