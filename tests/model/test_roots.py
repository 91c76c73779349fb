"""Zeros of functions of time are found with and without a change of sign, in any unit of time."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from herk.model.roots import roots

t, w = sp.symbols("t w", real=True)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_zeros_of_sine_and_of_one_minus_sine_are_found_in_any_unit(unit: float) -> None:
    span, values = (0.1 * unit, 10.0 * unit), {w: 1.0 / unit}
    crossing, touching = roots([sp.sin(w * t)], t, span, values), roots([1 - sp.sin(w * t)], t, span, values)
    np.testing.assert_allclose(sorted(crossing), np.pi * unit * np.arange(1, 4), rtol=1e-12)
    np.testing.assert_allclose(sorted(touching), np.pi * unit * np.array([0.5, 2.5]), rtol=1e-5)


def test_a_function_that_only_comes_close_to_zero_has_none() -> None:
    assert roots([1.001 - sp.sin(t)], t, (0.0, 10.0), {}) == []


def test_functions_of_the_state_and_places_without_a_value_have_none() -> None:
    assert roots([sp.Symbol("y") - t, sp.sqrt(t - 20) + 1], t, (0.0, 10.0), {}) == []


def test_a_pole_is_no_zero() -> None:
    assert roots([2 + 3 / (t - 5)], t, (0.0, 10.0), {}) == [pytest.approx(3.5, rel=1e-14)]


def test_zeros_are_found_backwards_and_at_the_ends() -> None:
    assert roots([t - 2], t, (4.0, 2.0), {}) == [2.0]
    assert roots([sp.cos(t)], t, (3.0, 0.0), {}) == [pytest.approx(np.pi / 2, rel=1e-14)]
