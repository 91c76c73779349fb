"""Descriptions of problems: equations as people write them."""

from __future__ import annotations

from herk.bench import describe
from herk.model.model import Model


def test_factors_stand_before_derivatives_and_ones_are_not_written():
    model = Model("rows", ["x", "y"], [[-1, 1], [1, -1]], ["x", "y"], t_span=(0, 1), y0=(0, 0))
    assert [describe._left(model, row) for row in range(2)] == [r"- \dot{x} + \dot{y}", r"\dot{x} -  \dot{y}"]
