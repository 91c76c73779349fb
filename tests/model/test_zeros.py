"""Zeros of functions of time are found wherever a formula says where they are, and otherwise by its values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import herk
from herk.model.periods import TooOften
from herk.model.zeros import zeros


def of(formula: str, t0: float, t1: float) -> np.ndarray:
    model = herk.Model("m", ["x"], [[1]], [formula], t_span=(t0, t1), y0=[0])
    found = zeros(model.f[0], model.t, (t0, t1))
    return found[(found >= t0) & (found <= t1)]


HALF = math.sqrt(math.log(2))
CASES = {
    "(t - 5.0003)**2 - 1e-8": (0, 10, [5.0002, 5.0004]),
    "t**2 - 10*t + 24.99999999": (0, 10, [4.9999, 5.0001]),
    "(t - 5.0002)*(5.0004 - t)": (0, 10, [5.0002, 5.0004]),
    "1 - ((t - 5.0003)/1e-7)**2": (0, 10, [5.0002999, 5.0003001]),
    "t**3 - 3*t + 1": (-3, 3, [2 * math.cos(2 * math.pi * k / 9) for k in (1, 2, 4)]),
    "sin(t) - 1 + 1e-8": (0, 6, [math.pi / 2 - math.acos(1 - 1e-8), math.pi / 2 + math.acos(1 - 1e-8)]),
    "exp(-((t - 5)/1e-3)**2) - 0.5": (0, 10, [5 - 1e-3 * HALF, 5 + 1e-3 * HALF]),
    "tanh((t - 3)/1e-3)**2 - 0.25": (0, 10, [3 - 1e-3 * math.atanh(0.5), 3 + 1e-3 * math.atanh(0.5)]),
    "Abs(t - 5.00001) - 1e-6": (0, 10, [5.000009, 5.000011]),
    "t + 1/(t - 4)": (0, 10, [2 - math.sqrt(3), 2 + math.sqrt(3), 4]),  # the last a pole
    "2**t - 8": (0, 10, [3]),
    "atan(t - 3) - 1": (0, 10, [3 + math.tan(1)]),
    "cos(t)*(t - 2)": (0, 4, [math.pi / 2, 2]),
    "Abs(t - 5) + t/1000 - 0.00501": (0, 10, [(5 - 0.00501) / (1 - 1e-3), 5.00501 / (1 + 1e-3)]),
    "erf(t - 2)": (0, 10, [2]),
    "sqrt(t) - 2": (0, 10, [4]),
    "log(t) - 1": (0.1, 10, [math.e]),
}


@pytest.mark.parametrize("formula", CASES)
def test_zeros_are_where_they_are_by_hand(formula: str) -> None:
    t0, t1, right = CASES[formula]
    found = of(formula, t0, t1)
    assert len(found) == len(right)
    assert found == pytest.approx(np.sort(right), abs=1e-13 * t1, rel=1e-9)


@pytest.mark.parametrize(
    "formula", ["t**2 + 1e-9", "sin(t) - 1.001", "exp(-t)", "Abs(t - 3) + 1e-7", "tanh(t) - 2"]
)
def test_what_only_comes_near_to_zero_has_none(formula: str) -> None:
    assert of(formula, -10, 10).size == 0


def test_what_returns_is_met_in_every_period() -> None:
    found = of("Mod(t, 1) - 0.25", 0.1, 9000.1)
    assert found == pytest.approx(np.sort([*np.arange(0.25, 9000), *np.arange(1, 9001)]), abs=1e-9)
    beats = of(
        "sin(2*pi*t)*cos(3*pi*t)", 0.01, 100.1
    )  # zero at halves and at odd sixths, once where both are
    right = {(k / 2) for k in range(1, 201)} | {(2 * k + 1) / 6 for k in range(300)}
    assert found.size == 18000
    assert beats == pytest.approx(sorted(right), abs=1e-9)


def test_two_zeros_between_neighbouring_samples_are_found_in_sums_too() -> None:
    """sin t + cos t - s with s just below the square root of 2, beside a term that spoils every pattern."""
    height = math.sqrt(2) * math.cos(1e-4)
    found = of(f"sin(t) + cos(t) + 1e-300*t**3 - {height!r}", 0, 6)
    assert found == pytest.approx([math.pi / 4 - 1e-4, math.pi / 4 + 1e-4], abs=1e-9)


@pytest.mark.parametrize("formula", ["Mod(t, 1e-7) - 1e-8", "sin(1e8*t) - 0.5", "sin(t**3*1e6) + t"])
def test_too_many_zeros_are_not_given_up_silently(formula: str) -> None:
    with pytest.raises(TooOften):
        of(formula, 0, 10)
