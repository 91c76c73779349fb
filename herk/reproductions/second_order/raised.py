"""Example 1.2: a system whose index is raised by making every derivative an unknown.

And what BDF makes of it when the step changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

import testset
from baselines.second_order.layout import ready
from baselines.second_order.march import bdf
from herk.core.dae import Array
from herk.model.index_reduction.regularize import regularize
from herk.model.model import Model
from herk.reproductions.published import Origin, Row, Verdict

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
    return Raised(
        way, made.form.index, 1.0 / np.array(COUNTS), errors[:, x2], None if v2 is None else errors[:, v2]
    )


def every_way() -> list[Raised]:
    """Solve all ways."""
    return [measured(way) for way in WAYS]


def growth(errors: Array) -> float:
    """Return p of error ~ h^p for the two smallest steps."""
    return float(np.log2(errors[-2] / errors[-1]))


def shown(ways: list[Raised]) -> bool:
    """Tell whether the errors after a change behave as h, 1 and 1/h.

    Direct, first order in x2, first order in v2.
    """
    direct, partly, full = ways
    assert full.v2 is not None
    found = [growth(errors) for errors in (direct.x2, partly.x2, full.x2, full.v2)]
    return bool(np.allclose(found, (1, 0, 0, -1), atol=0.1))


def sensitivity(full: bool) -> dict[str, int]:
    """Return which derivative of f2 moves each unknown.

    Disturb f2 by eps sin(omega t) and read off the power of omega.

    The system has no freedom: its constraints, hidden ones included, which regularize finds, determine every
    unknown.
    """
    t, omega, eps = sp.symbols("t omega eps")
    given: Any = testset.get("raised_index", full=full).model
    disturbed = [str(f).replace("sin(t)", "(sin(t) + eps*sin(omega*t))") for f in given.f]
    states = [str(state) for state in given.states]
    values, unknown = {"eps": 0.001, "omega": 100.0}, [None] * len(states)
    model = Model("disturbed", states, given.E, disturbed, parameters=values, t_span=(0.0, 1.0), y0=unknown)
    rows = [sp.sympify(str(each)) for each in regularize(model).constraints]
    solved = sp.solve(rows, [sp.Symbol(name) for name in states], dict=True)[0]
    effect = {
        name: sp.expand(sp.diff(solved[sp.Symbol(name)], eps).subs(t, sp.Rational(1, 3))) for name in states
    }
    return {name: _power(value, omega) for name, value in effect.items()}


def _power(value: sp.Expr, omega: sp.Symbol) -> int:
    """Return the power with which the value grows as omega does, sines and cosines of it being bounded."""
    bounded = value.replace(
        lambda e: isinstance(e, (sp.sin, sp.cos)) and e.has(omega), lambda _: sp.Integer(1)
    )
    return int(sp.degree(bounded, omega)) if bounded.has(omega) else 0


def perturbation_indices() -> dict[str, int]:
    """Return the index of Definition 1.1, one more than the highest derivative needed.

    Systems (2) and (4), and with x1' alone.
    """
    partly, full = sensitivity(full=False), sensitivity(full=True)
    return {
        "system (2)": 1 + max(partly["x1"], partly["x2"]),
        "system (4)": 1 + max(full.values()),
        "only x1' introduced": 1 + max(partly.values()),
    }


def rows(found: dict[str, int], ways: list[Raised]) -> list[Row]:
    """Compare the indices; Definition 1.1 counts one more than the derivatives that the solution needs."""
    part, direct = "Example 1.2", found["system (2)"]
    by_differentiation = {"system (2)": ways[0].index, "system (4)": ways[2].index}
    why = (
        "Definition 1.1 needs derivatives up to index - 1; f2 disturbed by eps sin(omega t) moves x2 by"
        " omega^2, v2 by omega^3"
    )
    made = []
    for case, printed, right in (("system (2)", 2, 3), ("system (4)", 3, 4)):
        agrees = found[case] == right == by_differentiation[case]
        verdict = Verdict.SAME if found[case] == printed else Verdict.WRONG if agrees else Verdict.LOST
        made.append(
            Row(part, case, "perturbation index", printed, found[case], verdict, why, origin=Origin.PRINTED)
        )
    for case, label, printed in (
        ("system (4)", "(4) against (2)", 1),
        ("only x1' introduced", "only x1' introduced", 0),
    ):
        ours = found[case] - direct
        verdict = Verdict.SAME if ours == printed else Verdict.LOST
        made.append(Row(part, label, "index raised by", printed, ours, verdict, origin=Origin.SAID))
    return made
