"""Where a run in segments stands: the segments behind it, from where it goes on, with what method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from herk.core import Dae, MethodUse, Solution, Switches
from herk.core.dae import Array
from herk.integrate.auto import Change
from herk.integrate.cuts import Cuts
from herk.integrate.events import value
from herk.integrate.methods import Method, Plan
from herk.integrate.options import Request
from herk.integrate.renewal import renewed
from herk.integrate.run import Run
from herk.integrate.segment_events import Modes, OfSegment, counted, undecided
from herk.integrate.sliding import jumps
from herk.integrate.start import ASKED

if TYPE_CHECKING:
    from herk.integrate.relief import Relief

MOST_RENEWALS = 40
MANY, AT_ONCE = 10, 1e-9  # switches, within this part of the span: the solution slides along one of them
IDLE = 50  # switches after which it is looked whether they are worth their restarts


@dataclass
class Journey:
    """Where a run in segments stands: the segments behind it, and the point from which it goes on."""

    asked: Request
    t: float
    y: Sequence[float | None]
    method: Method
    plan: Plan | None
    first_step: float | None = None  # of a method that has just taken over
    continued: bool = False  # from a point of the run itself, which needs no repair
    uses: list[MethodUse] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    parts: list[Solution] = field(default_factory=list)
    after: float | None = None  # the breakpoint just passed
    muted: tuple[int, ...] = ()  # events that were just dealt with, which are zero at the new start
    due: tuple[int, ...] = ()  # events that happened there too, and are still to be dealt with
    jumped: bool = False  # the equations may jump between the segment before and the new start
    final: Array | None = None  # the state a reset led to, where the run ended with it
    turns: list[tuple[float, int]] = field(default_factory=list)  # times of switches, and which
    modes: Modes = field(default_factory=Modes)
    free: bool = False  # conditions on the state are no longer switches, the control of errors sees to them
    said: list[str] = field(default_factory=list)  # notes of the journey itself
    resets: set[int] = field(default_factory=set)  # numbers of the segments that a reset began
    renewals: dict[float, Dae] = field(default_factory=dict)  # from a time on, with other constraints
    relief: Relief | None = None  # of the first method, which failed
    impacts: list[float] = field(default_factory=list)  # times of resets
    steps: int = 0  # in all segments
    beside: list[float] = field(default_factory=list)  # times before, at and behind narrow peaks of the state
    _cuts: tuple[tuple[float, ...], Cuts] | None = None  # the one that holds, and what it was made for

    def __post_init__(self) -> None:
        """Begin with the method asked for."""
        self.uses.append(MethodUse(self.t, self.method.name, self.plan.why if self.plan else ASKED))

    def hand_over(self, change: Change) -> None:
        """Let the other method go on from here."""
        assert self.plan is not None
        self.method, self.plan, self.first_step = self.plan.partner, change.plan, change.first_step
        self.continued = True
        self.uses.append(MethodUse(self.t, self.method.name, change.why))

    def follow(self, run: Run) -> None:
        """Note with which method a segment was made, if another one began than was asked for."""
        if self.plan is None or run.request.plan is self.plan:
            return
        self.method, self.plan = run.request.method, run.request.plan
        assert self.plan is not None
        if self.uses[-1].t == self.t:
            del self.uses[-1]
        self.uses.append(MethodUse(self.t, self.method.name, self.plan.why))

    def stay(self, why: str) -> None:
        """Go back to the method before this one, and stay with it."""
        assert self.plan is not None
        self.method, self.plan, self.first_step = self.plan.partner, None, None
        self.continued = True
        self.uses.append(MethodUse(self.t, self.method.name, why))

    @property
    def forward(self) -> float:
        """Return the sign of the direction."""
        return 1.0 if self.asked.t1 > self.asked.t0 else -1.0

    @property
    def cuts(self) -> Cuts:
        """Return where the span is cut at breakpoints."""
        more = (*self.renewals, *(() if self.relief is None else (self.relief.t,)))
        if self._cuts is None or self._cuts[0] != more:  # there may be very many breakpoints
            self._cuts = more, Cuts(self.asked.t0, self.asked.t1, (*self.asked.breakpoints, *more))
        return self._cuts[1]

    def go_on_from(self, t: float, after: float | None = None, *, jumped: bool = False) -> None:
        """Let the next segment begin there, behind a breakpoint or not.

        Events that were dealt with at the very start of a segment are zero at its end, too.
        """
        still = bool(self.runs) and self.runs[-1].output.steps == 0
        self.t, self.after, self.jumped, self.due = t, after, jumped, ()
        self.muted = self.muted if still else ()

    def watched(self, dae: Dae, n: int) -> list[OfSegment]:
        """Return the events asked for as the next segment watches them."""
        own, seen = self.asked.events or (), self._seen()
        before: list[float | None] = [None] * len(own)
        if self.jumped and own:
            t, y = self.runs[-1].output.last
            before = [value(event, t, y[:n]) for event in own]
        return [
            OfSegment(
                event,
                dae,
                n,
                1 if getattr(event, "reset", None) is not None else counted(event, i, self.parts),
                getattr(event, "direction", 0) or 0.0,
                muted=i in self.muted,
                leaving=not self.runs and undecided(event),
                due=i in self.due,
                seen=i in seen,
                before=before[i],
            )
            for i, event in enumerate(own)
        ]

    def _seen(self) -> set[int]:
        """Return the events noted right where the journey stands, by segments without a step too."""
        seen: set[int] = set()
        for run, part in zip(reversed(self.runs), reversed(self.parts), strict=False):
            seen |= {i for i, t in enumerate(part.t_events or ()) if len(t) and t[-1] == self.t}
            if run.output.steps:
                break
        return seen

    @property
    def short(self) -> int:
        """Return how many segments there were that did not end at a switch, a reset or beside a peak."""
        return len(self.runs) - len(self.turns) - len(self.resets) - len(self.beside)

    def piling_up(self) -> bool:
        """Tell whether resets come so fast that the run does not get on."""
        many = MANY + len(self.asked.events or ())  # all of them may happen at one time
        if len(self.impacts) <= many:
            return False
        return abs(self.t - self.impacts[-many]) < AT_ONCE * abs(self.asked.t1 - self.asked.t0)

    def before_peaks(self, end: float) -> float:
        """Return where a segment has to end up to there: beside the next peak that a step led across."""
        sign = self.forward
        ahead = [time for time in self.beside if sign * self.t < sign * time < sign * end]
        return min(ahead, key=lambda time: sign * time) if ahead else end

    def led_across(self, run: Run) -> bool:
        """Note where steps are to end beside a peak; tell whether the segment has to be made again for it."""
        ahead = [time for time in run.stops if self.forward * (time - self.t) > 0.0]
        self.beside += ahead
        return bool(ahead) and run.output.steps == 0

    def goes_on_beside(self, run: Run) -> bool:
        """Go on, without a new start, from where a run ended because of a peak."""
        t, track = run.output.last[0], run.output.track.t
        if not run.stops and (t not in self.beside or t == self.asked.t1):
            return False
        self.go_on_from(t)
        self.continued = True
        self.first_step = abs(float(t - track[-2])) if len(track) > 1 else None
        return True

    def chattering(self) -> bool:
        """Tell whether switches come so fast that the run does not get on."""
        span = abs(self.asked.t1 - self.asked.t0)
        return len(self.turns) > MANY and abs(self.turns[-1][0] - self.turns[-MANY][0]) < AT_ONCE * span

    @property
    def switches(self) -> Switches | None:
        """Return the switches, as long as they are watched."""
        return None if self.free else self.asked.switches

    def idle(self) -> bool:
        """Tell whether switches come and go within single steps: noise around a kink."""
        if not self.turns or len(self.turns) % IDLE or self.free:
            return False
        return sum(part.nstep for part in self.parts[-IDLE:]) < 2 * IDLE

    def let_go(self) -> bool:
        """Leave conditions to the control of errors, if those that chatter do not make the equations jump."""
        switches = self.switches
        if switches is None or len(self.turns) < MANY:
            return False
        y = np.array(self.y, dtype=float)
        if any(jumps(switches, which, self.t, y) for which in {which for _, which in self.turns[-MANY:]}):
            return False
        return self.set_free("they come and go by rounding")

    def set_free(self, why: str) -> bool:
        """Go on without switches."""
        self.free, self.turns = True, []
        self.said.append(
            f"From t = {self.t!r} on, conditions on the state are left to the control of errors: {why}."
        )
        return True

    def next_breakpoint(self) -> float | None:
        """Return the next time at which a segment must end before the end of the span."""
        return self.cuts.following(self.t)

    @property
    def dae(self) -> Dae:
        """Return the equations as they are combined where the journey stands."""
        sign = self.forward
        behind = [time for time in self.renewals if sign * time <= sign * self.t]
        return self.renewals[max(behind, key=lambda time: sign * time)] if behind else self.asked.dae

    def renew(self, run: Run) -> bool:
        """Go on with constraints combined anew before a run ended, if that helps."""
        found = renewed(run) if len(self.renewals) < MOST_RENEWALS else None
        if found is not None:
            self.renewals[found[0]] = found[1]
        return found is not None
