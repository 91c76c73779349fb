"""Small systems are solved whatever the units of rows and unknowns."""

from __future__ import annotations

import numpy as np
import pytest

from herk.linalg.dense import solve_leveled


@pytest.mark.parametrize("seed", range(10))
def test_an_entry_that_nearly_vanishes_is_no_pivot_though_it_may_be_the_largest_number(seed: int) -> None:
    """By 1e-13 in its own unit, 13 digits would be lost; in these units it may be the largest of its row."""
    rng = np.random.default_rng(seed)
    matrix = np.array([[1e-13, 2.0, 1.0], [1.0, 2.0, 1.0], [0.5, 1.0, 1.0]])[rng.permutation(3)]
    x = rng.uniform(0.5, 2.0, 3)
    rows, units = 10.0 ** rng.integers(-12, 13, 3), 10.0 ** rng.integers(-12, 13, 3)
    work = np.concatenate([(matrix * rows[:, None] / units).ravel(), matrix @ x * rows, units, np.zeros(3)])
    assert solve_leveled(work, 3) > 0.1
    np.testing.assert_allclose(work[9:12] / units, x, rtol=1e-13)


def test_a_singular_block_is_told_in_any_units() -> None:
    units = 2.0 ** np.array([-30, 24])
    work = np.concatenate(
        [(np.array([[1.0, 2.0], [2.0, 4.0]]) / units).ravel(), [1.0, 2.0], units, np.zeros(2)]
    )
    assert solve_leveled(work, 2) == 0.0
