"""Trapezoidal pulses: formula, slope, limits from the left and breakpoints belong to the same signal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

from herk.model.entries import t
from testset.pulses import Pulse

UP_AND_DOWN = Pulse(5, ("15", "5", "15", "5"))
FAST = Pulse(20, ("50e-9", "10e-9", "50e-9", "10e-9"))


@pytest.mark.parametrize(
    ("time", "value", "slope"), [(3, 0, 0), (16, 1, 1), (25, 5, 0), (37, 3, -1), (59, 4, 1), (101, 5, 0)]
)
def test_signal_and_slope_have_the_values_of_the_trapezoid(time, value, slope):
    assert UP_AND_DOWN.signal().subs(t, time) == value
    assert UP_AND_DOWN.slope().subs(t, time) == slope
    assert UP_AND_DOWN.differentiable(120.0).subs(t, time) == value
    assert UP_AND_DOWN.left(time) == (value, slope)


@pytest.mark.parametrize(("time", "before", "behind"), [(15, 0, 1), (20, 1, 0), (35, 0, -1), (40, -1, 0)])
def test_corner_belongs_to_the_part_behind_it_and_its_left_limit_to_the_part_before(time, before, behind):
    assert UP_AND_DOWN.slope().subs(t, time) == behind
    assert UP_AND_DOWN.left(time)[1] == before


@pytest.mark.parametrize(
    ("time", "value", "slope"), [(2, 2, 1), (7, 5, 0), (13, 2, -1), (17, 0, 0), (22, 2, 1)]
)
def test_a_pulse_may_begin_at_once_and_rest_at_the_end(time, value, slope):
    pulse = Pulse(5, ("0", "5", "5", "5", "5"))
    assert pulse.signal().subs(t, time) == value == pulse.differentiable(40.0).subs(t, time)
    assert pulse.slope().subs(t, time) == slope
    assert pulse.left(time) == (value, slope)
    assert set(pulse.breakpoints(20.0)) == {5.0, 10.0, 15.0, 20.0}


def test_breakpoints_are_where_the_slope_changes_the_end_included():
    assert UP_AND_DOWN.breakpoints(40.0) == (15.0, 20.0, 35.0, 40.0)
    breakpoints = FAST.breakpoints(1.2e-6)
    assert len(breakpoints) == 40
    assert breakpoints[-1] == pytest.approx(1.2e-6, rel=1e-15)
    for a, b in pairwise((0.0, *breakpoints)):
        inside = [FAST.left(a + part * (b - a))[1] for part in (0.01, 0.5, 0.99)]
        assert len(set(inside)) == 1


def test_formula_that_can_be_differentiated_is_the_signal_of_every_period():
    formula = sp.lambdify(t, FAST.differentiable(1.2e-6), "math")
    rate = sp.lambdify(t, FAST.differentiable(1.2e-6).diff(t), "math")
    for time in np.linspace(1.3e-9, 1.1937e-6, 97):
        value, slope = FAST.left(time)
        assert formula(time) == pytest.approx(value, abs=1e-12)
        assert rate(time) == pytest.approx(slope)
