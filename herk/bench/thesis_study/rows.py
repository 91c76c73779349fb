"""A row of the comparison: what is printed, what we get, the verdict and why; beside it the modern mode on the same problem."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from herk.core import Problem
from herk.method.solve import solve_dae


class Verdict(StrEnum):
    """What became of a printed value."""

    SAME = "same"
    ROUNDING = "within rounding"
    MISPRINT = "misprint"
    WRONG = "wrong in print"
    LOST = "not reproduced"


@dataclass(frozen=True)
class Modern:
    """herk.solve_dae on the same problem: 2-norm of the error (at the end, or as the row says), accepted steps, milliseconds."""

    method: str
    error: float
    steps: int
    ms: float


@dataclass(frozen=True)
class Row:
    """One published result; texts where a value is not one number."""

    part: str
    case: str
    quantity: str
    printed: float | str | None
    ours: float | str | None
    verdict: Verdict
    why: str = ""
    modern: Modern | None = None


@dataclass(frozen=True)
class Erratum:
    """A claim about the thesis: where, what is printed, what is right, the numbers that show it, and whether they do."""

    where: str
    printed: str
    right: str
    evidence: str
    holds: bool


def modern(problem: Problem, tolerance: float, method: str = "dop853", over_time: bool = False, repeats: int = 2) -> Modern:
    """Solve with rtol = atol = tolerance; the error is that at the end, or the largest over the accepted points."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        sol = solve_dae(problem, method=method, rtol=tolerance, atol=tolerance)
        best = min(best, time.process_time() - start)
    assert problem.reference is not None
    error = float(np.linalg.norm(sol.y[:, -1] - problem.reference.y))
    if over_time:
        assert problem.reference.exact is not None
        error = max(float(np.linalg.norm(y - problem.reference.exact(float(t)))) for t, y in zip(sol.t, sol.y.T, strict=True))
    return Modern(method, error if sol.success else float("nan"), sol.nstep, 1e3 * best)


def close(ours: float, printed: float, tolerance: float) -> bool:
    """Tell whether the relative difference is at most `tolerance`."""
    return abs(ours - printed) <= tolerance * abs(printed)


def digits_agree(ours: float, printed: float, digits: int) -> bool:
    """Tell whether both are the same when written with this many digits."""
    return f"{ours:.{digits - 1}e}" == f"{printed:.{digits - 1}e}"
