"""Whether stability limits an explicit method: eigenvalue times step against its own bound."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import herk
from herk.core import Problem, Solution, Solver
from herk.integrate.stiffness import LARGEST, fastest_decay, real_bound

POINTS = 7  # accepted points, of the second half of a run, at which the eigenvalues are measured
SAME = {"rk45": "dopri5"}  # methods that others know under another name


@lru_cache(maxsize=64)
def bound(method: str) -> float | None:
    """Return x up to which |R(-s)| <= 1 for s in [0, x], the bound of step times -lambda; None if unknown."""
    name = SAME.get(method.lower(), method.lower())
    return real_bound(herk.METHODS[name]) if name in herk.METHODS else None


def limit_of(solver: Solver) -> float | None:
    """Return the bound of an explicit or half-explicit solver, None for others."""
    return bound(str(getattr(solver, "method", ""))) if "explicit" in solver.tags else None


def measured(problem: Problem, solution: Solution) -> float | None:
    """Return the median of step times -Re(lambda) over the second half of a run, None where unknown."""
    t, y, dae = solution.t, solution.y, problem.dae
    if len(t) < 4 or dae.n > LARGEST:
        return None
    places = np.unique(np.linspace(len(t) // 2, len(t) - 2, POINTS).astype(int))
    found = []
    for k in places:
        rate = fastest_decay(dae, float(t[k]), np.ascontiguousarray(y[:, k]))
        found.append(rate * abs(t[k + 1] - t[k]))
    product = float(np.median(found))
    return product if np.isfinite(product) else None
