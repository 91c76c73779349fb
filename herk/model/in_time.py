"""What a model shows of its course in time: conditions on time alone, narrow pulses, and when they come."""

from __future__ import annotations

import math
from typing import NamedTuple

import sympy as sp

from herk.codegen.equations import Equations
from herk.model.breakpoints import Switching, breakpoints, switching_functions
from herk.model.pulses import Pulse, pulses, times


class InTime(NamedTuple):
    """Functions of time and parameters: those whose zeros are breakpoints, and where pulses may be."""

    switching: tuple[Switching, ...]
    pulses: tuple[Pulse, ...]

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self.switching or self.pulses)

    def times(
        self,
        t: sp.Symbol,
        parameters: tuple[tuple[sp.Symbol, float], ...],
        span: tuple[float, float],
        max_step: float = math.inf,
    ) -> tuple[float, ...]:
        """Return the breakpoints for these values and this span, if steps are no longer than `max_step`."""
        if not self:
            return ()
        where = t, parameters, span, max_step
        found = breakpoints(self.switching, *where), times(self.pulses, *where)
        return tuple(sorted({time for each in found for time in each}))


def in_time(system: Equations) -> InTime:
    """Return what a system shows."""
    return InTime(switching_functions(system), pulses(system))
