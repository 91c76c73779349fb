"""Batches of members on the Python side: a prepared machine, room for what they find, and who is refused."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.auto import LONGEST_CHUNK
from herk.integrate.interrupts import undisturbed
from herk.integrate.members import PROGRAM, REFUSED, Members, run_members
from herk.integrate.options import Request
from herk.integrate.prepared import Prepared
from herk.integrate.steppers.half_explicit import member as half_explicit
from herk.integrate.steppers.half_explicit.starts import starts as half_explicit_starts
from herk.integrate.steppers.radau import member as radau
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.integrate.steppers.radau.starts import starts as radau_starts
from herk.integrate.steps import FINISHED
from herk.jit.state import FLOATS, WHOLES

_one_at_a_time = threading.Lock()  # selections are compiled by one thread


@dataclass(frozen=True)
class Found:
    """What the members of a batch found: y (member, time, component), times reached, steps, residuals."""

    y: Array
    finished: np.ndarray
    refused: np.ndarray  # starts that are not where they should be
    done: np.ndarray
    nstep: np.ndarray
    residual: Array


def suits(prepared: Prepared) -> bool:
    """Tell whether members can be run in one call: code of a model, and nothing to be watched on the way."""
    asked, machine = prepared.asked, prepared.machine
    code = not machine.state.general and hasattr(asked.dae.generated, "code")
    watched = asked.events is not None or asked.callback is not None or asked.time_limit is not None
    model = getattr(asked.dae, "model", None)
    smooth = not asked.segmented and not getattr(model, "in_time", ()) and not getattr(model, "peaks", ())
    return code and not watched and smooth and asked.project_output


class Batch:
    """A machine that runs members one after another, by one thread at a time."""

    def __init__(self, prepared: Prepared, times: Array) -> None:
        """Make room for points; note from which pivots on a start is refused."""
        self.prepared, self.times, self.machine = prepared, np.ascontiguousarray(times), prepared.machine
        implicit = isinstance(prepared.asked.method, RadauMethod)
        self.kind: Any = radau if implicit else half_explicit
        self.starts: Any = radau_starts if implicit else half_explicit_starts
        n, size = prepared.asked.dae.n, LONGEST_CHUNK + 1
        self.members = Members(t=size, y=size * n, slots=size)
        begun = self.kind.PROGRAM  # all code is there before threads begin
        self.members.begin = begun[self.kind.begin_member].address
        self.members.sample = begun[self.kind.sample_member].address
        self._run = PROGRAM[run_members].call
        self.least = self._least()
        self.spare: Any = None
        self.pointers = np.zeros(0, dtype=np.int64)

    def _least(self) -> Array:
        machine: Any = self.machine
        beginning = machine.beginning
        if self.kind is radau:
            return np.array([beginning.least])
        least: Array = beginning.least_pivots(machine)
        return least

    @property
    def repairs(self) -> bool:
        """Tell whether components whose derivative does not occur can be computed by the machine."""
        return self.kind is half_explicit and bool(self.machine.state.required.any())

    def run(self, asked: Request, y0: Array, values: Array | None, *, moved: bool = False) -> Found:
        """Run members from these starts (nan: to be computed) with these values of the parameters.

        `moved`: components whose derivative does not occur are computed too, from the values given.
        """
        count, n = y0.shape
        missing = np.isnan(y0)
        if moved:
            missing |= self.machine.state.required != 0
        out = np.full((count, self.times.size, n), np.nan)
        status, done, made = (np.zeros(count, dtype=np.int64) for _ in range(3))
        status[:], residual = REFUSED, np.zeros(count)
        usable = np.ones(count, dtype=bool) if values is None else (values != 0.0).all(axis=1)
        if self.kind is radau:
            usable &= ~np.isnan(y0).any(axis=1)
        for stretch in _stretches(usable):
            room = out[stretch], status[stretch], done[stretch], made[stretch], residual[stretch]
            own = None if values is None else values[stretch]
            complete = self._completed(asked, y0[stretch], missing[stretch], own)
            self._stretch(asked, complete, np.isnan(complete), own, room)
        for k in np.flatnonzero(status != FINISHED):
            out[k, done[k] :] = np.nan
        return Found(out, status == FINISHED, status == REFUSED, done, made, residual)

    def _completed(self, asked: Request, y0: Array, missing: Array, values: Array | None) -> Array:
        """Return the starts with what is computed of them: its sizes count as those of given values do."""
        if not missing.any():
            return y0
        found = y0.copy()
        room = found, *(np.zeros(len(y0), dtype=np.int64) for _ in range(3)), np.zeros(len(y0))
        self.members.only_begun = 1
        self._stretch(asked, y0, missing, values, room)
        self.members.only_begun = 0
        return np.where(missing, found, y0)

    def _stretch(
        self, asked: Request, y0: Array, missing: Array, values: Array | None, room: tuple[Any, ...]
    ) -> None:
        """Run these members; selections they ask for on the way are made, and the member begins again."""
        machine: Any = self.machine
        first, last = 0, len(y0)
        while first < last:
            self._load(self.starts(machine, asked, y0, missing, values), room)
            self.members.first, self.members.last, self.members.steps = first, last, asked.max_steps
            first = int(self._run(self.members.address))
            if first < last:
                with _one_at_a_time, undisturbed():
                    machine.serve()

    def _load(self, starts: Array, room: tuple[Any, ...]) -> None:
        """Tell machine code where everything is."""
        machine, members = self.machine, self.members
        spare = self._spare()
        members.loop, members.own, members.spare = machine.loop.address, machine.state.address, spare.address
        members.worst = machine.state.fields["worst_residual"][1]
        out, status, done, made, residual = room
        arrays = {
            "starts": starts.reshape(-1),
            "loop_start": machine.loop.words.copy(),
            "loop_words": machine.loop.words,
            "own_words": machine.state.words,
            "spare_words": spare.words,
            "pointers": self.pointers,
            "addressed": spare.wholes[self.pointers],
            "spare_wholes": spare.wholes,
            "least": self.least,
            "times": self.times,
            "out": out.reshape(-1),
            "status": status,
            "done": done,
            "made": made,
            "residual": residual,
        }
        for name, array in arrays.items():
            members.bind(name, array)

    def _spare(self) -> Any:
        """Return the state to look between points with: memory of its own, arrays elsewhere are shared."""
        state = self.machine.state
        if self.spare is None or self.spare.words.size != state.words.size:
            self.spare = state.copy()
            places = [at for kind, at in state.fields.values() if kind in (FLOATS, WHOLES)]
            self.pointers = np.array([word for at in places for word in (at, at + 1)], dtype=np.int64)
        for name, array in state.lent.items():
            self.spare.bind(name, array)
        return self.spare


def _stretches(usable: np.ndarray) -> list[slice]:
    """Return the stretches of neighbours that are usable."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], usable, [False]]).astype(int)))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
