"""What a model shows of its course in time: conditions on time alone, narrow pulses, and when they come."""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp

from herk.codegen.equations import Equations
from herk.model.breakpoints import breakpoints, switching_functions
from herk.model.pulses import Pulse, pulses, times


class InTime(NamedTuple):
    """Functions of time and parameters: those whose zeros are breakpoints, and where pulses may be."""

    switching: tuple[sp.Expr, ...]
    pulses: tuple[Pulse, ...]

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self.switching or self.pulses)

    def times(
        self, t: sp.Symbol, parameters: tuple[tuple[sp.Symbol, float], ...], span: tuple[float, float]
    ) -> tuple[float, ...]:
        """Return the breakpoints for these values and this span."""
        if not self:
            return ()
        found = breakpoints(self.switching, t, parameters, span), times(self.pulses, t, parameters, span)
        return tuple(sorted({time for each in found for time in each}))


def in_time(system: Equations) -> InTime:
    """Return what a system shows."""
    return InTime(switching_functions(system), pulses(system))
