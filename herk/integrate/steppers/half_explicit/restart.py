"""A machine made for one start put at another: what was checked there must hold here as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import Request, fill
from herk.integrate.steppers.half_explicit.stepper import PROGRAM, settle
from herk.integrate.steppers.half_explicit.tolerances import set_tolerances
from herk.integrate.steps import RUNNING

if TYPE_CHECKING:
    from herk.integrate.steppers.half_explicit.machine import Machine

WEAKER = 1e-6  # pivots that are smaller by this factor than where the run was prepared are looked at again
NEGLIGIBLE = 1e-3  # of the tolerance: how far a start may be from the constraints


@dataclass
class Beginning:
    """A machine as it was before its first step, and the least pivots with which it may begin elsewhere."""

    loop: Array
    state: Array
    least: Array | None = None

    @classmethod
    def of(cls, machine: Machine) -> Beginning:
        """Remember how the machine is now."""
        return cls(machine.loop.words.copy(), machine.state.words.copy())

    def restore(self, machine: Machine) -> None:
        """Put everything back, with the selections that were learned since."""
        machine.loop.words[:], machine.state.words[:] = self.loop, self.state
        machine.state.bind("table", machine.table)
        machine.state.known = len(machine.known)

    def again(self, machine: Machine, asked: Request, values: Array | None) -> bool:
        """Put the machine at another start; False if what was checked does not hold there."""
        if machine.state.words.size != self.state.size:  # a selection on the way needed more room
            return False
        if self.least is None:
            self.restore(machine)
            PROGRAM[settle].call(machine.loop.address)
            self.least = WEAKER * np.abs(machine.state.pivot)
        self.restore(machine)
        loop, state = machine.loop, machine.state
        if values is not None:
            if not (np.isfinite(values).all() and values.all()):
                return False
            state.parameters[:] = values
        for i, value in enumerate(asked.y0):
            if value is None:
                state.open[i] = 1
            else:
                state.y[i] = value
        set_tolerances(asked, state, generated=machine.code is not None)
        fill(asked, loop)
        if asked.selection == "sparse":
            np.abs(state.y, out=state.size)
        n = state.n
        state.floor[n:] = np.abs(state.y) + state.floor[:n]
        if PROGRAM[settle].call(loop.address) != RUNNING or not loop.error <= NEGLIGIBLE:
            return False
        machine.rtol, machine.atol = asked.rtol, asked.atol
        return bool(state.slot or (np.abs(state.pivot) >= self.least).all())
