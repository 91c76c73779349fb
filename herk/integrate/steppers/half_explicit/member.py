"""Half-explicit runs of many members, as machine code begins them and looks between their points."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steppers.half_explicit.sample import sample
from herk.integrate.steppers.half_explicit.stepper import settle
from herk.integrate.steps import NEGLIGIBLE, RUNNING, STUCK, Loop
from herk.jit.program import Program
from herk.jit.state import Floats, Wholes


def begin_member(loop: Loop, least: Floats) -> int:
    """Settle the start as for a single run; it is refused where what was checked does not hold."""
    own = HalfExplicit.at(loop.own)
    status = settle(loop)
    if status != RUNNING:
        return status
    if not loop.error <= NEGLIGIBLE:
        return STUCK
    if own.slot == 0:
        for i in range(own.m + 1):
            if not abs(own.pivot[i]) >= least[i]:
                return STUCK
    return RUNNING


def sample_member(
    own: HalfExplicit, t: Floats, y: Floats, slots: Wholes, times: Floats, branched: int, out: Floats
) -> int:
    """Write the values at times between points."""
    return sample(own, t, y, slots, times, branched, out)


PROGRAM = Program(begin_member, sample_member)
