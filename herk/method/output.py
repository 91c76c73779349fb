"""What a run keeps: accepted points or values at t_eval, and when the selection changed."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array
from herk.method.dense import DenseOutput, rows
from herk.method.machine import Machine
from herk.method.options import Request
from herk.method.ready import Recipe

Points = tuple[Array, Array, np.ndarray]  # times, states by rows, the selection of the step that led to each


class Output:
    """Grows by chunks of accepted points; each is added at once, so that an interrupt leaves a consistent whole."""

    def __init__(self, request: Request, machine: Machine, y0: Array) -> None:
        """Begin with the start."""
        self.request, self.machine = request, machine
        self.every_point = request.dense_output or request.t_eval is None
        self.points: list[Points] = [(np.array([request.t0]), y0[None, :].copy(), np.zeros(1, dtype=np.int64))]
        self.values: list[tuple[Array, Array]] = []
        self.selections: list[tuple[float, tuple[int, ...]]] = []
        self.done = 0  # how many of t_eval have values
        self._evaluate(self.points[0])

    @property
    def last(self) -> tuple[float, Array]:
        """Return the last accepted point."""
        t, y, _ = self.points[-1]
        return float(t[-1]), y[-1]

    def add(self, t: Array, y: Array, slots: np.ndarray) -> None:
        """Keep accepted points and compute the values at t_eval they enclose."""
        if not t.size:
            return
        self._note_selections(t, slots)
        joined = self._joined(t, y, slots)
        self.points = [*self.points, (t, y, slots)] if self.every_point else [(t[-1:], y[-1:], slots[-1:])]
        self._evaluate(joined)

    def between(self, t: Array, y: Array, slots: np.ndarray, times: Array) -> Array:
        """Return the states at times between points that are not kept yet (the first follows the last kept one)."""
        return rows(self.machine, *self._joined(t, y, slots), times)

    def results(self) -> tuple[Array, Array]:
        """Return times and states (n x points) as asked for."""
        parts = [(t, y) for t, y, _ in self.points] if self.request.t_eval is None else self.values
        if not parts:
            return np.zeros(0), np.zeros((self.machine.dae.n, 0))
        t, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        return t, y.T

    def dense(self) -> DenseOutput:
        """Return the dense output over all accepted points."""
        t, y, slots = (np.concatenate(part) for part in zip(*self.points, strict=True))
        return DenseOutput.over(Recipe.of(self.request, self.machine), self.machine, t, y, slots)

    def _joined(self, t: Array, y: Array, slots: np.ndarray) -> Points:
        before, state = self.last
        return np.concatenate([[before], t]), np.vstack([state, y]), np.concatenate([slots[:1], slots])

    def _evaluate(self, points: Points) -> None:
        times = self.request.t_eval
        if times is None:
            return
        t_new = points[0][-1]
        upto = int(np.count_nonzero(times <= t_new if self.request.t1 > self.request.t0 else times >= t_new))
        if upto > self.done:
            wanted = times[self.done : upto]
            self.values.append((wanted, rows(self.machine, *points, wanted)))
            self.done = upto

    def _note_selections(self, t: Array, slots: np.ndarray) -> None:
        for i in np.flatnonzero(np.diff(slots, prepend=-1)):
            chosen = self.machine.known[slots[i]]
            if not self.selections or self.selections[-1][1] != chosen:
                self.selections.append((float(t[i - 1]) if i else self.last[0], chosen))
