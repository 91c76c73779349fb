"""Forms that neither SciPy nor IDA can solve are proved equivalent by solving all the same, with Radau IIA.

The index-k form of a chain of constraints costs k - 1 orders in its last unknowns, so that index 4 and 5 need
many stages.
"""

from __future__ import annotations

import numpy as np
import pytest

import baselines
import testset
from baselines.irk.fixed import FixedStep
from herk.core import Problem, Settings, Solution

EIGHT_STAGES = FixedStep(
    "radau_iia8",
    "irk",
    ("index4", "index5"),
    15,
    False,
    frozenset({"implicit"}),
    method_family="radau_iia",
    stages=8,
)


def errors(problem: Problem, sol: Solution) -> dict[str, float]:
    """Return the largest error of each group at the end, relative where values are large."""
    assert sol.success, sol.message
    assert sol.t[-1] == problem.reference.t
    off = np.abs(sol.y[:, -1] - problem.reference.y) / (1 + np.abs(problem.reference.y))
    return {group: float(off[list(members)].max()) for group, members in problem.groups.items()}


@pytest.mark.parametrize(
    ("name", "form", "limits"),
    [
        ("spring_chain", "index4", {"positions": 1e-11, "velocities": 1e-9, "multipliers": 1e-6}),
        ("spring_chain", "index5", {"positions": 1e-8, "velocities": 1e-6, "multipliers": 1e-3}),
        ("raised_index", "index4", {"positions": 1e-8, "velocities": 1e-6}),
    ],
)
def test_forms_of_index_4_and_5_lead_to_the_exact_solution(
    name: str, form: str, limits: dict[str, float]
) -> None:
    problem = testset.get(name, t_end=1.0)
    found = errors(problem, EIGHT_STAGES.solve(EIGHT_STAGES.prepare(problem, form), Settings(step=0.1)))
    assert {group: found[group] <= limit for group, limit in limits.items()} == dict.fromkeys(limits, True), (
        found
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "tolerance", "limits"),
    [
        ("index3", 1e-12, {"positions": 1e-6, "velocities": 1e-4, "multipliers": 2e-2}),
        (
            "baumgarte",
            1e-10,
            {"positions": 1e-9, "velocities": 1e-7, "accelerations": 1e-7, "multipliers": 1e-7},
        ),
    ],
)
def test_andrews_mechanism_is_solved_in_its_hardest_forms(
    form: str, tolerance: float, limits: dict[str, float]
) -> None:
    problem, solver = testset.get("andrews"), baselines.get("radau5")
    found = errors(
        problem, solver.solve(solver.prepare(problem, form), Settings(rtol=tolerance, atol=tolerance))
    )
    assert {group: found[group] <= limit for group, limit in limits.items()} == dict.fromkeys(limits, True), (
        found
    )
