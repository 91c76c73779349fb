"""What a run keeps: accepted points or values at t_eval, all components or some; changes of selection."""

from __future__ import annotations

import numpy as np

from herk.core.dae import Array
from herk.integrate.dense import DenseOutput, rows
from herk.integrate.interpolant import Interpolant, plain_rows, through
from herk.integrate.options import Request
from herk.integrate.steppers.protocol import Stepper
from herk.integrate.track import Track

Points = tuple[Array, Array, np.ndarray]  # times, states by rows, the selection of the step that led to each

MOST_AHEAD = 2**24  # floats asked for before there is anything to put there
MOST_PASSING = 2**18  # floats of points that are not kept


class Output:
    """Grows by chunks of accepted points.

    Each is added at once, so that an interrupt leaves a consistent whole.
    """

    def __init__(self, request: Request, machine: Stepper, y0: Array) -> None:
        """Begin with the start."""
        self.request, self.machine = request, machine
        self.save = slice(None) if request.save is None else list(request.save)
        self.every_point = request.save is None and (request.dense_output or request.t_eval is None)
        n, capacity = machine.dae.n, 128
        if request.step is not None and self.every_point:
            steps = abs(request.t1 - request.t0) / request.step
            capacity += int(min(steps, request.max_steps, MOST_AHEAD / n))
        self.track = Track(n, capacity)
        self.track.begin(request.t0, y0)
        self.steps = 0
        self.values: list[tuple[Array, Array]] = []
        self.pieces: list[tuple[Array, Array]] = []  # dense output of the components saved
        self.selections: list[tuple[float, tuple[int, ...]]] = []
        self.done = 0  # how many of t_eval have values
        if request.t_eval is not None:
            self._evaluate((self.track.t, self.track.y, self.track.slots))
        elif request.save is not None:
            self._keep_points(1)

    @property
    def last(self) -> tuple[float, Array]:
        """Return the last accepted point."""
        return float(self.track.t[-1]), self.track.y[-1]

    def room(self, size: int) -> Points:
        """Return arrays for up to `size` of the next points; `add` keeps those that count."""
        if not self.every_point:
            self.track.restart()
            size = min(size, max(MOST_PASSING // self.machine.dae.n, 1))
        return self.track.room(size)

    def add(self, count: int) -> None:
        """Keep the first `count` points in the last room and compute the values at t_eval they enclose."""
        if not count:
            return
        joined = None if self.request.t_eval is None and self.request.save is None else self._joined(count)
        self._note_selections(count)
        self.track.count += count
        self.steps += count
        if joined is None:
            return
        if self.request.t_eval is not None:
            self._evaluate(joined)
        else:
            self._keep_points(count)
        if self.request.save is not None and self.request.dense_output:
            ends, values = through(self.machine, *joined, joined[0].copy())
            self.pieces.append((ends, values[..., self.save]))

    def ahead(self, count: int) -> tuple[Array, Array]:
        """Return times and states (by rows) of the last kept point and the first `count` in the room."""
        first = self.track.count - 1
        return self.track.stretch(first, first + 1 + count)[:2]

    def between(self, count: int, times: Array) -> Array:
        """Return the states at times between the last kept point and the first `count` in the room.

        That follows it.
        """
        return rows(self.machine, *self._joined(count), times)

    def results(self) -> tuple[Array, Array]:
        """Return times and states (n x points) as asked for."""
        if self.request.t_eval is None and self.request.save is None:
            return self.track.t, self.track.y.T
        if not self.values:
            return np.zeros(0), np.zeros((len(np.arange(self.machine.dae.n)[self.save]), 0))
        t, y = (np.concatenate(part) for part in zip(*self.values, strict=True))
        return t, y.T

    def dense(self) -> DenseOutput | Interpolant:
        """Return the dense output over all accepted points."""
        track = self.track
        if self.request.save is not None:
            return self._saved_pieces()
        if not self.request.project_output:
            return Interpolant.over(self.machine, track.t.copy(), track.y.copy(), track.slots.copy())
        return DenseOutput.over(
            self.machine.recipe(self.request),
            self.machine,
            track.t.copy(),
            track.y.copy(),
            track.slots.copy(),
        )

    def _saved_pieces(self) -> Interpolant:
        """Return the dense output of the components saved."""
        if not self.pieces:
            return Interpolant(self.track.t.copy(), self.track.y[:, None, self.save].copy())
        ends, values = zip(*self.pieces, strict=True)
        times = [ends[0], *(each[1:] for each in ends[1:])]
        return Interpolant(np.concatenate(times), np.concatenate(values))

    def _keep_points(self, count: int) -> None:
        """Keep what is saved of the last points."""
        self.values.append((self.track.t[-count:].copy(), self.track.y[-count:, self.save].copy()))

    def _joined(self, count: int) -> Points:
        """Return the last kept point and the next `count` ones, whether kept yet or not."""
        first = self.track.count - 1
        t, y, slots = self.track.stretch(first, first + 1 + count)
        if count:
            slots[0] = slots[1]  # no step of this stretch led to its first point
        return t, y, slots

    def _evaluate(self, points: Points) -> None:
        times = self.request.t_eval
        assert times is not None
        t_new = points[0][-1]
        upto = int(np.count_nonzero(times <= t_new if self.request.t1 > self.request.t0 else times >= t_new))
        if upto > self.done:
            wanted = times[self.done : upto]
            values = rows if self.request.project_output else plain_rows
            self.values.append((wanted, values(self.machine, *points, wanted)[:, self.save]))
            self.done = upto

    def _note_selections(self, count: int) -> None:
        """Remember from which time on other components were algebraic in the next `count` steps."""
        if not count:
            return
        t, slots = self.track.steps(count)
        known, found = self.machine.known, self.selections
        first = known[slots.item(0)]
        if not found or found[-1][1] != first:
            found.append((t.item(0), first))
        if len(known) == 1:
            return
        changed = slots[1:] != slots[:-1]
        if True in changed.tobytes():  # seldom: numpy's own question takes longer than all the rest
            changes = np.flatnonzero(changed) + 1
            found += zip(t[changes].tolist(), [known[slot] for slot in slots[changes].tolist()], strict=True)
