"""What contradicts what: rows of E y' = f each other, constraints these; and nothing where E is zero."""

from __future__ import annotations

import numpy as np
import pytest

import herk


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_constraints_contradict_nothing_where_e_is_zero(unit: float) -> None:
    """A wheel of radius 1 drives a slider: all is given by g, and a rate that is zero has no size."""

    def g(t: float, y: np.ndarray) -> np.ndarray:
        x, z, s = y / unit
        return np.array([x - np.cos(7 * t), z - np.sin(7 * t), (s - x) ** 2 + (z - 0.3) ** 2 - 2.25])

    dae = herk.Dae(E=np.zeros((3, 3)), f=lambda t, y: np.zeros(3), g=g, n=3, m=3)
    start = unit * np.array([1.0, 0.0, 1 - np.sqrt(2.16)])
    sol = herk.solve_dae(dae, (0.0, 6.0), start, atol=1e-6 * unit)
    assert sol.success, sol.message
    x, z = np.cos(7 * sol.t), np.sin(7 * sol.t)
    np.testing.assert_allclose(sol.y / unit, [x, z, x - np.sqrt(2.25 - (z - 0.3) ** 2)], atol=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_rows_of_e_that_exclude_each_other_are_refused(unit: float) -> None:
    """x' = 1 and x' = 2: half-explicit methods took the first, and called it a success."""

    def dae(other: float) -> herk.Dae:
        return herk.Dae(
            E=[[1.0, 0.0], [1 / unit, 0.0]],
            f=lambda t, y: np.array([1.0, other / unit]),
            g=lambda t, y: np.array([y[1] - y[0]]),
            n=2,
            m=1,
        )

    with pytest.raises(herk.InputError, match=r"Rows 0, 1 of E y' = f contradict each other.*Correct E or f"):
        herk.solve_dae(dae(2.0), (0.0, 1.0), [0.0, 0.0])
    assert "contradict each other" in herk.check_constraints(dae(2.0), 0.0, [0.0, 0.0])[0]
    sol = herk.solve_dae(dae(1.0), (0.0, 1.0), [0.0, 0.0], rtol=1e-6)
    assert sol.y[:, -1] == pytest.approx([1.0, 1.0], rel=1e-9)
