"""Values between the steps of a large run: one selection after the other, with factors that serve there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herk.core.dae import Array
from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.sample import sample
from herk.integrate.steppers.half_explicit.selecting import jacobian_here
from herk.integrate.steppers.half_explicit.sparse_parts import put_parts
from herk.integrate.steppers.half_explicit.stepper import PROGRAM
from herk.integrate.steps import OK
from herk.jit.native import passed
from herk.linalg.sparse_lu import SparseLU

if TYPE_CHECKING:
    from herk.integrate.steppers.half_explicit.sparse_machine import SparseMachine


class Stretch(NamedTuple):
    """Steps made with one selection: `lead` of the points are before it and tell where it came from."""

    number: int  # of the selection
    t: Array
    y: Array  # by rows
    lead: int

    def part(self, first: int, last: int) -> Stretch:
        """Return the steps from one point to another one."""
        lead = int(first > 0)
        return Stretch(self.number, self.t[first - lead : last + 1], self.y[first - lead : last + 1], lead)


def between(machine: SparseMachine, t: Array, y: Array, slots: np.ndarray, times: Array, out: Array) -> int:
    """Write the states at times between the points y (by rows) at t; return how that ended."""
    changes = np.flatnonzero(np.diff(slots[1:])) + 1
    forward, whole = t[-1] >= t[0], Stretch(0, t, y, 0)
    step = np.searchsorted(t if forward else -t, times if forward else -times, side="right") - 1
    step = np.clip(step, 0, len(t) - 2)
    for first, last in pairwise([0, *changes.tolist(), len(t) - 1]):
        here = np.flatnonzero((step >= first) & (step < last))
        if here.size:
            found, stretch = np.empty((here.size, y.shape[1])), whole.part(first, last)
            status = _within(machine, stretch._replace(number=int(slots[first + 1])), times[here], found)
            if status != OK:
                return status
            out[here] = found
    return OK


def _within(machine: SparseMachine, stretch: Stretch, times: Array, out: Array) -> int:
    """Do the same with one selection, on a copy of the state.

    Orders of pivots that serve at the end of a long stretch may be unfit before: then others are found, for a
    part of it.
    """
    number, t, y, lead = stretch
    status = machine.loop.cause or -1
    for anew in (False, True) if number in machine.loaded else (True,):
        state = machine.state.copy()
        state.y[:] = y[lead]
        used = _factors(machine, number, float(t[lead]), state, anew=anew)
        if used is not None:
            status = _sampled(machine, state, used, stretch, times, out)
        if status == OK:
            return status
    half, last = (len(t) + lead) // 2, len(t) - 1
    if half == lead + 1 == last:  # one step
        return status
    early = (times <= t[half]) == (t[-1] >= t[0])
    parts = (stretch._replace(t=t[: half + 1], y=y[: half + 1]), early), (stretch.part(half, last), ~early)
    for part, here in parts:
        if here.any():
            found = np.empty((int(here.sum()), y.shape[1]))
            status = _within(machine, part, times[here], found)
            if status != OK:
                return status
            out[here] = found
    return OK


def _factors(
    machine: SparseMachine, number: int, t: float, state: HalfExplicit, *, anew: bool
) -> list[SparseLU] | None:
    """Let a copy of the state have a selection; return factors for it, None if it is singular there."""
    m, made, tail = machine.dae.m, None, machine.tail
    row = machine.row_of(machine.known[number] if m else ())
    state.bind("table", row)
    state.known = 1
    if m == 0:
        return []
    if anew:
        PROGRAM[jacobian_here].call(t, state.address)
        tail = machine.tail_of(state.jacobian)
        factors = machine.factored(row, state) if tail is not None or machine.divided is None else None
        made = factors and factors[0]
    else:
        made = machine.loaded[number][0]
    if made is None:
        return None
    return [made.copy()] if tail is None else [made.copy(), tail.copy()]


def _sampled(
    machine: SparseMachine,
    state: HalfExplicit,
    used: Sequence[SparseLU],
    stretch: Stretch,
    times: Array,
    out: Array,
) -> int:
    """Write the states at times with these factors; return how that ended."""
    parts = put_parts(state, machine.divided, used)
    slots = np.zeros(len(stretch.t), dtype=np.int64)
    points = np.ascontiguousarray(stretch.y).reshape(-1)
    branched = int(not machine.loop.fixed)
    given = passed((np.ascontiguousarray(stretch.t), points, slots, times, branched, out.reshape(-1)))
    status = int(PROGRAM[sample].call(state.address, *given))
    del parts  # which had to live so long
    return status
