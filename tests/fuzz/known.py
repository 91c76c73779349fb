"""Problems of the test set in random units and order, which must not matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import testset

from tests.fuzz.member import Array, Member, Truth, pick, rng_of, with_settings
from tests.fuzz.units import in_units, permuted

NAMES = (
    "academic", "arevalo", "circular_track", "cv_circuit", "knife_edge", "pendulum", "pendulum_2d",
    "raised_index", "rlc", "selector_change", "spring_chain",
)  # fmt: skip
LONGEST = 10.0


def make(seed: int) -> Member:
    """Return a problem of the test set whose solution is a formula, over a part of its span."""
    rng = rng_of("testset", seed)
    name = pick(rng, NAMES)
    problem = testset.get(name)
    model, truth = problem.model, _formula(problem.reference.exact)
    t0, t1 = (float(t) for t in problem.t_span)
    t1 = t0 + min(LONGEST, t1 - t0) * float(rng.uniform(0.2, 0.6))
    values = {parameter: float(value) for parameter, value in model.parameters.items()}
    sizes = np.abs(truth(np.linspace(t0, t1, 101))).max(axis=1)
    member = Member(
        family="testset",
        kind=name,
        seed=seed,
        states=tuple(model.names),
        E=tuple(tuple(_text(model.E[i, j], values) for j in range(model.n)) for i in range(model.n)),
        f=tuple(_text(row, values) for row in model.f),
        t_span=(t0, t1),
        y0=tuple(None if y is None else float(y) for y in problem.y0),
        sizes=tuple(float(size) or 1.0 for size in sizes),
        truth=truth,
    )
    return with_settings(permuted(in_units(member, rng), rng), rng)


def _text(formula: Any, values: dict[Any, float]) -> str:
    return "0" if formula == 0 else str(formula.subs(values))


def _formula(exact: Callable[[float], Array]) -> Truth:
    def truth(times: Array) -> Array:
        return np.array([exact(float(t)) for t in np.asarray(times)]).T

    return truth
