"""How deep each unknown is: 0 if its derivative does not occur, 1 if that depends on such ones, and so on.

Multipliers, velocities, positions. Constraints are solved for the shallowest unknowns they contain: a hidden
constraint such as G(q) v = 0 for velocities, although G depends on positions as well: that
dependence comes and goes with the motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.model.evaluate import matrix

SHIFTS = (1e-3, -2e-3, 5e-3)  # at the start itself derivatives may vanish by chance
NEGLIGIBLE = 1e-9


def depths(E: Array, f_y: Array) -> np.ndarray:
    """Return the depth of each unknown from the patterns of E and f_y; what depends on nothing is deepest."""
    n = len(E)
    level = np.where(E.any(axis=0), n, 0)
    for k in range(n):
        rows = f_y[:, level == k].any(axis=1)
        deeper = E[rows].any(axis=0) & (level == n)
        if not deeper.any():
            break
        level[deeper] = k + 1
    return level


def patterns(dae: Dae, t: float, y: Array) -> tuple[Array, Array]:
    """Return where E and f_y are not zero near a point; functions that cannot be called there say nothing."""
    found_e, found_f = np.zeros((dae.n, dae.n), dtype=bool), np.zeros((dae.n, dae.n), dtype=bool)
    for shift in SHIFTS:
        moved = y + shift * (np.abs(y) + 1e-2) * np.linspace(1.0, 2.0, dae.n)
        try:
            found_e |= np.abs(matrix(dae, t, moved)) > 0.0
            found_f |= np.abs(_jacobian(dae, t, moved)) > NEGLIGIBLE
        except Exception:  # noqa: BLE001, S112 - outside their domain; the pattern is advice only
            continue
    return found_e, found_f


def _jacobian(dae: Dae, t: float, y: Array) -> Array:
    generated: Any = dae.generated
    if hasattr(generated, "code"):
        made: Array = generated.callable("jac_f")(t, y)
        return made
    base, found = np.asarray(dae.f(t, y), dtype=float), np.zeros((dae.n, dae.n))
    for j in range(dae.n):
        moved = y.copy()
        moved[j] += 1e-5 * (abs(y[j]) + 1e-2)
        found[:, j] = (np.asarray(dae.f(t, moved), dtype=float) - base) / (moved[j] - y[j])
    return found
