"""Runs on prescribed grids: general linear methods (Runge-Kutta included) and BDF with prescribed orders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baselines.second_order import kernels
from baselines.second_order.layout import Layout, Ready
from baselines.second_order.tables import GeneralLinear
from herk.core.dae import Array

LIMIT = 1e-10  # of the last Newton correction; what is left after it is its square


@dataclass(frozen=True)
class March:
    """Points z of a run (times x components), residual evaluations, and what went wrong (0: nothing)."""

    t: Array
    z: Array
    evaluations: int
    wrong: int = 0


class Steps:
    """A general linear method on its way.

    What it passes from step to step, the last step, the last stages.
    """

    def __init__(self, ready: Ready, method: GeneralLinear, step: float, powers: Array | None = None) -> None:
        """Start from the exact Nordsieck vector; `powers` are the exponents of D in (58), 0, 1, 2, ...

        if not given.
        """
        self.ready, self.method = ready, method.arrays()
        kept, s = len(method.V), len(method.c)
        self.powers = np.arange(kept, dtype=float) if powers is None else np.asarray(powers, dtype=float)
        self.x = ready.initial[:kept] * step ** np.arange(kept)[:, None]
        self.before = step
        self.K = np.repeat(ready.initial[None, method.q], s, axis=0)
        self.counts = np.zeros(2, dtype=np.int64)

    def along(self, grid: Array, limit: float = LIMIT) -> Array:
        """Step along the grid; return the points reached, as rows."""
        points = np.empty((len(grid) - 1, self.ready.form.n))
        args = (
            self.ready.functions,
            self.ready.layout.arrays,
            self.method,
            self.powers,
            grid,
            self.before,
            limit,
        )
        made = kernels.advance(*args, self.x, self.K, points, self.counts)
        self.before = float(grid[-1] - grid[-2])
        return points[:made]


def march(
    ready: Ready, method: GeneralLinear, grid: Array, *, limit: float = LIMIT, powers: Array | None = None
) -> March:
    """Run a general linear method along the grid."""
    steps = Steps(ready, method, float(grid[1] - grid[0]), powers)
    points = steps.along(grid, limit)
    z = np.vstack([ready.start[0], points])
    return March(grid[: len(z)], z, int(steps.counts[0]), int(steps.counts[1]))


def history(layout: Layout, depth: int, most: int) -> tuple[Array, Array, Array, Array, Array]:
    """Return empty memory of BDF, newest first.

    Times, unknowns, first derivatives, the weights and orders that made the latter.
    """
    shape = (depth, len(layout.rows))
    return (
        np.zeros(depth),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros((depth, most + 1)),
        np.zeros(depth, dtype=np.int64),
    )


def remember(memory: tuple[Array, ...], layout: Layout, times: Array, points: Array, newest: int) -> None:
    """Put points into the memory of BDF, the last one at place `newest`.

    Their derivatives count as exact (order 0).
    """
    t, P, V, _, _ = memory
    for place, time, point in zip(range(newest + len(times) - 1, newest - 1, -1), times, points, strict=True):
        t[place] = time
        for j, value in enumerate(point):
            (P if layout.derivative[0, j] == 0 else V)[place, layout.source[0, j]] = value


def bdf(
    ready: Ready,
    grid: Array,
    orders: Array,
    *,
    modified: bool,
    known: Array | None = None,
    limit: float = LIMIT,
) -> March:
    """Run BDF along the grid: modified as in (15), or (12) for both derivatives, as in first-order systems.

    `known` are the points at the first times of the grid (rows; the start alone if not given), `orders` those
    of the steps that follow.
    """
    layout, most = ready.layout, int(max(orders))
    first = ready.start[0][None, :] if known is None else np.asarray(known)
    memory = history(layout, 2 * most + 2 + len(first), most)
    remember(memory, layout, grid[: len(first)], first, 0)
    K, Z = memory[1][:1].copy(), np.empty((1, 2, ready.form.n))
    z, evaluations = list(first), 0
    for time, order in zip(grid[len(first) :], orders, strict=True):
        for part in memory:
            part[1:] = part[:-1].copy()
        memory[0][0] = time
        made = kernels.bdf_step(
            ready.functions, layout.arrays, memory, int(order), layout.q, modified, limit, K, Z
        )
        evaluations += made if made > 0 else kernels.MOST
        if made < 0:
            return March(grid[: len(z)], np.array(z), evaluations, int(made))
        z.append(Z[0, 0].copy())
    return March(grid, np.array(z), evaluations)
