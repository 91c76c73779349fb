"""A machine made for one start put at another: what was checked there must hold here as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import Request, fill
from herk.integrate.steppers.half_explicit.stepper import PROGRAM, resettle
from herk.integrate.steppers.half_explicit.tolerances import set_tolerances
from herk.integrate.steps import RUNNING
from herk.jit.state import FLOAT, WHOLE

if TYPE_CHECKING:
    from herk.integrate.steppers.half_explicit.layout import HalfExplicit
    from herk.integrate.steppers.half_explicit.machine import Machine

WEAKER = 1e-6  # pivots that are smaller by this factor than where the run was prepared are looked at again


@dataclass
class Beginning:
    """A machine as it was before its first step."""

    asked: Request
    loop: Array
    state: Array
    known: int  # selections
    measured: bool = False  # its pivots are known

    @classmethod
    def of(cls, machine: Machine) -> Beginning:
        """Remember how the machine is now."""
        return cls(machine.asked, machine.loop.words.copy(), machine.state.words.copy(), len(machine.known))

    def restore(self, machine: Machine) -> None:
        """Put everything back, with the selections that were learned since."""
        if machine.state.words.size != self.state.size:
            self._move(machine)
        machine.loop.words[:], machine.state.words[:] = self.loop, self.state
        if self.known != len(machine.known):
            self.known = machine.state.known = len(machine.known)
            machine.state.bind("table", machine.table)
            self.state[:] = machine.state.words

    def _move(self, machine: Machine) -> None:
        """Move to other memory: a selection on the way needed a longer last array."""
        state, loop = machine.state, machine.loop
        words, header = state.words.copy(), state.header
        numbers = [at for kind, at in state.fields.values() if kind in (FLOAT, WHOLE)]
        words[numbers], words[header : self.state.size] = self.state[numbers], self.state[header:]
        moved = [loop.fields["own"][1], loop.fields["y"][1], loop.fields["y"][1] + 1]
        self.state, self.loop[moved] = words, loop.words[moved]

    def again(self, machine: Machine, asked: Request, values: Array | None) -> bool:
        """Put the machine at another start; False if what was checked does not hold there."""
        if not self.measured:
            self._measure(machine)
        self.restore(machine)
        loop, state = machine.loop, machine.state
        if values is not None:
            state.parameters[:] = values
        if asked.y0 is not self.asked.y0:
            _put(state, asked.y0)
        if not asked.steps_like(self.asked):
            set_tolerances(asked, state, generated=machine.code is not None)
            fill(asked, loop)
        machine.asked = asked
        if PROGRAM[resettle].call(loop.address, values is not None) != RUNNING:
            return False
        if None not in asked.y0:
            return True
        # what was computed has a size too, which a start that is given has from the first
        return self.again(machine, asked.changed(y0=tuple(state.y.tolist())), values)

    def least_pivots(self, machine: Machine) -> Array:
        """Return how small pivots may be at a start."""
        if not self.measured:
            self._measure(machine)
        self.restore(machine)
        return machine.state.least.copy()

    def _measure(self, machine: Machine) -> None:
        """Note how small pivots may become."""
        self.restore(machine)
        PROGRAM[resettle].call(machine.loop.address, False)
        least, before = machine.state.least, WEAKER * np.abs(machine.state.pivot)
        self.restore(machine)
        least[:] = before
        self.state[:] = machine.state.words
        self.measured = True


def _put(state: HalfExplicit, y0: tuple[float | None, ...]) -> None:
    """Write the start into the state; what is not given is computed, beginning where it stands."""
    if None not in y0:
        state.y[:], state.open[:] = y0, 0
        return
    for i, value in enumerate(y0):
        state.open[i] = value is None
        state.y[i] = state.y[i] if value is None else value
