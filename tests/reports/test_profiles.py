"""Performance profiles: shares of problems, counted by hand, among solvers that were asked the same."""

from __future__ import annotations

import numpy as np
import pytest

from reports import contents
from reports.sections import profiles
from tests.reports.conftest import sweep

A, B = ("herk_dop853", "overdetermined"), ("scipy_lsoda", "ode")


def rows(solver, costs, **more):
    """Return curves with the given costs of every error on problems p0, p1, ..."""
    return [
        row for k, cost in enumerate(costs) for row in sweep(*solver, 1e6, cost, 1.0, problem=f"p{k}", **more)
    ]


def test_ratios_and_counts_are_those_of_a_hand_calculation():
    """Costs 1, 4, 1 against 2, 1, 10: ratios 1, 4, 1 and 2, 1, 10, so two are within 2 for either."""
    found = contents.sort([*rows(A, (1.0, 4.0, 1.0)), *rows(B, (2.0, 1.0, 10.0))])
    ratios = profiles.relative(profiles.compared(found), "time")
    assert ratios["herk_dop853"].tolist() == pytest.approx([1, 4, 1], rel=1e-3)
    assert ratios["scipy_lsoda · ode"].tolist() == pytest.approx([2, 1, 10], rel=1e-3)
    assert profiles.order(ratios, 1.5) == ["herk_dop853", "scipy_lsoda · ode"]
    assert (ratios <= 2.001).sum().tolist() == [2, 2]


def test_who_does_not_get_there_does_not_solve():
    lost = [row | {"status": "failed", "reason": "newton", "mescd": None} for row in rows(B, (1.0,))]
    found = contents.sort([*rows(A, (1.0, 1.0)), *lost, *rows(B, (1.0, 1.0))[len(lost) :]])
    ratios = profiles.relative(profiles.compared(found), "time")
    assert np.isinf(ratios.loc["p0", "scipy_lsoda · ode"])


def test_a_solver_that_was_asked_on_few_problems_is_not_compared_on_all():
    found = contents.sort([*rows(A, (1.0, 1.0, 1.0)), *rows(B, (0.1,))])
    assert set(profiles.compared(found)["curve"]) == {"herk_dop853"}


def test_the_study_of_the_whole_test_set_speaks_where_it_was_run():
    """Work and precision asks ten solvers on a few problems: mixed in, these would look better than all."""
    whole = [*rows(A, (1.0, 1.0), study="testset"), *rows(B, (2.0, 2.0), study="testset")]
    found = contents.sort([*whole, *rows(("scipy_radau", "ode"), (0.1, 0.1))])
    assert set(profiles.compared(found)["curve"]) == {"herk_dop853", "scipy_lsoda · ode"}
