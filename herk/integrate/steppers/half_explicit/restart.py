"""A machine made for one start put at another: what was checked there must hold here as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import EPS, Request, fill
from herk.integrate.steppers.half_explicit.stepper import PROGRAM, resettle
from herk.integrate.steppers.half_explicit.tolerances import set_tolerances
from herk.integrate.steps import NEGLIGIBLE, RUNNING
from herk.jit.state import FLOAT, WHOLE, Wholes, address_of

if TYPE_CHECKING:
    from herk.integrate.steppers.half_explicit.layout import HalfExplicit
    from herk.integrate.steppers.half_explicit.machine import Machine

WEAKER = 1e-6  # pivots that are smaller by this factor than where the run was prepared are looked at again
ROUNDING = 64 * EPS  # beside the sizes of components: a start so near the constraints needs no repair


@dataclass
class Beginning:
    """A machine as it was before its first step."""

    asked: Request
    loop: Array
    state: Array
    known: int  # selections
    measured: bool = False  # its pivots are known
    spare: Array = field(default_factory=lambda: np.empty(0))  # as large as the state,
    spare_at: int = 0  # and its address
    y0: tuple[float | None, ...] = ()  # the last start that was not given whole,
    written: tuple[Array, Wholes] = (np.empty(0), np.empty(0, dtype=np.int64))  # as it is put into the state

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
        if asked.consistent != "project":
            return self._settled(machine, asked, values, NEGLIGIBLE)
        near = ROUNDING / asked.rtol
        if self._settled(machine, asked, values, near):
            return True
        return self._settled(machine, asked, values, near, machine.state.required)

    def _settled(
        self, machine: Machine, asked: Request, values: Array | None, near: float, moved: Wholes | None = None
    ) -> bool:
        """Put the machine there; what is given and may not be moved must be this near the constraints."""
        self.restore(machine)
        state = machine.state
        if asked is not self.asked:
            self._follow(machine, asked)
        if values is not None:
            state.parameters[:] = values
        self._put(state, asked.y0, moved)
        machine.asked = asked
        return self._resettled(machine, values is not None, near)

    def _put(self, state: HalfExplicit, y0: tuple[float | None, ...], moved: Wholes | None) -> None:
        """Write the start into the state; what may be moved is computed from where it stands.

        What is not given is computed from zero: from the start of another run it might come to another
        solution.
        """
        if None not in y0:
            state.y[:], state.open[:] = y0, 0 if moved is None else moved
            return
        if y0 is not self.y0:
            missing = np.array([value is None for value in y0], dtype=np.int64)
            self.y0, self.written = y0, (np.array([value or 0.0 for value in y0]), missing)
        state.y[:], missing = self.written
        state.open[:] = missing if moved is None else missing | moved

    def _follow(self, machine: Machine, asked: Request) -> None:
        """Begin like this from now on: the next run is probably asked for with the same tolerances."""
        if not asked.steps_like(self.asked):
            set_tolerances(asked, machine.state, generated=machine.code is not None)
            fill(asked, machine.loop)
            self.loop[:], self.state[:] = machine.loop.words, machine.state.words
        self.asked = asked

    def _resettled(self, machine: Machine, other: bool, near: float) -> bool:
        loop, state, size = machine.loop, machine.state, self.state.size
        if self.spare.size != size:
            self.spare = np.empty(size)
            self.spare_at = address_of(self.spare)
        memory = state.address, size, self.spare_at, size, state.places["y"]
        return bool(PROGRAM[resettle].call(loop.address, other, near, *memory) == RUNNING)

    def least_pivots(self, machine: Machine) -> Array:
        """Return how small pivots may be at a start."""
        if not self.measured:
            self._measure(machine)
        self.restore(machine)
        return machine.state.least.copy()

    def _measure(self, machine: Machine) -> None:
        """Note how small pivots may become."""
        self.restore(machine)
        self._resettled(machine, False, NEGLIGIBLE)
        least, before = machine.state.least, WEAKER * np.abs(machine.state.pivot)
        self.restore(machine)
        least[:] = before
        self.state[:] = machine.state.words
        self.measured = True
