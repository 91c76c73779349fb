"""Runs on prescribed grids: general linear methods (Runge-Kutta included) and BDF with prescribed orders."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from baselines.second_order import multistep, stages
from baselines.second_order.layout import Ready
from baselines.second_order.multistep import Multistep, allocate
from baselines.second_order.stages import Linear, Stages
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
        kept, s, m = len(method.V), len(method.c), len(ready.layout.rows)
        self.ready, self.stages = ready, ready.stages(s, LIMIT)
        c, A, U, B, V = method.arrays()
        sizes = {"c": s, "a": A.size, "u": U.size, "b": B.size, "v": V.size, "powers": kept}
        self.linear = linear = Linear(**sizes, x=kept * m, following=kept * m)
        linear.stages, linear.q, linear.kept, linear.before = self.stages.address, method.q, kept, step
        linear.c[:], linear.a[:], linear.u[:], linear.b[:] = c, A.ravel(), U.ravel(), B.ravel()
        linear.v[:], linear.powers[:] = V.ravel(), np.arange(kept) if powers is None else powers
        linear.x[:] = (ready.initial[:kept] * step ** np.arange(kept)[:, None]).ravel()
        self.K[:] = ready.initial[method.q]

    @property
    def K(self) -> Array:  # noqa: N802 - as in the paper
        """Return the unknowns of the last stages, as rows."""
        return self.stages.k.reshape(self.stages.s, self.stages.m)

    def copy(self) -> Steps:
        """Return the same in memory of its own: both can go on from here."""
        made = copy(self)
        made.stages, made.linear = self.stages.copy(), self.linear.copy()
        made.linear.stages = made.stages.address
        return made

    def along(self, grid: Array, limit: float = LIMIT) -> Array:
        """Step along the grid; return the points reached, as rows."""
        points = np.empty((len(grid) - 1, self.ready.form.n))
        self.stages.limit = limit
        self.linear.bind("grid", np.array(grid, dtype=float))
        self.linear.bind("points", points)
        made = stages.PROGRAM[stages.advance].call(self.linear.address)
        self.ready.check()
        return points[:made]


def march(
    ready: Ready, method: GeneralLinear, grid: Array, *, limit: float = LIMIT, powers: Array | None = None
) -> March:
    """Run a general linear method along the grid."""
    steps = Steps(ready, method, float(grid[1] - grid[0]), powers)
    points = steps.along(grid, limit)
    z = np.vstack([ready.start[0], points])
    return March(grid[: len(z)], z, steps.linear.nfev, steps.linear.wrong)


@dataclass(frozen=True)
class History:
    """The past of BDF and its stage, newest point first."""

    past: Multistep
    stages: Stages
    ready: Ready

    def remember(self, times: Array, points: Array, newest: int) -> None:
        """Put points into the past, the last one at place `newest`.

        Their derivatives count as exact (order 0).
        """
        past, layout, m = self.past, self.ready.layout, self.stages.m
        places = range(newest + len(times) - 1, newest - 1, -1)
        for place, time, point in zip(places, times, points, strict=True):
            past.t[place] = time
            for j, value in enumerate(point):
                rows = past.p if layout.derivative[0, j] == 0 else past.v
                rows[place * m + layout.source[0, j]] = value

    def older(self) -> None:
        """Make room for a new point."""
        past, depth = self.past, self.past.depth
        for part in (past.t, past.p, past.v, past.weights, past.orders):
            rows = part.reshape(depth, -1)
            rows[1:] = rows[:-1].copy()


def history(ready: Ready, depth: int, most: int, *, modified: bool, limit: float = LIMIT) -> History:
    """Return an empty past of BDF."""
    own = ready.stages(1, limit)
    past = allocate(own.n, own.m, depth, most)
    past.stages, past.q, past.modified = own.address, ready.layout.q, modified
    return History(past, own, ready)


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
    most = int(max(orders))
    first = ready.start[0][None, :] if known is None else np.asarray(known)
    memory = history(ready, 2 * most + 2 + len(first), most, modified=modified, limit=limit)
    memory.remember(grid[: len(first)], first, 0)
    past, own, n = memory.past, memory.stages, ready.form.n
    own.k[:] = past.p[: own.m]
    z, evaluations = list(first), 0
    for time, order in zip(grid[len(first) :], orders, strict=True):
        memory.older()
        past.t[0] = time
        made = multistep.PROGRAM[multistep.bdf_step].call(past.address, int(order))
        ready.check()
        evaluations += made if made > 0 else stages.MOST
        if made < 0:
            return March(grid[: len(z)], np.array(z), evaluations, int(made))
        z.append(own.z[:n].copy())
    return March(grid, np.array(z), evaluations)
