"""Times at which functions of time alone vanish, with or without a change of sign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import nan

import numpy as np
import sympy as sp

SAMPLES = 257  # times at which a function is looked at
TOUCHING = 1e-9  # of the largest value: a minimum below this is a zero


def roots(
    functions: Iterable[sp.Expr], t: sp.Symbol, span: tuple[float, float], values: Mapping[sp.Symbol, float]
) -> list[float]:
    """Return the times of the span at which one of the functions vanishes, function by function."""
    found: list[float] = []
    for function in sorted(functions, key=sp.default_sort_key):
        if function.free_symbols <= {t, *values}:
            found += _roots(_callable(function, t, values), np.linspace(*span, SAMPLES))
    return found


def _roots(value: Callable[[float], float], grid: np.ndarray) -> list[float]:
    from scipy.optimize import brentq

    sizes = np.array([value(float(time)) for time in grid])
    before, at, after = sizes[:-2], sizes[1:-1], sizes[2:]
    lowest = (abs(at) <= abs(before)) & (abs(at) <= abs(after)) & (at * before > 0.0) & (at * after > 0.0)
    touched = (_lowest(value, grid[k], grid[k + 2]) for k in np.flatnonzero(lowest))
    crossed = [
        (k, float(brentq(value, grid[k], grid[k + 1], xtol=1e-300, rtol=1e-15)))
        for k in np.flatnonzero(sizes[1:] * sizes[:-1] < 0.0)
    ]
    return [
        *(float(time) for time in grid[sizes == 0.0]),
        *(time for k, time in crossed if abs(value(time)) < abs(sizes[k])),  # not so at a pole
        *(time for time, least in touched if least < TOUCHING * abs(np.nan_to_num(sizes)).max()),
    ]


def _lowest(value: Callable[[float], float], begin: float, end: float) -> tuple[float, float]:
    """Return where the size of a function is least between two times, and how large it is there."""
    from scipy.optimize import minimize_scalar

    def size(share: float) -> float:
        return abs(value(begin + share * (end - begin)))

    found = minimize_scalar(size, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9})
    return float(begin + found.x * (end - begin)), float(found.fun)


def _callable(function: sp.Expr, t: sp.Symbol, values: Mapping[sp.Symbol, float]) -> Callable[[float], float]:
    base = function.base if function.is_Pow else function
    call = sp.lambdify(t, base.xreplace(dict(values)), "math")

    def value(time: float) -> float:
        try:
            return float(call(time))
        except (ArithmeticError, ValueError, TypeError):
            return nan  # no value there, and no root

    return value
