"""Radau runs of many members, as machine code begins them and looks between their points."""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import Radau
from herk.integrate.steps import NEGLIGIBLE, RUNNING, STUCK, Loop, stepper_at
from herk.jit.by_address import by_address
from herk.jit.program import Program
from herk.jit.state import Floats, Wholes

sample_at = by_address("int(int, Floats, Floats, Wholes, Floats, Floats)")


def begin_member(loop: Loop, least: Floats) -> int:
    """Look at the start as for a single run; it is refused where what was checked does not hold."""
    own = Radau.at(loop.own)
    status = stepper_at(own.at_check)(loop)
    if status != RUNNING or not (own.pivot >= least[0] and loop.error <= NEGLIGIBLE):
        return STUCK
    return RUNNING


def sample_member(
    own: Radau,
    t: Floats,
    y: Floats,
    slots: Wholes,
    times: Floats,
    branched: int,  # noqa: ARG001 - there are no branches
    out: Floats,
) -> int:
    """Write the values at times between points."""
    return sample_at(own.at_sample)(own, t, y, slots, times, out)


PROGRAM = Program(begin_member, sample_member)
