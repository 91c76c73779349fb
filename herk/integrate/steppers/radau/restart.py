"""A machine made for one start put at another: what was checked there must hold here as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import Request, fill
from herk.integrate.steppers.radau.open_start import filled
from herk.integrate.steppers.radau.stepper import PROGRAM, check
from herk.integrate.steppers.radau.tolerances import set_tolerances
from herk.integrate.steps import NEGLIGIBLE, RUNNING

if TYPE_CHECKING:
    from herk.integrate.steppers.radau.layout import Radau
    from herk.integrate.steppers.radau.machine import Machine
    from herk.integrate.steps import Loop

ROUNDING = 1e-14  # relative, of constraints that hold
WEAKER = 1e-6  # a pivot that is smaller by this factor than where the run was prepared is looked at again


@dataclass
class Beginning:
    """A machine as it was before its first step, and the least pivot with which it may begin elsewhere."""

    made: Request  # for this the machine was made,
    asked: Request  # and this it was last asked for
    loop: Array
    state: Array
    least: float

    @classmethod
    def of(cls, machine: Machine) -> Beginning:
        """Remember how the machine is now."""
        kept = machine.loop.words.copy(), machine.state.words.copy()
        PROGRAM[check].call(machine.loop.address)
        least = WEAKER * machine.state.pivot
        made = cls(machine.asked, machine.asked, *kept, least)
        made.restore(machine)
        return made

    def restore(self, machine: Machine) -> None:
        """Put everything back."""
        machine.loop.words[:], machine.state.words[:] = self.loop, self.state

    def again(self, machine: Machine, asked: Request, values: Array | None) -> bool:
        """Put the machine at another start; False if what was checked does not hold there."""
        if None in asked.y0 and self._same(machine, asked, values):
            return True
        if values is not None and not (np.isfinite(values).all() and values.all()):
            return False
        self._follow(machine, asked)
        loop, state = machine.loop, machine.state
        if values is not None:
            state.parameters[:] = values
        if not put(asked, loop, state):
            return False
        if PROGRAM[check].call(loop.address) != RUNNING:
            return False
        return bool(state.pivot >= self.least and loop.error <= allowed(asked))

    def _same(self, machine: Machine, asked: Request, values: Array | None) -> bool:
        """Put the machine at the start it was made for, where all that is open was computed; nowhere else."""
        made, first = self.made, machine.state.places["parameters"]
        if values is not None and values.tolist() != self.state[first : first + values.size].tolist():
            return False
        where = [(each.t0, each.y0, each.consistent, each.rtol) for each in (asked, made)]
        if where[0] != where[1] or not (asked.atol is made.atol or (asked.atol == made.atol).all()):
            return False
        self._follow(machine, asked)
        return True

    def _follow(self, machine: Machine, asked: Request) -> None:
        """Put everything back, for what is asked now; the next run is probably asked for in the same way."""
        self.restore(machine)
        if asked is not self.asked and not asked.steps_like(self.asked):
            set_tolerances(asked, machine.state)
            fill(asked, machine.loop)
            self.loop[:], self.state[:] = machine.loop.words, machine.state.words
        self.asked = machine.asked = asked


def put(asked: Request, loop: Loop, state: Radau) -> bool:
    """Write the start into the state; False if what is open has to be looked for."""
    y0 = asked.y0
    if None not in y0:
        state.y[:] = y0
        return True
    if asked.consistent != "check" or state.sparse or state.unlike:
        return False
    state.y[:] = [value or 0.0 for value in y0]
    state.open[:] = [value is None for value in y0]
    return bool(PROGRAM[filled].call(loop.address) == RUNNING)


def allowed(asked: Request) -> float:
    """Return how far a start may be from the constraints, in units of the tolerance.

    One that may be repaired must need no repair: behind a kink a current jumps by less than the tolerances of
    the charges that its constraint contains, and no step is short enough for what it was.
    """
    return min(NEGLIGIBLE, ROUNDING / asked.rtol) if asked.consistent == "project" else NEGLIGIBLE
