"""Units of unknowns, rows and time decide nothing in Radau: neither pivots, nor rows, nor values between."""

from __future__ import annotations

from dataclasses import replace

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
