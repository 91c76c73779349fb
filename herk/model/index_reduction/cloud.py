"""The points of an analysis as a whole: moved onto constraints together, the start itself beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import mpmath
import numpy as np
import sympy as sp

from herk.linalg.rank import Split, equilibrated, split
from herk.model.index_reduction.clock import DEADLINE
from herk.model.index_reduction.findings import RegularizationError
from herk.model.index_reduction.points import DIGITS, Point, slots, start, starts
from herk.model.index_reduction.projection import Projection
from herk.model.index_reduction.scales import scales
from herk.model.model import Model

_EASE = 1e5  # how much rather open components of the start move than given ones


class Cloud:
    """Points on the constraints found so far; `finite` tells whether the rows have values at a point."""

    def __init__(self, model: Model, finite: Callable[[Point], bool]) -> None:
        """Begin without points."""
        self.model = model
        self.scales = scales(model)
        self.points: list[Point] = []
        self._finite = finite
        self._last: Projection | None = None
        self._reached: tuple[tuple[sp.Expr, ...] | None, list[Point]] = None, []

    def projection(self, constraints: Sequence[sp.Expr]) -> Projection:
        """Return the projection onto these constraints; the last one is the one asked for again."""
        key = tuple(constraints)
        if self._last is None or self._last.constraints != key:
            self._last = Projection(self.model, key, self.scales)
        return self._last

    def onto(self, constraints: Sequence[sp.Expr]) -> list[Point]:
        """Return points on the constraints where rows have values.

        Without any near ones the far ones decide.
        """
        key, reached = self._reached
        if reached and key == tuple(constraints) and all(self._finite(point) for point in reached):
            return reached  # the rows are others now, the constraints are the same
        projection = self.projection(constraints)
        points: list[Point] = []
        for slot, near in slots():
            self.watch_the_clock()
            known = [p for p in self.points if p.slot == slot]
            thorough = near or not points  # far points only raise doubts, unless there are no others
            for begin in chain(known, starts(self.model, self.scales, slot, thorough)):
                point = projection.onto(begin)
                if point is not None and self._finite(point):
                    points.append(point)
                    break
        points = points if any(p.near for p in points) else [replace(p, near=True) for p in points]
        self._reached = tuple(constraints), points
        return points

    def start(self, constraints: Sequence[sp.Expr]) -> Point | None:
        """Return the start itself, made consistent by its open components; None if that fails."""
        begin = start(self.model, self.scales, self.points[0])
        ease = np.array([_EASE if value is None else 1.0 for value in self.model.y0])
        point = self.projection(constraints).onto(begin, ease)
        return point if point is not None and self._finite(point) else None

    def gradients(self, constraints: Sequence[sp.Expr], points: Sequence[Point]) -> Split:
        """Return which constraints have gradients that depend on those before them."""
        projection = self.projection(constraints)
        with mpmath.workdps(DIGITS):
            matrices = [equilibrated(projection.gradients(point)) for point in points]
            return split(matrices, [point.near for point in points], range(len(constraints)))

    def independent(self, constraints: Sequence[sp.Expr]) -> bool:
        """Tell whether the constraints can hold together and g_y has full row rank where they do."""
        points = self.onto(constraints)
        return bool(points) and not self.gradients(constraints, points).relations

    def watch_the_clock(self) -> None:
        """Raise if the time allowed for the analysis is over."""
        if time.monotonic() > DEADLINE.get():
            raise RegularizationError(
                f"The analysis of model {self.model.name!r} did not end within the time allowed; "
                "allow more, or give regularize simplify=False."
            )
