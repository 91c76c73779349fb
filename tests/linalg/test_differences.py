"""Steps of differences in time follow the span, so that seconds and years give the same digits."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.linalg.differences import time_size, time_step


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
