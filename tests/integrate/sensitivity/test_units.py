"""Sensitivities are as exact in odd units as in others: pivots are chosen in the units of the unknowns."""

from __future__ import annotations

import numpy as np
import pytest

import herk

PLAIN = [["1 - cos(t)", "1", "0"], ["1", "0", "1"], ["0", "1", "1"]]  # y' = p (1, 2, 3)
UNITS = [([1, 1, 1], [1, 1, 1]), ([1e12, 1, 1], [1e12, 1, 1]), ([1e12, 1, 1e-9], [1e18, 1, 1e3])]


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5"])
@pytest.mark.parametrize(("unit", "row"), UNITS)
def test_an_entry_that_nearly_vanishes_is_no_pivot_because_of_its_unit(unit, row, method: str) -> None:
    """In the units below 1 - cos(t) is the largest number of its column; S lost up to nine digits by it."""
    E = [[f"{row[i] * unit[j]!r}*({PLAIN[i][j]})" for j in range(3)] for i in range(3)]
    slope = np.array([1, 2, 3]) / unit
    f = ["p*(" + " + ".join(f"{E[i][j]}*{float(slope[j])!r}" for j in range(3)) + ")" for i in range(3)]
    model = herk.Model("units", ["a", "b", "c"], E, f, parameters={"p": 1.0}, t_span=(0, 0.01), y0=[0, 0, 0])
    atol = 1e-9 / np.array(unit)
    sol = herk.solve_dae(model, method=method, rtol=1e-9, atol=atol, sensitivities=["p"], max_step=1e-3)
    assert sol.success
    assert np.abs((sol.dyd("p") - slope[:, None] * sol.t) * np.array(unit)[:, None]).max() < 1e-14
