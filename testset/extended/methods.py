"""Two methods that have nothing in common, for vectors of any kind of number: extrapolated midpoint rule and Gauss collocation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

Vector = Any  # numpy array of long doubles, or of mpmath numbers
Rate = Callable[[Any, Vector], Vector]
COLUMNS, STAGES = 10, 8
MOST_STEPS = 5000
SAFETY, SMALLEST, LARGEST = 0.8, 0.2, 3.0


def extrapolated(rate: Rate, t0: Any, t1: Any, y: Vector, tolerance: float, columns: int = COLUMNS) -> tuple[Vector, list[Any]]:
    """Integrate with the midpoint rule, extrapolated to order 2 * columns, steps controlled; return the end and the times on the way."""
    t, h, times, size = t0, (t1 - t0) / 1000, [t0], abs(y)
    for _ in range(MOST_STEPS):
        if t == t1:
            return y, times
        h = t1 - t if abs(t1 - t) <= 1.01 * abs(h) else h
        with np.errstate(all="ignore"):  # a step too long may leave the domain; it is shortened
            new, error = _midpoints(rate, t, h, y, columns, size)
        if error <= tolerance:
            t, y = (t1 if h == t1 - t else t + h), new
            size = np.maximum(size, abs(y))
            times.append(t)
        wanted = SAFETY * (tolerance / max(error, 1e-300)) ** (1 / (2 * columns - 1)) if math.isfinite(error) else SMALLEST
        h = h * min(max(wanted, SMALLEST), LARGEST)
    raise ArithmeticError(f"{MOST_STEPS} steps were not enough: t = {t} of {t1} is reached; the tolerance {tolerance:g} may be too small.")


def _midpoints(rate: Rate, t: Any, h: Any, y: Vector, columns: int, size: Vector) -> tuple[Vector, float]:
    """Return one step in the last column of the tableau, and its relative difference to the one before."""
    first, row = rate(t, y), []
    for j in range(columns):
        count = 2 * (j + 1)
        part = h / count
        before, here = y, y + part * first
        for i in range(1, count):
            before, here = here, before + 2 * part * rate(t + i * part, here)
        old, row = row, [here]
        for k in range(j):
            ratio = type(h)(count) / (2 * (j - k))
            row.append(row[k] + (row[k] - old[k]) / (ratio * ratio - 1))
    size = size + abs(h * first)  # a start at zero has no size yet
    floor = max(size) * type(h)("1e-3")
    return row[-1], float(max(abs(row[-1] - row[-2]) / (size + floor)))


def collocation(rate: Rate, times: Sequence[Any], y: Vector, parts: int, tolerance: float, stages: int = STAGES) -> Vector:
    """Integrate with Gauss collocation of order 2 * stages over the given times, each interval cut into equal parts.

    Stages are iterated until they change by less than the tolerance, or by rounding only.
    """
    kind = type(times[-1])
    tiny = kind("1e-100")
    nodes, A, b = gauss(stages, kind)
    k = np.array([rate(times[0], y)] * stages)
    for begin, end in pairwise(times):
        h = (end - begin) / parts
        for part in range(parts):
            t = begin + part * h
            last = np.inf
            for _ in range(200):
                new = np.array([rate(t + c * h, y + h * (row @ k)) for c, row in zip(nodes, A, strict=True)])
                change = float((abs(new - k) / (abs(new).max(axis=0) + abs(y) / abs(h) + tiny)).max())
                k = new
                if change < tolerance or (change < 1e3 * tolerance and change >= last):  # the latter is rounding
                    break
                last = change
            y = y + h * (b @ k)
    return y


def gauss(stages: int, kind: Any) -> tuple[Vector, Vector, Vector]:
    """Return nodes, matrix and weights of the Gauss method, from the roots of the Legendre polynomial."""
    with mpmath.workdps(60):
        roots = mpmath.polyroots(mpmath.taylor(lambda x: mpmath.legendre(stages, 2 * x - 1), 0, stages)[::-1], maxsteps=500, extraprec=400)
        nodes = sorted(mpmath.re(root) for root in roots)
        powers = mpmath.matrix([[c**k for c in nodes] for k in range(stages)])
        inverse = powers**-1
        rows = [[c ** (k + 1) / (k + 1) for k in range(stages)] for c in (*nodes, mpmath.mpf(1))]
        weights = [[sum(row[k] * inverse[s, k] for k in range(stages)) for s in range(stages)] for row in rows]
        table = np.array([[kind(mpmath.nstr(value, 55)) for value in row] for row in (nodes, *weights)])
    return table[0], table[1:-1], table[-1]
