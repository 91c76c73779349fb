"""Whether stability limits the steps of an explicit method.

A measured eigenvalue times the step, against the method's own bound.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import null_space

import herk
from herk.core import Problem, Solution, Solver
from herk.core.dae import Array, Dae

POINTS = 7  # accepted points, of the second half of a run, at which the eigenvalues are measured
LARGEST = 40  # unknowns; beyond, differences of the flow cost more than the run
FARTHEST, FINE = 60.0, 0.01  # how far the real axis is searched, and how finely
SAME = {"rk45": "dopri5"}  # methods that others know under another name


@lru_cache(maxsize=64)
def bound(method: str) -> float | None:
    """Return x up to which |R(-s)| <= 1 for all s in [0, x].

    The method is stable while step times -lambda stays below; None if unknown.
    """
    name = SAME.get(method.lower(), method.lower())
    if name not in herk.METHODS:
        return None
    A, b = (np.asarray(part, float) for part in (herk.METHODS[name].A, herk.METHODS[name].b))
    ones, unit = np.ones(len(b)), np.eye(len(b))
    for x in np.arange(FINE, FARTHEST, FINE):
        if abs(1 - x * b @ np.linalg.solve(unit + x * A, ones)) > 1 + 1e-12:
            return float(x - FINE)
    return None


def limit_of(solver: Solver) -> float | None:
    """Return the bound of an explicit or half-explicit solver, None for others."""
    return bound(str(getattr(solver, "method", ""))) if "explicit" in solver.tags else None


def measured(problem: Problem, solution: Solution) -> float | None:
    """Return the median of step times largest -Re(lambda), over points of the second half of the run.

    None where it cannot be measured.
    """
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


def fastest_decay(dae: Dae, t: float, y: Array) -> float:
    """Return the largest -Re(lambda) of the flow on the constraints, linearised by differences along them.

    0 if nothing decays.
    """
    tangent = null_space(_jacobian(dae, t, y)) if dae.m else np.eye(dae.n)
    if not tangent.shape[1] or not np.isfinite(y).all():
        return 0.0
    size = 1e-6 * max(1.0, float(np.abs(y).max()))
    columns = [(_flow(dae, t, y + size * d) - _flow(dae, t, y - size * d)) / (2 * size) for d in tangent.T]
    eigenvalues = np.linalg.eigvals(tangent.T @ np.array(columns).T)
    return max(0.0, float(-eigenvalues.real.min()))


def _flow(dae: Dae, t: float, y: Array) -> Array:
    """Return y' from E y' = f and the derivative of the constraints, which agree on them."""
    E, f = (np.asarray(part(t, y) if callable(part) else part, float) for part in (dae.E, dae.f))
    rows, values = [E.reshape(dae.n, dae.n)], [f.reshape(dae.n)]
    if dae.m:
        rows.append(_jacobian(dae, t, y))
        values.append(-_in_time(dae, t, y))
    found: Array = np.linalg.lstsq(np.vstack(rows), np.concatenate(values), rcond=None)[0]
    return found


def _jacobian(dae: Dae, t: float, y: Array) -> Array:
    if dae.jac_g is not None:
        return np.asarray(dae.jac_g(t, y), float).reshape(dae.m, dae.n)
    size = 1e-6 * max(1.0, float(np.abs(y).max()))
    columns = [(_g(dae, t, y + size * e) - _g(dae, t, y - size * e)) / (2 * size) for e in np.eye(dae.n)]
    return np.array(columns).T


def _in_time(dae: Dae, t: float, y: Array) -> Array:
    if dae.g_t is not None:
        return np.asarray(dae.g_t(t, y), float).reshape(dae.m)
    size = 1e-6 * max(1.0, abs(t))
    return (_g(dae, t + size, y) - _g(dae, t - size, y)) / (2 * size)


def _g(dae: Dae, t: float, y: Array) -> Array:
    assert dae.g is not None
    return np.asarray(dae.g(t, y), float).reshape(dae.m)
