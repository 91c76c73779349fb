"""Eliminated unknowns from their constraints at many points at once, compiled.

Or the way back would cost more than a fast solve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.callables import NAMES, bind
from herk.jit.compiled import compiled, inner
from herk.jit.pointers import FUNCTION, address, function_at
from herk.linalg.for_numba import solve_block
from herk.model.callable_forms import GivenForm
from herk.model.to_model_states import Back

LINEAR, MOST = 2, 30  # iterations: the second one of a linear system is for rounding
# relative size of a correction after which the next one would be lost in rounding: Newton's method squares it
SETTLED = 1e-7
LOST = 1e-3  # corrections larger than this that do not shrink either are no rounding
ZERO = 1e-7  # of the largest unknown: smaller ones are measured by that


@inner()
def _size(y, unknown, change):  # type: ignore[no-untyped-def]
    """Return the largest relative correction."""
    largest = 0.0
    for c in range(unknown.shape[0]):
        largest = max(largest, abs(y[unknown[c]]))
    size = 0.0
    for c in range(unknown.shape[0]):
        part = abs(change[c]) / (abs(y[unknown[c]]) + ZERO * largest)
        if not part <= size:  # nan counts
            size = part
    return size if largest > 0.0 else 0.0


@inner()
def _newton(g, jac_g, t, y, unknown, most, work):  # type: ignore[no-untyped-def]
    """Correct y[unknown] until it settles; return whether it did, which a linear system always does."""
    n, m = y.shape[0], unknown.shape[0]
    change = work[m * m : m * m + m]
    right = work[m * m + m : m * m + 2 * m]
    matrix = work[m * m + 2 * m : m * m + 2 * m + m * n]
    last = np.inf
    for _ in range(most):
        g(t, y, right)
        jac_g(t, y, matrix)
        for r in range(m):
            for c in range(m):
                work[r * m + c] = matrix[r * n + unknown[c]]
            change[r] = right[r]
        if solve_block(work, m) == 0.0:
            return False
        for c in range(m):
            y[unknown[c]] -= change[c]
        size = _size(y, unknown, change)
        if most > LINEAR and (size <= SETTLED or last * 0.5 <= size <= LOST):
            return True
        last = size
    return most <= LINEAR


@compiled("void(int64, int64, float64[::1], float64[:,::1], int64[::1], float64[::1], int64, float64[::1])")
def _complete(g_address, jac_address, t, y, unknown, guess, most, work):  # type: ignore[no-untyped-def]
    """Compute y[i, unknown] from the constraints, beginning with the point before or with the guess.

    NaN where that leads nowhere.
    """
    g = function_at(g_address)
    jac_g = function_at(jac_address)
    for i in range(t.shape[0]):
        for c in range(unknown.shape[0]):
            before = y[i - 1, unknown[c]] if i > 0 else np.nan
            y[i, unknown[c]] = before if np.isfinite(before) else guess[c]
        if not _newton(g, jac_g, t[i], y[i], unknown, most, work):
            for c in range(unknown.shape[0]):
                y[i, unknown[c]] = np.nan


class Completion:
    """Fill in unknown components of points, y with one row for each time.

    `source` is a form with as many constraints.
    """

    def __init__(self, source: Any, unknown: tuple[int, ...]) -> None:
        """Look the functions up once."""
        functions, n, m = dict(zip(NAMES, bind(source).in_place, strict=True)), source.n, source.m
        self._functions = (
            functions["g"],
            functions["jac_g"],
        )  # kept alive: compiled code has their addresses only
        self._addresses = tuple(address(function, FUNCTION) for function in self._functions)
        self._unknown, self._work = np.array(unknown, dtype=np.int64), np.empty(m * m + 2 * m + m * n)
        # Formulas are linear in what they eliminate; callables need not be, and may not even be defined at
        # zero.
        given = isinstance(source, GivenForm)
        self._most = MOST if given else LINEAR
        self._guess = np.array(source.y0, dtype=float)[list(unknown)] if given else np.zeros(len(unknown))

    def __call__(self, t: Array, y: Array) -> None:
        """Change y in place."""
        _complete(*self._addresses, t, y, self._unknown, self._guess, self._most, self._work)


def model_points(back: Back, t: Array, z: Array) -> Array:
    """Return points (unknowns x times) in the unknowns of the model."""
    y = np.zeros((len(t), back.n))
    y[:, list(back.kept)] = z[: len(back.kept)].T
    if back.source is not None:
        Completion(back.source, back.eliminated)(np.ascontiguousarray(t), y)
    return y.T
