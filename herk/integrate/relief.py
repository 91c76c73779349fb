"""Where the first method of a run fails, the other one begins: not there, but at a point before.

Close to a singular point all solutions look alike, so a method that begins there may go on along another one.
From some way before it sees for itself what the constraints do. If it gets no farther, the failure stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herk.core import Reason
from herk.integrate.run import Run
from herk.integrate.start import solution_of

if TYPE_CHECKING:
    from herk.integrate.journey import Journey

# how one of two methods may fail where the other one perhaps does not
DEFEATS = (Reason.NEWTON, Reason.STEP_UNDERFLOW, Reason.SINGULAR, Reason.NONFINITE)
BACK = 0.1  # of the way of the run that failed, which is made again by the other method
FARTHER = 1e-3  # of the span, that it must get on behind the failure
CRAWL = 1e-6  # of the way back: with shorter steps rounding decides along which of two solutions it goes on


@dataclass(frozen=True)
class Relief:
    """The run that failed, how many segments came before it, and from where the other method goes on."""

    failed: Run
    before: int
    t: float

    @property
    def min_step(self) -> float:
        """Return the shortest step with which the other method may pass singular constraints."""
        singular = self.failed.reason is Reason.SINGULAR
        return CRAWL * abs(self.failed.output.last[0] - self.t) if singular else 0.0

    @property
    def why(self) -> str:
        """Return what is told about the change of the method."""
        assert self.failed.reason is not None
        return f"{self.failed.request.method.name} failed a little later: {self.failed.reason.value}"


def wanted(run: Run, uses: int) -> bool:
    """Tell whether a run failed where its only method so far has a partner."""
    return run.reason in DEFEATS and run.request.plan is not None and uses == 1


def relieved(journey: Journey, run: Run) -> bool:
    """Go back if the other method is to try its luck from there, unless a branch may just have ended."""
    if not wanted(run, len(journey.uses)) or journey.relief is not None or journey.switches is not None:
        return False
    start, t = run.request.t0, run.output.last[0]
    journey.relief = Relief(run, len(journey.runs), t - BACK * (t - start))
    if t == start:  # no step was made: the other method begins where this one should have
        journey.stay(journey.relief.why)
        journey.continued = False
    return True


def handed_over(journey: Journey, stop: float) -> bool:
    """Let the other method go on if this is where it should; the journey goes on in any case."""
    relief = journey.relief
    if relief is not None and stop == relief.t:
        journey.stay(relief.why)
        if relief.failed.reason is Reason.SINGULAR:
            t = relief.failed.output.last[0]
            journey.said.append(
                f"Near t = {t!r} the equations are singular: several solutions may meet there."
            )
    return True


def in_vain(journey: Journey, run: Run) -> bool:
    """Tell whether the other method failed too, about where the first one did: then that is what is told."""
    relief = journey.relief
    if relief is None or run.reason not in DEFEATS:
        return False
    way = journey.forward * (run.output.last[0] - relief.failed.output.last[0])
    if way > FARTHER * abs(journey.asked.t1 - journey.asked.t0):
        return False
    journey.runs[relief.before :] = [relief.failed]
    journey.parts[relief.before :] = [solution_of(relief.failed)]
    del journey.uses[1:]
    return True
