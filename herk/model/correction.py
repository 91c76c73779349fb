"""The smallest change of a point that satisfies linearised constraints, in units of its components."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array


def correction(g: Array, jac: Array, scale: Array, first: list[int], others: list[int]) -> Array:
    """Return the Newton correction that moves `others` only for what `first` cannot reach (left null space).

    g is a vector, or has several as columns.
    """
    change = np.zeros((len(scale), *g.shape[1:]))
    tops = _row_sizes((jac * scale)[:, first])
    tops[tops == 0] = _row_sizes(jac * scale)[tops == 0]
    tops[tops == 0] = 1.0
    jac, g = jac / tops[:, None], (g.T / tops).T  # by what `first` can do for each row, in whatever units
    if others:
        left, values, _ = (
            np.linalg.svd(jac[:, first] * scale[first]) if first else (np.eye(len(g)), np.zeros(0), None)
        )
        null = left[:, int(np.sum(values > 1e-10 * max(values.max(initial=0.0), 1e-300))) :].T
        open_rows, right = _equilibrated(null @ (jac[:, others] * scale[others]), -null @ g)
        change[others] = (scale[others] * np.linalg.lstsq(open_rows, right, rcond=1e-12)[0].T).T
    if first:
        found = np.linalg.lstsq(jac[:, first] * scale[first], -(g + jac @ change), rcond=1e-12)[0]
        change[first] = (scale[first] * found.T).T
    return change


def _equilibrated(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Return the system with rows of equal size: equations in different units count alike."""
    tops = _row_sizes(matrix)
    tops[tops == 0] = 1.0
    return matrix / tops[:, None], (right.T / tops).T


def _row_sizes(matrix: Array) -> Array:
    tops: Array = np.abs(matrix).max(axis=1, initial=0.0)
    return tops
