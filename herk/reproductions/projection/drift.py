"""Figures 1 to 5: solutions of the pendulum and of Andrews' mechanism.

And how far they leave the constraints of each level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import testset
from herk.core.dae import Array
from herk.reproductions.projection.counts import T_END, solve
from herk.reproductions.published import Origin, Row, Verdict

TOLERANCE = 1e-8
ROUNDING, VISIBLE = 1e-12, 1e-10  # what counts as rounding (velocities reach 1e3), and as visible, for |Dg f|
FIGURES = {"pendulum_unit": "Fig. 2 and 3 (pendulum)", "andrews": "Fig. 5 (Andrews' mechanism)"}


@dataclass(frozen=True)
class Drift:
    """One run: times, points (unknowns x times), and the constraints of each level (constraints x times)."""

    problem: str
    projected: bool
    t: Array
    y: Array
    deviations: tuple[Array, Array, Array]

    @property
    def largest(self) -> tuple[float, float, float]:
        """Return max |d1|, max |d2|, max |d3| over all constraints and times."""
        first, second, third = (float(np.abs(d).max()) for d in self.deviations)
        return first, second, third


def deviations(problem: str, t: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return g, Dg f and their derivative along the points, level by level as the model has them."""
    dae = testset.get(problem, t_end=T_END[problem]).dae
    every = np.array([dae.g(time, point) for time, point in zip(t, y.T, strict=True)]).T
    own = {
        "pendulum_unit": [slice(0, 1), slice(1, 2), slice(2, 3)],
        "andrews": [slice(7, 13), slice(13, 19), slice(19, 25)],
    }[problem]
    return every[own[0]], every[own[1]], every[own[2]]


def every_drift() -> dict[tuple[str, bool], Drift]:
    """Return the runs of the figures, with and without projection."""
    found = {}
    for problem in FIGURES:
        for projected in (False, True):
            sol = solve(problem, TOLERANCE, projected)
            found[problem, projected] = Drift(
                problem, projected, sol.t, sol.y, deviations(problem, sol.t, sol.y)
            )
    return found


def at_rounding(drift: Drift) -> bool:
    """Tell whether g and Dg f vanish up to rounding."""
    return max(drift.largest[:2]) <= ROUNDING


def visible(drift: Drift) -> bool:
    """Tell whether the run leaves Dg f = 0 by much more than rounding."""
    return drift.largest[1] >= VISIBLE


def row(drift: Drift) -> Row:
    """Return what a picture shows as a row of the report."""
    case = f"tol = {TOLERANCE:.0e}, {'with' if drift.projected else 'without'} projection"
    printed = "zero (picture)" if drift.projected else "not zero (picture)"
    holds = at_rounding(drift) if drift.projected else visible(drift)
    ours = "{:.0e}, {:.0e}, {:.0e}".format(*drift.largest)
    why = (
        "g holds at the stages, to the tolerance of Newton's method; the multiplier is not projected, so d3"
        " is as large as before"
    )
    verdict = Verdict.SAME if holds else Verdict.LOST
    return Row(
        FIGURES[drift.problem],
        case,
        "max |d1|, |d2|, |d3|",
        printed,
        ours,
        verdict,
        why,
        origin=Origin.PICTURE,
    )
