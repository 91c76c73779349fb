"""Andrews' mechanism in all its forms.

Start, index, and the reference reached by HERK and by rivals of other families.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import baselines
import testset
from herk.core import Problem, Settings

REACHED = [
    ("herk_dop853", "index1", 1e-11, 1e-8),
    ("herk_dop853", "overdetermined", 1e-10, 1e-8),
    ("herk_dop853", "overdetermined", 1e-12, 1e-10),
    ("ida_sundae_jac", "index2", 1e-10, 1e-6),
    ("ida_sundae_jac", "index1", 1e-10, 1e-6),
    ("scipy_dop853", "ode", 1e-10, 1e-6),
]
INDEX = {"index1": 1, "index2": 2, "index3": 3, "ggl": 2, "baumgarte": 1, "ode": 0}


@cache
def problem() -> Problem:
    return testset.get("andrews")


@pytest.mark.slow
@pytest.mark.parametrize("name", INDEX)
def test_form_has_its_index_and_a_consistent_start(name):
    form = problem().form(name)
    z, zp = form.start()
    assert form.index == INDEX[name]
    if form.elimination is None:
        size = np.abs(form.residual_jacobian(0.0, z, zp, 1.0)) @ (np.abs(z) + np.abs(zp)) + 1.0
        assert (np.abs(form.residual(0.0, z, zp)) <= 1e-12 * size).all()
    np.testing.assert_allclose(form.to_model_states(0.0, z), problem().y0, rtol=1e-9, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "form", "tolerance", "limit"), REACHED)
def test_positions_are_reached(solver, form, tolerance, limit):
    chosen = baselines.get(solver)
    available, reason = chosen.available()
    if not available:
        pytest.skip(reason)
    solution = chosen.solve(chosen.prepare(problem(), form), Settings(rtol=tolerance, atol=tolerance))
    assert solution.success, solution.message
    end = problem().reference.y
    assert (np.abs(solution.y[:7, -1] - end[:7]) / np.abs(end[:7])).max() < limit


def test_published_values_are_wrong_where_the_note_says():
    reference = problem().reference
    wrong = np.abs(reference.published - reference.y) / np.abs(reference.y)
    assert wrong[:7].max() < 1e-9
    assert 1e-7 < wrong.max() < 2e-6
    assert reference.published_digits == 5.9
