"""What is kept of a run over time, thinned so that extremes survive."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.bench import measure
from herk.core import Problem, Solution
from herk.core.dae import Array

MOST = 400  # points of a series
DIGITS = 7  # a picture needs no more
MOMENTS, PLACES = 4, 4  # at which a net is shown, and decimals of its points
COMPONENTS = 12  # trajectories kept of one run

Series = dict[str, tuple[list[float], list[Any]]]


def over_time(problem: Problem, solution: Solution) -> Series:
    """Return drift of each level, invariants, step sizes and selections at the accepted points."""
    t, found = solution.t, {}
    values = measure.residuals(problem, t, solution.y)
    rows = measure.levels(problem) or [list(range(len(values)))]
    for level, members in enumerate(rows):
        if members and values.size:
            found[f"drift.level{level}"] = thinned(t, np.abs(values[members]).max(axis=0))
    for each in problem.invariants:
        found[f"invariant.{each.name}"] = thinned(t, measure.invariant(each, t, solution.y))
    if len(t) > 2:
        found["step"] = thinned(t[:-1], np.diff(t))
    if solution.selections:
        times, chosen = zip(*solution.selections, strict=True)
        found["selection"] = (
            [_short(time) for time in times][:MOST],
            [" ".join(map(str, each)) for each in chosen][:MOST],
        )
    return found


def trajectories(problem: Problem, on_grid: Solution) -> Series:
    """Return the components over the output times, and those of the exact solution beside them."""
    names = [str(name) for name in problem.dae.names][:COMPONENTS]
    found = {f"y.{name}": thinned(on_grid.t, on_grid.y[row]) for row, name in enumerate(names)}
    if problem.reference is not None and problem.reference.exact is not None:
        exact = np.array([problem.reference.exact(float(time)) for time in on_grid.t]).T
        found |= {f"reference.{name}": thinned(on_grid.t, exact[row]) for row, name in enumerate(names)}
    return found


def nets(problem: Problem, solution: Solution) -> Series:
    """Return the points of a net at a few of the accepted points, spread over the span: x, y, z by rows."""
    if problem.net is None or not len(solution.t):
        return {}
    t, y = solution.t, solution.y
    places = [int(np.argmin(np.abs(t - time))) for time in np.linspace(t[0], t[-1], MOMENTS)]
    shown = [np.moveaxis(problem.net(y[:, k]), -1, 0) for k in places]
    times = [_short(t[k]) for k in places]
    return {
        f"net.{axis}": (
            times,
            [[[round(x, PLACES) for x in row] for row in each[i].tolist()] for each in shown],
        )
        for i, axis in enumerate("xyz")
    }


def thinned(t: Array, values: Array) -> tuple[list[float], list[Any]]:
    """Return at most MOST points: of each stretch the smallest and the largest value."""
    places = np.arange(len(t))
    if len(t) > MOST:
        stretches = np.array_split(places, MOST // 2)
        places = np.unique(
            [part[pick(values[part])] for part in stretches for pick in (np.argmin, np.argmax)]
        )
    return [_short(x) for x in t[places]], [_short(x) for x in values[places]]


def _short(x: float) -> float:
    return float(f"{x:.{DIGITS}g}")
