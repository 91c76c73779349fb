"""The modern mode beside a result of the thesis: herk.solve_dae on the same problem."""

from __future__ import annotations

import time

import numpy as np

from herk.core import Problem
from herk.integrate.solve import solve_dae
from herk.reproductions.published import Modern


def modern(
    problem: Problem, tolerance: float, method: str = "dop853", over_time: bool = False, repeats: int = 2
) -> Modern:
    """Solve with rtol = atol = tolerance.

    The error is that at the end, or the largest over the accepted points.
    """
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        sol = solve_dae(problem, method=method, rtol=tolerance, atol=tolerance)
        best = min(best, time.process_time() - start)
    assert problem.reference is not None
    error = float(np.linalg.norm(sol.y[:, -1] - problem.reference.y))
    if over_time:
        assert problem.reference.exact is not None
        error = max(
            float(np.linalg.norm(y - problem.reference.exact(float(t))))
            for t, y in zip(sol.t, sol.y.T, strict=True)
        )
    return Modern(method, error if sol.success else float("nan"), sol.nstep, 1e3 * best)
