"""Where a function that is known by its values changes its sign, twice between two of them as well."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from herk.core.dae import Array

HALVINGS = 80
SHRINKINGS = 80
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
Values = Callable[[Array], Array]


def compiled(function: sp.Expr, t: sp.Symbol) -> Values:
    """Return a formula as a function of many times; not a number where it is not real."""
    code = sp.lambdify(t, function, ["numpy", "scipy"])

    def values(times: Array) -> Array:
        with np.errstate(all="ignore"):
            found = code(times)
            return np.asarray(np.real(found), dtype=float) * np.ones(times.shape)

    return values


def crossings(function: sp.Expr, t: sp.Symbol, times: Array) -> Array:
    """Return where a function of time changes its sign; it has one extremum, at most, between two times."""
    value = compiled(function, t)
    heights = value(times)
    signs = np.sign(heights)
    low, high = _dips(value, times, heights)
    changed = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    low, high = np.concatenate([low, times[changed]]), np.concatenate([high, times[changed + 1]])
    touched = np.flatnonzero(signs[1:-1] == 0) + 1
    met = times[touched[signs[touched - 1] * signs[touched + 1] < 0]]
    return np.unique(np.concatenate([_halved(value, low, high), met]))


def _halved(value: Values, low: Array, high: Array) -> Array:
    """Return where the sign changes between each pair of times."""
    before = np.sign(value(low))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = np.sign(value(middle)) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high


def _dips(value: Values, times: Array, heights: Array) -> tuple[Array, Array]:
    """Return pairs of times around both zeros of what passes zero between two times and comes back."""
    far, signs = np.abs(heights), np.sign(heights)
    same = (signs[:-2] == signs[1:-1]) & (signs[1:-1] == signs[2:]) & (signs[1:-1] != 0)
    near = np.flatnonzero(same & (far[1:-1] <= far[:-2]) & (far[1:-1] <= far[2:])) + 1
    low, high, sign = times[near - 1], times[near + 1], np.sign(heights[near])
    for _ in range(SHRINKINGS):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left = sign * value(first) < sign * value(second)
        low, high = np.where(left, low, first), np.where(left, second, high)
    middle = 0.5 * (low + high)
    passed = sign * value(middle) < 0
    middle, near = middle[passed], near[passed]
    return np.concatenate([times[near - 1], middle]), np.concatenate([middle, times[near + 1]])
