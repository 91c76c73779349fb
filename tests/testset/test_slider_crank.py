"""The slider crank: its printed start is not consistent, its projected one is.

Constraints on the positions change x3 only.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import herk
import testset
from herk.core import InputError
from herk.model.start import inconsistency
from testset import slider_crank

PRINTED_V = (
    150.0,
    -74.9957670,
    -0.268938672e-5,
    0.444896105,
    0.463434311e-2,
    -0.178591076e-5,
    -0.268938672e-5,
)
AT_START = dict(zip(slider_crank.P, slider_crank.P0, strict=True)) | {slider_crank.t: 0}


def numbers(matrix: sp.Matrix) -> np.ndarray:
    return np.array(matrix.subs(AT_START).evalf(30).tolist(), dtype=float)


def test_start_is_the_printed_one_projected_orthogonally_in_the_mass_matrix():
    A, G = numbers(slider_crank.mass()), numbers(slider_crank.closure().jacobian(slider_crank.P))
    gap = G @ PRINTED_V - [0.0, 0.0, 150.0]
    assert np.abs(gap).max() == pytest.approx(1.19e-8, rel=0.01)
    inner = np.linalg.solve(A, G.T)
    projected = np.array(PRINTED_V) - inner @ np.linalg.solve(G @ inner, gap)
    np.testing.assert_allclose(slider_crank.V0, projected, rtol=1e-13)


def test_printed_velocities_are_refused():
    p = testset.get("slider_crank")
    start = np.array(p.y0)
    start[7:14] = PRINTED_V
    with pytest.raises(InputError, match=r"inconsistent at t = 0\.0"):
        herk.solve_dae(p, y0=start, rtol=1e-12, atol=1e-14)


def test_printed_position_of_the_slider_is_wrong_by_two_in_the_tenth_digit_and_stays_so():
    first, second = testset.get("slider_crank"), testset.get("slider_crank", positions=True)
    length = first.invariants[1]
    assert length.value(0.0, first.y0) == pytest.approx(2.031e-10, rel=1e-4)
    assert length.value(0.1, first.reference.y) == pytest.approx(2.031e-10, rel=1e-4)
    assert abs(length.value(0.0, second.y0)) < 1e-16
    assert second.reference.y[2] == pytest.approx(0.16973733263997215, rel=1e-15)
    assert "index3" in second.tags
    assert "index2" not in second.tags


@pytest.mark.slow
def test_constraints_on_the_positions_give_index_three_and_a_consistent_start():
    p = testset.get("slider_crank", positions=True)
    assert [len(level) for level in herk.regularize(p.model).levels] == [10, 3, 3]
    assert inconsistency(p.dae, 0.0, p.y0, 0.0, 1e-14) is None


@pytest.mark.slow
def test_accelerations_under_error_control_have_their_digits():
    """Elastic coordinates of 1e-5 computed from a constraint of size 1 would carry its rounding.

    Times a stiffness of some 1e9.
    """
    p = testset.get("slider_crank")
    sol = herk.solve_dae(p, method="dop853", rtol=1e-9, atol=np.full(24, 1e-9))  # not in units of the sizes
    assert sol.success, sol.message
    for name, members in p.groups.items():  # to ten times the tolerance, beside the largest of the group
        own = list(members)
        assert np.abs(sol.y[own, -1] - p.reference.y[own]).max() < 1e-8 * np.abs(p.reference.y[own]).max(), (
            name
        )
