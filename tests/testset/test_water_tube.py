"""The water tube system: mass is kept, switches are found where quadruple precision finds them.

And no step crosses them.
"""

from __future__ import annotations

import numpy as np
import pytest

import testset
from herk.integrate.solve import solve_dae
from testset.water_tube import SWITCHED, supply

ATOL = np.array([1e-3] * 18 + [1.0] * 18 + [1e3] * 13)


def test_supply_has_the_derivatives_it_says():
    for t in (2000.0, 5000.0, 40000.0):
        for order in (0, 1):
            slope = (supply(t + 5.0, order) - supply(t - 5.0, order)) / 10.0
            np.testing.assert_allclose(supply(t, order + 1), slope, rtol=1e-4)


def test_friction_factor_of_the_start_is_the_root_at_the_critical_number():
    p = testset.get("water_tube")
    assert np.abs(p.dae.g(0.0, p.y0)).max() < 1e-14


@pytest.mark.slow
def test_switches_come_when_they_should_and_the_flows_are_right():
    p = testset.get("water_tube")
    solution = solve_dae(p, method="dop853", rtol=1e-10, atol=1e-10 * ATOL)
    found = np.sort(np.concatenate(solution.t_events))
    np.testing.assert_allclose(found, SWITCHED, atol=1e-3)
    flows = list(p.groups["flows"])
    assert (
        np.abs(solution.y[flows, -1] - p.reference.y[flows]).max() < 1e-8 * np.abs(p.reference.y[flows]).max()
    )
    for time in SWITCHED:
        assert np.abs(solution.t - time).min() < 1e-3  # every switch is a point of the run
