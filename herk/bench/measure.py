"""Metrics of a run, computed here and not by solvers: errors, digits, drift and invariants."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from herk.core import Problem, Settings, Solution
from herk.core.dae import Array

Metrics = dict[str, Any]
DOUBLE = 15.95  # digits of a number in double precision, 53 bits


def metrics(
    problem: Problem, settings: Settings, solution: Solution, on_grid: Solution | None = None
) -> Metrics:
    """Return all metrics that can be given.

    `on_grid` is the same run with output times, for the error over the interval.

    Drift is the maximum over the accepted points; where a solver hands out only start and end, over the
    output times.
    """
    drifted = on_grid if on_grid is not None and len(solution.t) <= 2 < len(on_grid.t) else solution
    grid = {} if on_grid is None else grid_errors(problem, on_grid.t, on_grid.y)
    return {
        **end_errors(problem, settings, solution),
        **grid,
        **drift(problem, drifted),
        **invariants(problem, drifted),
    }


def end_errors(problem: Problem, settings: Settings, solution: Solution) -> Metrics:
    """Return error, scd and mescd at the end, of all and of each group; nothing if it was not reached."""
    reference = problem.reference
    if (
        reference is None
        or not solution.success
        or not len(solution.t)
        or not math.isclose(solution.t[-1], reference.t, rel_tol=1e-12)
    ):
        return {}
    error = np.abs(solution.y[:, -1] - reference.y)
    found: Metrics = {}
    for suffix, members in _groups(problem):
        found[f"error_end{suffix}"] = float(error[members].max())
        found[f"scd{suffix}"] = scd(
            error[members], reference.y[members], reference.digits, np.abs(reference.y).max()
        )
        found[f"mescd{suffix}"] = mescd(
            error[members], reference.y[members], reference.digits, _ratio(settings, members)
        )
    return found


def scd(error: Array, exact: Array, digits: float, scale: float) -> float | None:
    """Return the significant correct digits.

    -log10 of the largest relative error, at most the digits of the reference.

    A component without a digit that is certain (zero, or lost in the uncertainty of the largest one) is not
    scored.
    """
    scored = np.abs(exact) > 10.0 ** (1.0 - digits) * scale
    return _digits((error[scored] / np.abs(exact[scored])).max(), digits) if scored.any() else None


def mescd(error: Array, exact: Array, digits: float, ratio: Array | float) -> float:
    """Return -log10 of the largest |error| / (atol/rtol + |reference|), at most the reference's digits."""
    return _digits((error / (ratio + np.abs(exact))).max(), digits)


def grid_errors(problem: Problem, t: Array, y: Array) -> Metrics:
    """Return the largest absolute error over these times, where the solution is known at all times."""
    if problem.reference is None or problem.reference.exact is None or not len(t):
        return {}
    exact = problem.reference.exact
    error = np.abs(y - np.array([exact(float(time)) for time in t]).T)
    return {f"error_grid{suffix}": float(error[members].max()) for suffix, members in _groups(problem)}


def drift(problem: Problem, solution: Solution) -> Metrics:
    """Return the largest |g| over time, of all constraints and of each level of hidden ones."""
    values = residuals(problem, solution.t, solution.y)
    if not values.size:
        return {}
    largest = np.abs(values).max(axis=1)
    by_level = {
        f"drift.level{k}": float(largest[rows].max()) for k, rows in enumerate(levels(problem)) if rows
    }
    return {"drift.all": float(largest.max()), **by_level}


def largest_residual(problem: Problem, solution: Solution, points: int) -> float:
    """Return the largest |g| at so many of its points, spread evenly; NaN without constraints or points."""
    at = np.unique(np.linspace(0, len(solution.t) - 1, points).astype(int)) if len(solution.t) else []
    values = residuals(problem, solution.t[at], solution.y[:, at])
    return float(np.abs(values).max()) if values.size else math.nan


def residuals(problem: Problem, t: Array, y: Array) -> Array:
    """Return g at every point: constraints x times."""
    dae = problem.dae
    if not dae.m or not len(t):
        return np.empty((dae.m, 0))
    points = np.ascontiguousarray(y.T)
    assert dae.g is not None
    return (
        np.array([dae.g(float(time), point) for time, point in zip(t, points, strict=True)])
        .reshape(len(t), dae.m)
        .T
    )


@lru_cache(maxsize=8)
def _levels(model: Any) -> tuple[tuple[int, ...], ...]:
    from herk.model.index_reduction.regularize import regularize

    found = regularize(model)
    return tuple(
        tuple(row for row, step in enumerate(found.trace) if step.level == level)
        for level in range(found.index)
    )


def levels(problem: Problem) -> list[list[int]]:
    """Return the rows of g level by level; none for callables, where nobody has counted."""
    return (
        []
        if problem.model is None or problem.given_dae is not None
        else [list(rows) for rows in _levels(problem.model)]
    )


def invariants(problem: Problem, solution: Solution) -> Metrics:
    """Return for each invariant how far it moves from its start."""
    moved = {
        each.name: invariant(each, solution.t, solution.y) for each in problem.invariants if len(solution.t)
    }
    return {f"invariant.{name}": float(np.abs(values).max()) for name, values in moved.items()}


def invariant(each: Any, t: Array, y: Array) -> Array:
    """Return the values of an invariant less its first one."""
    values = np.array([float(each.value(float(time), point)) for time, point in zip(t, y.T, strict=True)])
    return values - values[0]


def _groups(problem: Problem) -> list[tuple[str, list[int]]]:
    whole = [("", list(range(len(problem.y0))))]
    return whole + [(f".{name}", list(members)) for name, members in problem.groups.items() if len(members)]


def _ratio(settings: Settings, members: list[int]) -> Array | float:
    """Return atol/rtol of these components; 1 for fixed steps, where there are no tolerances."""
    if settings.step is not None:
        return 1.0
    atol = np.asarray(settings.atol, dtype=float)
    return (atol if atol.ndim == 0 else atol[members]) / settings.rtol


def _digits(relative: float, most: float) -> float:
    most = min(most, DOUBLE)
    return most if relative <= 10.0**-most else float(-math.log10(relative))
