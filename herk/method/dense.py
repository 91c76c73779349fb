"""Dense output: a callable over the accepted points of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from herk.core import HerkError, InputError
from herk.core.dae import Array
from herk.method.machine import Machine
from herk.method.memory import OK, Memory
from herk.core.jit import quiet


@dataclass(frozen=True)
class DenseOutput:
    """Evaluates between accepted points: order of the tableau's dense output, and on the constraints like the points themselves."""

    machine: Machine
    memory: Memory
    t: Array
    y: Array
    slots: np.ndarray

    @classmethod
    def over(cls, machine: Machine, t: Array, y: Array, slots: np.ndarray) -> DenseOutput:
        """Return the dense output over points y (by rows), with memory of its own: the run may go on meanwhile."""
        memory = Memory(machine.memory.floats.copy(), machine.memory.ints.copy())
        return cls(machine, memory, np.ascontiguousarray(t), np.ascontiguousarray(y), np.ascontiguousarray(slots))

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        times = np.array(t, dtype=float)
        low, high = min(self.t[0], self.t[-1]), max(self.t[0], self.t[-1])
        if times.ndim > 1 or not ((times >= low) & (times <= high)).all():
            raise InputError(f"Dense output is known from {low} to {high}; ask for a time or a vector of times in between.")
        out = self.rows(times.reshape(-1))
        return out[0] if times.ndim == 0 else out.T

    def rows(self, times: Array) -> Array:
        """Return y at the times, one row each."""
        out = np.empty((times.size, self.machine.dae.n))
        if self.t.size == 1:
            out[:] = self.y[0]
            return out
        machine = self.machine
        with quiet(), np.errstate(all="ignore"):
            status = machine.sampler(
                self.memory.floats, self.memory.ints, machine.table, self.t, self.y.reshape(-1), self.slots, np.ascontiguousarray(times), out,
            )  # fmt: skip
        if status != OK:
            raise HerkError("The constraints could not be solved between two accepted points; use smaller tolerances.")
        return out
