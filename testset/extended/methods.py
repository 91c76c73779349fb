"""Two methods that have nothing in common, for vectors of any kind of number.

Extrapolated midpoint rule and Gauss collocation.

A rate takes a vector (n,) at a time or, to be quick, several states as columns (n, k) at times (k,).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

Vector = Any  # numpy array of long doubles, or of mpmath numbers
Rate = Callable[[Any, Vector], Vector]
Stop = Callable[[Any, Vector], Any]  # positive as long as the rate holds
COLUMNS, STAGES = 10, 8
MOST_STEPS = 20000
ROUNDING = 1e-14  # of switching functions, whose size is one
BAD = 1e-12  # change of the stages that is more than rounding
STALLS = 3  # iterations without a smaller change than before: all that changes is rounding
SAFETY, SMALLEST, HALF, LARGEST = 0.9, 0.2, 0.5, 4.0


def extrapolated(
    rate: Rate,
    t0: Any,
    t1: Any,
    y: Vector,
    tolerance: float,
    columns: int = COLUMNS,
    stop: Stop | None = None,
) -> tuple[Vector, list[Any]]:
    """Integrate with the midpoint rule, extrapolated to order 2 * columns, steps controlled.

    Return the end and the times on the way.

    The end is t1, or earlier the time at which `stop` becomes zero.
    """
    size = [abs(y)]

    def step(t: Any, h: Any, y: Vector) -> tuple[Vector, float]:
        return _midpoints(rate, t, h, y, columns, size[0])

    def reached(y: Vector) -> None:
        size[0] = np.maximum(size[0], abs(y))

    return controlled(step, t0, t1, y, tolerance, 2 * columns - 1, reached, stop)


def controlled(
    step: Callable[[Any, Any, Vector], tuple[Vector, float]],
    t0: Any,
    t1: Any,
    y: Vector,
    tolerance: float,
    order: int,
    reached: Callable[[Vector], None] = lambda _: None,
    stop: Stop | None = None,
) -> tuple[Vector, list[Any]]:
    """Repeat steps as long as the tolerance on their errors allows.

    Return the end and the times on the way.
    """
    t, h, times = t0, (t1 - t0) / 1000, [t0]
    for _ in range(MOST_STEPS):
        if t == t1:
            return y, times
        h = t1 - t if abs(t1 - t) <= 1.01 * abs(h) else h
        with np.errstate(all="ignore"):  # a step too long may leave the domain; it is shortened
            new, error = step(t, h, y)
        if error <= tolerance:
            if stop is not None and stop(t + h, new) < 0:
                h, y = landed(
                    lambda part, t=t, y=y: step(t, part, y)[0],
                    lambda part, new, t=t: stop(t + part, new),
                    0 * h,
                    h,
                )
                return y, [*times, t + h]
            t, y = (t1 if h == t1 - t else t + h), new
            reached(y)
            times.append(t)
        wanted = SAFETY * (tolerance / max(error, 1e-300)) ** (1 / order) if math.isfinite(error) else HALF
        h = h * min(max(wanted, SMALLEST), LARGEST)
    raise ArithmeticError(
        f"{MOST_STEPS} steps were not enough: t = {t} of {t1} is reached; the tolerance {tolerance:g} may be"
        " too small."
    )


def landed(step: Callable[[Any], Vector], stop: Stop, a: Any, b: Any) -> tuple[Any, Vector]:
    """Return the length of the step at whose end `stop` is zero, by secants from lengths a and b.

    And that end.
    """
    y = step(b)
    left, right = stop(a, step(a)), stop(b, y)
    for _ in range(20):
        if right in (0, left):
            break
        c = b - right * (b - a) / (right - left)
        new = step(c)
        value = stop(c, new)
        if abs(value) >= abs(right) and abs(right) < ROUNDING:
            break
        a, left, b, right, y = b, right, c, value, new
    if abs(right) > ROUNDING:
        raise ArithmeticError(
            f"A switch is not found: its value is still {right} after a step of length {b}."
        )
    return b, y


def _midpoints(rate: Rate, t: Any, h: Any, y: Vector, columns: int, size: Vector) -> tuple[Vector, float]:
    """Return one step in the last column of the tableau, and its relative difference to the one before.

    All rows of the tableau march together, each with its own step; increments, not values, are summed, which
    rounds less.
    """
    parts = np.array([h / (2 * (j + 1)) for j in range(columns)])
    here = y[:, None]
    first = rate(np.array([t]), here)
    old, new = np.zeros_like(first * parts), first * parts
    for i in range(1, 2 * columns):
        live = slice(i // 2, None)  # rows with more than i steps
        slope = rate(t + i * parts[live], here + new[:, live])
        old[:, live], new[:, live] = new[:, live].copy(), old[:, live] + 2 * parts[live] * slope
    row: list[Vector] = []
    for j in range(columns):
        above, row = row, [new[:, j]]
        for k in range(j):
            ratio = type(h)(j + 1) / (j - k)
            row.append(row[k] + (row[k] - above[k]) / (ratio * ratio - 1))
    size = size + abs(h * first[:, 0]) + abs(row[-1])  # a start at zero has no size yet
    floor = max(size) * type(h)("1e-3") + type(h)("1e-100")
    return y + row[-1], float(max(abs(row[-1] - row[-2]) / (size + floor)))


def collocation(
    rate: Rate, times: Sequence[Any], y: Vector, parts: int, tolerance: float, stages: int = STAGES
) -> Vector:
    """Integrate with Gauss collocation of order 2 * stages over the given times.

    Each interval cut into equal parts.

    Stages are iterated until they change by less than the tolerance, or by rounding only.
    """
    kind = type(times[-1])
    nodes, A, b = gauss(stages, kind)
    k, before = np.repeat(rate(np.array([times[0]]), y[:, None]), stages, axis=1), None
    for begin, end in pairwise(times):
        h = (end - begin) / parts
        for part in range(parts):
            guess = k if before is None else k @ continued(nodes, h / before).T
            k = _stages(rate, begin + part * h, h, y, (nodes, A), guess, tolerance)
            y, before = y + h * (k @ b), h
    return y


def _stages(
    rate: Rate, t: Any, h: Any, y: Vector, table: tuple[Vector, Vector], k: Vector, tolerance: float
) -> Vector:
    """Return the slopes at the stages of one step, by fixed point iteration from a guess."""
    nodes, A = table
    floor, least, stalls = type(h)("1e-3") * max(abs(y)) / abs(h) + type(h)("1e-100"), np.inf, 0
    for _ in range(200):
        new = rate(t + nodes * h, y[:, None] + h * (k @ A.T))
        change = float((abs(new - k).max(axis=1) / (abs(new).max(axis=1) + abs(y) / abs(h) + floor)).max())
        k = new
        stalls, least = (0, change) if change < least else (stalls + 1, least)
        if change < tolerance or stalls == STALLS:
            break
    if not least < BAD:
        raise ArithmeticError(f"The iteration of the stages does not converge at t = {t} with step {h}.")
    return k


def continued(nodes: Vector, ratio: Any) -> Vector:
    """Return the matrix from values at the nodes to their polynomial at the nodes of the next interval.

    `ratio` times as long.
    """
    places = 1 + ratio * nodes
    gaps = nodes[:, None] - nodes[None, :] + np.eye(len(nodes), dtype=int)
    others = places[:, None, None] - nodes[None, None, :]  # place, basis, node
    basis = np.where(np.eye(len(nodes), dtype=bool)[None], 1 + 0 * others, others / gaps[None])
    return basis.prod(axis=2)


def gauss(stages: int, kind: Any) -> tuple[Vector, Vector, Vector]:
    """Return nodes, matrix and weights of the Gauss method, from the roots of the Legendre polynomial."""
    return table(lambda x: mpmath.legendre(stages, 2 * x - 1), stages, kind)


def table(polynomial: Callable[[Any], Any], stages: int, kind: Any) -> tuple[Vector, Vector, Vector]:
    """Return nodes, matrix and weights of the collocation method whose nodes are the roots.

    Of a polynomial on [0, 1].
    """
    with mpmath.workdps(60):
        roots = mpmath.polyroots(mpmath.taylor(polynomial, 0, stages)[::-1], maxsteps=500, extraprec=400)
        nodes = sorted(mpmath.re(root) for root in roots)
        powers = mpmath.matrix([[c**k for c in nodes] for k in range(stages)])
        inverse = powers**-1
        rows = [[c ** (k + 1) / (k + 1) for k in range(stages)] for c in (*nodes, mpmath.mpf(1))]
        weights = [
            [sum(row[k] * inverse[s, k] for k in range(stages)) for s in range(stages)] for row in rows
        ]
        found = np.array([[kind(mpmath.nstr(value, 55)) for value in row] for row in (nodes, *weights)])
    return found[0], found[1:-1], found[-1]
