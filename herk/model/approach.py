"""Where to look for a consistent start, and how to come near one where Newton's full steps run away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import sizes
from herk.model.evaluate import CallableError, constraints
from herk.model.large_start import correction, is_finite, slopes
from herk.model.step_length import length

MOST_STEPS = 200
ROUNDS = 8  # in which sizes are found
NEAR = 1e-6  # relative corrections: the rest is for Newton's method as it is
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Task:
    """Make the constraints `rows` zero at time t by moving the components `first`.

    And `others` only if need be.
    """

    dae: Dae
    t: float
    rows: NDArray[np.int64]
    first: list[int]
    others: list[int]


def guesses_of(dae: Dae, t: float, y: Array, unknown: list[int]) -> Iterator[Array]:
    """Yield y with its unknown components zero, then of the size at which they matter in the constraints."""
    if not unknown:
        yield y
        return
    start = y.copy()
    start[unknown] = 0.0
    yield start
    size = sizes_of(dae, t, y, unknown)
    for factor in (1.0, -1.0, 0.1, 10.0):
        start = y.copy()
        start[unknown] = factor * size
        yield start


def sizes_of(dae: Dae, t: float, y: Array, unknown: list[int]) -> Array:
    """Return the sizes of the unknown components, found by turns with where the constraints are looked at."""
    size, pace, before = np.ones(len(unknown)), np.full(len(unknown), 0.5), np.full(len(unknown), np.inf)
    origin, way, part = size, np.zeros(len(unknown)), 1.0
    rounds = 0
    while rounds < ROUNDS:
        trial = y.copy()
        trial[unknown] = size
        try:
            with np.errstate(all="ignore"):
                jac = slopes(dae, t, trial)
        except CallableError:
            return size
        if not is_finite(jac):
            if not (np.abs(way) > NEAR).any():
                return size
            way, part = way / 4.0, 0.5  # too far: of x**15 in odd units by hundreds of powers of ten
            size, before = origin * np.exp(way), np.abs(way)
            continue
        trial[unknown] = np.nan
        # Of x**2 this is a fixed point where the terms balance; of x**7 it is one for smaller changes.
        change = np.log(sizes(jac, trial)[unknown] / size)
        while (growing := np.abs(pace * change) > part * before).any():
            pace[growing] /= 2.0
        origin, way = size, pace * change
        size, before = size * np.exp(way), np.abs(way)
        rounds += 1
    return size


def approached(task: Task, y: Array) -> Array | None:
    """Return a point near the constraints, reached by steps that make the residuals less; None if none is."""
    for _ in range(MOST_STEPS):
        g, jac = constraints(task.dae, task.t, y)[task.rows], slopes(task.dae, task.t, y)[task.rows]
        if not (np.isfinite(g).all() and is_finite(jac)):
            return None
        scale = sizes(jac, y)  # where a diode is far from its place, they are of no use anywhere else
        step = correction(g, jac, scale, task.first, task.others)
        if not np.isfinite(step).all():
            return None
        if (np.abs(step) <= NEAR * np.abs(y) + EPS * scale).all():
            return y + step
        tops = np.asarray(abs(jac) @ scale).ravel()
        tops = np.where(tops > 0.0, tops, np.maximum(np.abs(g), 1.0))
        share = length(partial(_residual, task, y, step, tops))
        if not share:
            return y
        y = y + share * step
    return y


def _residual(task: Task, y: Array, step: Array, tops: Array, share: float) -> float:
    """Return the largest residual after part of a step, in units of its gradient; infinite without one."""
    g = constraints(task.dae, task.t, y + share * step)[task.rows]
    size = float(np.max(np.abs(g) / tops, initial=0.0))
    return size if size < np.inf else np.inf
