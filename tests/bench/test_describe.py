"""Descriptions of problems: equations as people write them."""

from __future__ import annotations

import testset
from herk.bench import describe
from herk.model.model import Model


def test_factors_stand_before_derivatives_and_ones_are_not_written():
    model = Model("rows", ["x", "y"], [[-1, 1], [1, -1]], ["x", "y"], t_span=(0, 1), y0=(0, 0))
    assert [describe._left(model, row) for row in range(2)] == [r"- \dot{x} + \dot{y}", r"\dot{x} -  \dot{y}"]


def test_of_very_many_formulas_the_first_are_shown_and_the_others_counted():
    about = describe.problem(testset.get("n_pendulum", n=25))
    assert len(about["equations"]) == describe.FIRST + 1
    assert about["equations"][-1] == f"\\text{{and {about['n'] - describe.FIRST} more}}"
    assert [len(level) for level in about["constraints"]] == [min(k, 100) for k in about["levels"]]
