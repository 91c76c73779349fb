"""The wheelset: published accelerations are reproduced, the start is made consistent.

Wheel and rail stay in contact.
"""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from testset import wheelset

# y'(0) as distributed, in the published start with its five digits of the multipliers
PUBLISHED = (
    -1.975258894011285,
    -1.0898297102811276e-3,
    7.8855083626142589e-2,
    -5.533362821731549,
    -0.3487021489546511,
    -2.132968724380927,
)


@pytest.mark.slow
def test_published_accelerations_are_reproduced():
    np.testing.assert_allclose(wheelset.f(0.0, np.array(wheelset.START))[5:11], PUBLISHED, rtol=2e-12)


@pytest.mark.slow
def test_only_the_multipliers_of_the_start_had_to_move():
    p = testset.get("wheelset")
    moved = np.abs(p.y0 - wheelset.START)
    assert moved[:15].max() < 1e-16
    assert 1e-8 < moved[15:].max() < 5e-7  # less than the last of the five digits given
    assert np.abs(p.dae.g(0.0, p.y0)).max() < 1e-12


@pytest.mark.slow
def test_wheel_and_rail_keep_their_distance():
    p = testset.get("wheelset", t_end=0.5)
    solution = herk.solve_dae(p, rtol=1e-8, atol=1e-11)
    for invariant in p.invariants:
        assert abs(invariant.value(0.0, p.y0)) < 1e-9  # the start is given with five digits
        assert abs(invariant.value(0.5, solution.y[:, -1]) - invariant.value(0.0, p.y0)) < 1e-10
