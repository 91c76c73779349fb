"""E by callables with entries that are zero but for rounding: they determine no derivative."""

from __future__ import annotations

import math

import numpy as np
import pytest

import herk
from herk.model.rounding import Cleaned, without_rounding

UNITS = 1e-14, 1.0, 1e9


def nothing(t: float) -> float:
    """Return zero, as rounding has it."""
    return math.sin(t) ** 2 + math.cos(t) ** 2 - 1.0


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", ["dop853", "radau5", "auto"])
def test_a_row_of_rounding_determines_no_derivative(unit: float, method: str) -> None:
    """(x + z)' = -x (sin(t) + sin(t)**2), z = x cos(t): y' from a row of rounding led nowhere."""

    def E(t: float, y: np.ndarray) -> list[list[float]]:
        return [[1.0, 1.0], [0.0, unit * nothing(t)]]

    def f(t: float, y: np.ndarray) -> list[float]:
        return [-y[0] * (math.sin(t) + math.sin(t) ** 2), unit * (y[1] - y[0] * math.cos(t))]

    dae = herk.Dae(E=E, f=f, g=lambda t, y: [y[1] - y[0] * math.cos(t)], n=2, m=1)
    sol = herk.solve_dae(dae, (0.0, 2.0), [1.0, 1.0], method=method, rtol=1e-8, atol=1e-10, max_steps=1000)
    assert sol.success, sol.message
    x = np.exp(np.sin(sol.t) - sol.t)
    np.testing.assert_allclose(sol.y, [x, x * np.cos(sol.t)], atol=1e-6)


def cleaned(entry, y0: float = 1.0, span: tuple[float, float] = (0.0, 2.0)) -> bool:
    """Tell whether such an entry of E is taken for rounding."""
    dae = herk.Dae(E=lambda t, y: [[entry(t, y[0])]], f=lambda t, y: [0.0], n=1)
    return isinstance(without_rounding(dae, span, [y0], np.array([1e-3])).E, Cleaned)


@pytest.mark.parametrize("unit", UNITS)
def test_rounding_is_told_from_what_is_small(unit: float) -> None:
    assert cleaned(lambda t, y: unit * nothing(t))
    assert cleaned(lambda t, y: unit * ((1.0 + y) ** 2 - 1.0 - 2.0 * y - y**2))
    assert cleaned(lambda t, y: nothing(t), span=(1e9, 1e9 + 1.0))
    small = [
        lambda t, y: y - 1.0,  # zero at the start
        lambda t, y: t,
        lambda t, y: math.sin(1e3 * t),
        lambda t, y: 1e-300 * (1.0 + t),
        lambda t, y: math.exp(-(((t - 1.0) / 1e-3) ** 2)),
        lambda t, y: float(t > 1.0),
        lambda t, y: 1.0 + nothing(t),
        lambda t, y: 1e-8 * y + nothing(t),
        lambda t, y: 0.0,
    ]
    for k, entry in enumerate(small):
        assert not cleaned(lambda t, y, entry=entry: unit * entry(t, y)), k
