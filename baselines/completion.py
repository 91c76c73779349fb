"""Eliminated unknowns at many points at once, compiled: without it the way back would cost more than a fast solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.core.jit import compiled
from herk.core.pointers import address
from herk.method.callables import NAMES, bind
from herk.method.signatures import FUNCTION, function_at
from herk.model.back import Back
from herk.model.linear import solve_block


@compiled("void(int64, int64, float64[::1], float64[:,::1], int64[::1], float64[::1])")
def _complete(g_address, jac_address, t, y, unknown, work):  # type: ignore[no-untyped-def]
    """Compute y[i, unknown] from constraints that are linear in them, one correction for rounding."""
    g = function_at(g_address)
    jac_g = function_at(jac_address)
    n = y.shape[1]
    m = unknown.shape[0]
    small = m * m + m
    right = work[small : small + m]
    matrix = work[small + m : small + m + m * n]
    for i in range(t.shape[0]):
        for _ in range(2):
            g(t[i], y[i], right)
            jac_g(t[i], y[i], matrix)
            for r in range(m):
                for c in range(m):
                    work[r * m + c] = matrix[r * n + unknown[c]]
                work[m * m + r] = right[r]
            if solve_block(work, m) == 0.0:
                for c in range(m):
                    work[m * m + c] = np.nan
            for c in range(m):
                y[i, unknown[c]] -= work[m * m + c]


class Completion:
    """Fill in unknown components of points, y with one row for each time; `source` is a form with as many constraints."""

    def __init__(self, source: Any, unknown: tuple[int, ...]) -> None:
        """Look the functions up once."""
        functions, n, m = dict(zip(NAMES, bind(source).in_place, strict=True)), source.n, source.m
        self._functions = (functions["g"], functions["jac_g"])  # kept alive: compiled code has their addresses only
        self._addresses = tuple(address(function, FUNCTION) for function in self._functions)
        self._unknown, self._work = np.array(unknown, dtype=np.int64), np.empty(m * m + 2 * m + m * n)

    def __call__(self, t: Array, y: Array) -> None:
        """Change y in place."""
        _complete(*self._addresses, t, y, self._unknown, self._work)


def model_points(back: Back, t: Array, z: Array) -> Array:
    """Return points (unknowns x times) in the unknowns of the model."""
    y = np.zeros((len(t), back.n))
    y[:, list(back.kept)] = z[: len(back.kept)].T
    if back.source is not None:
        Completion(back.source, back.eliminated)(np.ascontiguousarray(t), y)
    return y.T
