"""Derivatives at one point of a regularised system."""

from __future__ import annotations

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import factors
from herk.model.evaluate import linearise
from herk.model.large import rate_of


def rates(dae: Dae, t: float, y: Array) -> Array:
    """Return y' from [E; g_y] y' = [f; -g_t], which determines it in every regularised system."""
    at = linearise(dae, t, y)
    if at.sparse:
        return rate_of(at)
    matrix, right = np.vstack([at.E, at.jac]), np.concatenate([at.f, -at.g_t])
    right[: dae.n][~at.E.any(axis=1)] = 0.0  # residuals of constraints, not rates
    rows, columns = factors(matrix)
    matrix, right, rate = matrix * rows[:, None] * columns, right * rows, np.zeros(dae.n)
    for _ in range(3):  # refined, so that small rates beside large ones are right too
        rate += np.linalg.lstsq(matrix, right - matrix @ rate, rcond=None)[0]
    return columns * rate
