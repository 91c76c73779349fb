"""Whether stability limits the steps of an explicit method: an eigenvalue of the flow against its bound."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from herk.core.dae import Array, Dae
from herk.integrate.steppers.half_explicit.tableau import Tableau

LARGEST = 40  # unknowns; beyond, differences of the flow cost more than the run
FARTHEST, FINE = 60.0, 0.01  # how far the real axis is searched, and how finely


@lru_cache(maxsize=64)
def real_bound(tableau: Tableau) -> float | None:
    """Return x up to which |R(-s)| <= 1 for all s in [0, x], None if that is far."""
    A, b = np.asarray(tableau.A, float), np.asarray(tableau.b, float)
    ones, unit = np.ones(len(b)), np.eye(len(b))
    for x in np.arange(FINE, FARTHEST, FINE):
        if abs(1 - x * b @ np.linalg.solve(unit + x * A, ones)) > 1 + 1e-12:
            return float(x - FINE)
    return None


def advice(dae: Dae, tableau: Tableau, t: float, y: Array, h: float) -> str:
    """Return a sentence if stability limits steps of length h at a point, otherwise nothing."""
    limit = real_bound(tableau)
    if dae.n > LARGEST or limit is None:
        return ""
    rate = fastest_decay(dae, t, y)
    if not 0.5 * limit < rate * abs(h) < np.inf:
        return ""
    return (
        f" The steps are limited by stability, not by accuracy (decay rate {rate:.2g}, step {abs(h):.2g}):"
        ' the problem looks stiff. Use method="radau5".'
    )


def fastest_decay(dae: Dae, t: float, y: Array) -> float:
    """Return the largest -Re(lambda) of the flow on the constraints, linearised by differences along them.

    0 if nothing decays.
    """
    from scipy.linalg import null_space

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
