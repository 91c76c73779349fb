"""Example 1.2: a system whose index is raised by making every derivative an unknown, and what BDF makes of it when the step changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import testset
from baselines.second_order.layout import ready
from baselines.second_order.march import bdf
from herk.bench.published import Row, Verdict
from herk.core.dae import Array

COUNTS = (16, 32, 64, 128, 256)  # steps up to t = 1, where the step is halved
AFTER = 8  # steps after that

# Way -> keywords of the problem, form, modified BDF or not, places of x2 and v2.
WAYS = {
    "direct": (False, "second_order", True, 2, None),
    "only x1' introduced": (False, "index3", False, 2, None),
    "both derivatives introduced": (True, "index4", False, 3, 1),
}


@dataclass(frozen=True)
class Raised:
    """Errors right after the step was halved, for several steps: of x2, and of v2 where it is an unknown."""

    way: str
    index: int
    steps: Array
    x2: Array
    v2: Array | None


def measured(way: str) -> Raised:
    """Solve one way with BDF of order 1, for all steps."""
    full, form, modified, x2, v2 = WAYS[way]
    problem = testset.get("raised_index", full=full)
    made = ready(problem, form)
    assert problem.reference is not None
    assert problem.reference.exact is not None
    jumps = []
    for count in COUNTS:
        grid = np.concatenate([np.arange(count) / count, 1.0 + np.arange(AFTER + 1) / (2 * count)])
        run = bdf(made, grid, np.ones(count + AFTER, dtype=int), modified=modified)
        exact = np.array([problem.reference.exact(t) for t in grid])
        jumps.append(np.abs(run.z - exact)[count + 1 :].max(axis=0))
    errors = np.array(jumps)
    return Raised(way, made.form.index, 1.0 / np.array(COUNTS), errors[:, x2], None if v2 is None else errors[:, v2])


def every_way() -> list[Raised]:
    """Solve all ways."""
    return [measured(way) for way in WAYS]


def growth(errors: Array) -> float:
    """Return p of error ~ h^p for the two smallest steps."""
    return float(np.log2(errors[-2] / errors[-1]))


def shown(ways: list[Raised]) -> bool:
    """Tell whether the errors after a change behave as h, 1 and 1/h: direct, first order in x2, first order in v2."""
    direct, partly, full = ways
    assert full.v2 is not None
    found = [growth(errors) for errors in (direct.x2, partly.x2, full.x2, full.v2)]
    return bool(np.allclose(found, (1, 0, 0, -1), atol=0.1))


def rows(ways: list[Raised]) -> list[Row]:
    """Compare the indices; Definition 1.1 counts one more than the derivatives that the solution needs."""
    direct, _, full = ways
    why = "Definition 1.1 needs derivatives up to index - 1; x2 needs f2'', v2 needs f2'''. The index found by differentiation agrees"
    part, fine = "Example 1.2", Verdict.SAME if full.index - direct.index == 1 else Verdict.LOST
    return [
        Row(part, "system (2)", "perturbation index", 2, direct.index, Verdict.WRONG if direct.index == 3 else Verdict.LOST, why),
        Row(part, "system (4)", "perturbation index", 3, full.index, Verdict.WRONG if full.index == 4 else Verdict.LOST, why),
        Row(part, "(4) against (2)", "index raised by", 1, full.index - direct.index, fine),
        Row(part, "only x1' introduced", "index raised by", 0, ways[1].index - direct.index, fine),
    ]
