"""A machine ready to step: built, its tolerances set, its selections made.

And the recipe to make it again elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.steppers.half_explicit import memory as at
from herk.integrate.steppers.half_explicit.machine import Machine, build
from herk.model.evaluate import Linearisation, linearise


def ready(request: Request, y: Array, here: Linearisation) -> Machine:
    """Build the machine for a start at y and set its tolerances."""
    machine = build(request, y, here)
    memory, n = machine.memory, machine.dae.n
    # Inside a step the algebraic components need only be exact enough not to disturb the error estimate;
    # Newton converges quadratically in generated code, so corrections of this relative size leave errors of
    # about their square.
    tight = 1e-9 if machine.code is not None else 1e-14
    loose = (
        max(tight, min(1e-4, (1e-3 * request.rtol) ** 0.5))
        if machine.code is not None
        else max(tight, 1e-3 * request.rtol)
    )
    memory.floats[at.TIGHT] = tight
    memory.floats[at.TOLERANCE] = tight if request.step is not None else loose
    memory.ints[at.FULL_NEWTON] = request.newton == "full"
    memory.view(at.Y, n)[:] = y
    memory.view(at.FLOOR, n)[:] = request.atol / request.rtol
    return machine


@dataclass(frozen=True)
class Recipe:
    """What a machine was made from, and what it learned on the way; it can be pickled if the DAE can."""

    request: Request
    selections: tuple[tuple[int, ...], ...]
    e_mode: int

    @classmethod
    def of(cls, request: Request, machine: Machine) -> Recipe:
        """Return the recipe of a machine; what only concerns the run is left out."""
        kept = replace(request, events=None, callback=None, t_eval=None)
        return cls(kept, tuple(machine.known), int(machine.memory.ints[at.E_MODE]))

    def machine(self, y: Array) -> Machine:
        """Make the machine again, from the point y it started at."""
        machine = ready(self.request, y, linearise(self.request.dae, self.request.t0, y))
        machine.memory.ints[at.E_MODE] = self.e_mode
        for algebraic in self.selections:
            machine.slot(algebraic)
        return machine
