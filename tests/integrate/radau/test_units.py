"""Units of unknowns, rows and time decide nothing in Radau: neither pivots, nor rows, nor values between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import herk
from tests.fuzz.families import FAMILIES
from tests.fuzz.judge import times_to_judge, worst

# Each ended as singular, or with constraints that could not be solved, by units alone.
ENDED = [("driven", 52), ("mechanisms", 910003), ("testset", 910002), ("testset", 910013), ("pivots", 910021)]
ENDED.append(
    ("linear", 910044)
)  # a row of E goes through zero; divided by its largest entry, it does not show


@pytest.mark.parametrize(("family", "seed"), ENDED)
def test_a_model_in_random_units_is_solved_to_the_tolerance(family: str, seed: int) -> None:
    member = replace(FAMILIES[family](seed), rtol=1e-6)
    sol = herk.solve_dae(
        member.model(), method="radau5", rtol=1e-6, atol=member.atol, t_eval=times_to_judge(member)
    )
    assert sol.success, sol.message
    assert worst(member, sol.t, sol.y)[0] < 1.0


def test_half_the_square_of_an_unknown_that_is_zero_is_no_entry_of_its_constraint() -> None:
    """A pendulum let go beside its pivot, y in units of 1e12: y**2 by a forward difference was 1e5 times x.

    Then y is taken for what the rod determines, and stays zero; its energy is zero instead.
    """
    unit, gravity = 1e-12, 9.81

    def f(t, z):
        x, y, v, w, force = z / [10.0, unit, 1.0, 1.0, 1.0]
        return np.array([10.0 * v, unit * w, -2 * force * x, -2 * force * y - gravity, 0.0])

    def g(t, z):
        x, y, v, w, force = z / [10.0, unit, 1.0, 1.0, 1.0]
        length = x * x + y * y
        return np.array([length - 1, x * v + y * w, v * v + w * w - 2 * force * length - gravity * y])

    dae = herk.Dae(E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]), f=f, g=g, n=5, m=3)
    size = np.array([10.0, unit, 1.0, 1.0, 1.0])
    start = [-10.0, 0.0, 0.0, 0.0, 0.0]
    sol = herk.solve_dae(dae, (0.0, 3.0), start, method="radau5", rtol=1e-8, atol=1e-8 * size)
    assert sol.success, sol.message
    energy = (sol.y[2] ** 2 + sol.y[3] ** 2) / 2 + gravity * sol.y[1] / unit
    assert np.abs(energy).max() < 1e-5
