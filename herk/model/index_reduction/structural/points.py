"""Points on all constraints of a large model, in doubles: where ranks are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from herk.codegen.shapes import Catalogue, Formula
from herk.codegen.values import Batch, Space
from herk.core.dae import Array
from herk.linalg.sparse_rank import Corrections
from herk.model.model import Model

SPREADS = (1e-4, 1e-3)  # of the points near the start, beside the sizes of the unknowns
STRETCHES = (1.0, 1e-2, 10.0, 1e-4, 100.0)  # tried in turn
TIMES = 33  # at which is looked along the span
PART = 0.1  # of the span, after which times are looked at that are not near the start
_EASE = 1e3  # how much rather open components of the start move than given ones, new unknowns than old
_ITERATIONS, _LONG, _DONE = 25, 1e8, 1e-10
_STALLED = 6  # iterations without progress
_CANCELLED = 1e-7  # of its terms: a gradient that is zero where the constraints hold


class Point(NamedTuple):
    """A point on the constraints; `start`: the given values of the start are kept as far as possible."""

    t: float
    y: Array
    start: bool


class Jacobian:
    """The derivatives of formulas with respect to the states, as a sparse matrix."""

    def __init__(self, catalogue: Catalogue, space: Space, formulas: Sequence[Formula], n: int) -> None:
        """Find the pattern."""
        entries = [(i, j, e) for i, f in enumerate(formulas) for j, e in catalogue.gradient(f).items()]
        self._places = np.array([(i, j) for i, j, _ in entries], dtype=np.int64).reshape(-1, 2).T
        slopes = [e for _, _, e in entries]
        self._batch, self._sizes = Batch(space, slopes), Batch(space, slopes, sizes=True)
        self._shape = len(formulas), n

    def __call__(self, t: float, y: Array) -> Any:
        """Return the matrix."""
        return self._matrix(self._batch(t, y))

    def sizes(self, t: float, y: Array) -> Any:
        """Return how large the entries would be if nothing in them cancelled."""
        return self._matrix(self._sizes(t, y))

    def _matrix(self, values: Array) -> Any:
        from scipy.sparse import csr_array

        return csr_array((values, tuple(self._places)), shape=self._shape)


class Constraints:
    """Constraints, level by level, with their Jacobian."""

    def __init__(
        self, catalogue: Catalogue, space: Space, levels: Sequence[Sequence[Formula]], n: int
    ) -> None:
        """Prepare values and derivatives, and find the unknowns that each level has before all others."""
        formulas = [formula for level in levels for formula in level]
        self._values = Batch(space, formulas)
        self.jacobian = Jacobian(catalogue, space, formulas, n)
        self._stages: list[tuple[int, list[int]]] = []
        seen: set[int] = set()
        count = 0
        for level in levels:
            here = {j for formula in level for j in formula.states}
            count += len(level)
            self._stages.append((count, sorted(here - seen)))
            seen |= here

    def onto(self, t: float, y: Array, scale: Array) -> Array | None:
        """Return a point on the constraints, found by smallest corrections in units of `scale`.

        One level after the other: velocities do not bend positions, forces neither.
        """
        for count, own in self._stages:
            ease = np.ones_like(scale)
            ease[own] = _EASE
            found = self._newton(t, y, scale, ease, count)
            if found is None:
                return None
            y = found
        return y

    def independent(self, point: Point, scale: Array) -> bool:
        """Tell whether the gradients are independent at a point, none of them what cancelling leaves."""
        values, sizes = (
            abs(function(point.t, point.y)).multiply(scale[None, :]).max(axis=1).todense()
            for function in (self.jacobian, self.jacobian.sizes)
        )
        if not (np.asarray(values) > _CANCELLED * np.asarray(sizes)).all():
            return False
        try:
            slopes = self.jacobian(point.t, point.y).multiply(scale[None, :])
            return not self._stages or Corrections(slopes).independent
        except RuntimeError:
            return False

    def _newton(self, t: float, y: Array, scale: Array, ease: Array, count: int) -> Array | None:
        best, stalled = np.inf, 0
        for _ in range(_ITERATIONS):
            g, jac = self._values(t, y)[:count], self.jacobian(t, y)[:count]
            if not (np.isfinite(g).all() and np.isfinite(jac.data).all()):
                return None
            try:
                units = scale * ease
                step = units * Corrections(jac.multiply(units[None, :])).smallest(-g)
            except RuntimeError:
                return None
            y = y + step
            size = float((np.abs(step) / (np.abs(y) + scale)).max())
            best, stalled = (size, 0) if size < 0.5 * best else (best, stalled + 1)
            if size < _DONE:
                return y
            if not size < _LONG or stalled > _STALLED:
                return None
        return None


def guesses(model: Model, scale: Array) -> Iterator[tuple[Point, Array]]:
    """Yield points to begin with and the units to move in: two near the start, several tries for each."""
    given = np.array([np.nan if value is None else value for value in model.y0], dtype=float)
    known = ~np.isnan(given)
    t0, t1 = model.t_span
    for spread in SPREADS:
        for stretch in STRETCHES:
            dice = np.random.default_rng(int(1e6 * spread * stretch) + 11)
            noise = dice.uniform(-1.0, 1.0, model.n)
            near = np.where(known, given + spread * stretch * noise * scale, noise * scale)
            yield Point(t0 + min(0.01, spread) * stretch / 10 * (t1 - t0), near, start=False), scale


def elsewhere(model: Model, scale: Array) -> Point:
    """Return a point away from the start, where what vanishes there has its usual size."""
    given = np.array([0.0 if value is None else value for value in model.y0], dtype=float)
    t0, t1 = model.t_span
    away = np.random.default_rng(5).uniform(0.5, 1.0, model.n) * scale
    return Point(t0 + PART * (t1 - t0), given + away, start=False)


def along(model: Model, near: Point) -> list[Point]:
    """Return points at later times with the same state: what depends on time alone is seen there."""
    t0, t1 = model.t_span
    return [Point(t0 + share * (t1 - t0), near.y, start=False) for share in np.linspace(0.0, 1.0, TIMES)[1:]]


def at_start(model: Model, scale: Array, near: Array) -> tuple[Point, Array]:
    """Return the start itself, open components as at a point near it; these move first."""
    given = np.array([np.nan if value is None else value for value in model.y0], dtype=float)
    y = np.where(np.isnan(given), near, given)
    return Point(model.t_span[0], y, start=True), np.where(np.isnan(given), _EASE, 1.0) * scale
