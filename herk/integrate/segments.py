"""A run in segments: it ends at breakpoints, switches and resets, and goes on from a new consistent start.

A segment ends just before a breakpoint and the next begins just behind it, so that no evaluation sees the
wrong side. Components whose derivative occurs go on continuously, unless a reset changes them; the others
follow from the constraints.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from herk.core import HerkError, Reason, Solution
from herk.core.dae import Array
from herk.integrate.cuts import Cuts
from herk.integrate.joined import joined
from herk.integrate.journey import Journey
from herk.integrate.kept import made
from herk.integrate.options import Request
from herk.integrate.relief import DEFEATS, handed_over, in_vain, relieved
from herk.integrate.run import Run
from herk.integrate.segment_events import ends_run, reset_by
from herk.integrate.sliding import at_rest, careful_step, ever_faster, stuck
from herk.integrate.start import solution_of
from herk.model.start import completed_start, consistent_start

MOST_SEGMENTS = 1000
AT_THE_END: dict[str, Any] = {"reason": Reason.FINISHED, "message": "The end of the span was reached."}


def solve_segments(asked: Request, begun: Run | None = None) -> tuple[Solution, KeyboardInterrupt | None]:
    """Return the joined solution, and the interrupt that ended it, if one did.

    `begun`: a first part that was made already, and with which the run did not end.
    """
    journey = travelled(asked, begun=begun)
    return joined(journey), journey.runs[-1].interrupted


def travelled(asked: Request, making: Callable[[Request], Run] = made, begun: Run | None = None) -> Journey:
    """Return all segments; `making` makes the run of one, `begun` is one made already."""
    journey = Journey(asked, asked.t0, asked.y0, asked.method, asked.plan)
    if asked.switches is not None and at_rest(asked, asked.switches):
        journey.set_free("the run begins where one changes, and stays there")
    deadline = None if asked.time_limit is None else time.perf_counter() + asked.time_limit
    deadline = begun.deadline if begun is not None and deadline is not None else deadline
    most = MOST_SEGMENTS + len(asked.breakpoints)
    while journey.short < most and not journey.piling_up() and (not journey.chattering() or journey.let_go()):
        stop = journey.next_breakpoint()
        run = begun if begun is not None else _made(journey, stop, deadline, making)
        begun = None
        if run is None:
            break
        journey.follow(run)
        if journey.renew(run) or relieved(journey, run) or journey.led_across(run):
            continue
        journey.runs.append(run)
        journey.parts.append(solution_of(run))
        journey.steps += run.output.steps
        if journey.idle():
            journey.let_go()
        try:
            if not _goes_on(journey, run, stop):
                break
        except HerkError as error:  # of a reset; the points before it are kept
            words = f"The run stopped at t = {run.output.last[0]!r}. {error}"
            journey.parts[-1] = replace(journey.parts[-1], reason=Reason.EXCEPTION, message=words)
            break
    else:
        slides = journey.switches is not None and journey.chattering()
        event = journey.switches.events[journey.turns[-1][1]] if slides and journey.switches else None
        piles = journey.piling_up()
        words = ever_faster(journey.t) if piles else stuck(journey.t, len(journey.runs), event)
        journey.parts[-1] = replace(journey.parts[-1], reason=Reason.STEP_UNDERFLOW, message=words)
    return journey


def _made(
    journey: Journey, stop: float | None, deadline: float | None, making: Callable[[Request], Run]
) -> Run | None:
    """Return the run over the next segment; None if there is no start for it, which is noted."""
    try:
        return making(_segment(journey, stop, deadline))
    except HerkError as error:
        if journey.switches is not None and journey.set_free("no start was found with one branch alone"):
            return _made(journey, stop, deadline, making)
        if not journey.parts:
            raise
        if journey.first_step is not None:  # of another method, which cannot begin here
            journey.stay(f"{journey.method.name} cannot begin here")
            return _made(journey, stop, deadline, making)
        words = f"No consistent start was found after t = {journey.t!r}: {error}"
        journey.parts[-1] = replace(journey.parts[-1], reason=Reason.INCONSISTENT, message=words)
        return None


def _segment(journey: Journey, stop: float | None, deadline: float | None) -> Request:
    """Return the request for the segment that begins where the journey stands."""
    asked, first = journey.asked, not journey.runs
    t0, y, dae, atol = journey.t, list(journey.y), journey.dae, asked.atol
    end = journey.before_peaks(journey.cuts.end(stop))
    switches = journey.switches
    events: list[Any] = [*journey.watched(dae if switches is None else switches.dae, asked.dae.n)]
    if switches is not None:
        cuts = Cuts(asked.t0, asked.t1, ())
        modes = journey.modes.here(switches, cuts.within(t0), completed_start(dae, t0, y))
        dae, y, atol = switches.dae, [*y, *modes], np.concatenate([atol, np.ones(len(modes))])
        events += journey.modes.armed(switches, modes, asked.dae.n, cuts)
    left = None if deadline is None else max(deadline - time.perf_counter(), 1e-9)
    return replace(
        asked,
        dae=dae,
        t0=t0,
        t1=end,
        y0=tuple(y),
        atol=atol,
        t_eval=_inside(journey, end, stop),
        events=tuple(events) or None,
        time_limit=left,
        max_steps=max(asked.max_steps - journey.steps, 1),
        min_step=0.0 if journey.relief is None else journey.relief.min_step,
        consistent=asked.consistent if first else "trust" if journey.continued else "project",
        behind=None if first or len(journey.runs) in journey.resets else journey.runs[-1].output.last,
        first_step=asked.first_step if first else journey.first_step,
        method=journey.method,
        plan=journey.plan,
        breakpoints=(),
        switches=None,
        left=asked.switches if journey.free else None,
    )


def _inside(journey: Journey, end: float, stop: float | None) -> Array | None:
    """Return the output times of a segment; those between its end and a breakpoint are moved to its end."""
    times, cuts = journey.asked.t_eval, journey.cuts
    if times is None:
        return None
    since = journey.t if journey.after is None else journey.after
    until = stop if end == cuts.end(stop) else end
    return cuts.inside(cuts.wanted(times, since, until, not journey.runs), journey.t, end)


def _goes_on(journey: Journey, run: Run, stop: float | None) -> bool:
    """Settle from where the next segment begins; False if this one was the last."""
    asked, n = journey.asked, journey.asked.dae.n
    t, y = run.output.last
    journey.y, journey.first_step, journey.continued = y[:n].tolist(), None, False
    journey.modes.passed = None
    if run.reason is Reason.FINISHED and journey.goes_on_beside(run):
        return True
    if run.change is not None:
        journey.go_on_from(t)
        journey.hand_over(run.change)
        return True
    if in_vain(journey, run):
        return False
    if run.reason in DEFEATS and run.request.plan is not None and len(journey.uses) > 1:
        journey.go_on_from(t)
        journey.stay(f"{journey.method.name} failed: {run.reason.value}")
        return True
    if run.reason in DEFEATS and journey.switches is not None:  # a branch may end where another one begins
        journey.go_on_from(t)
        return journey.set_free(f"one branch alone ended with {run.reason.value}")
    if run.reason is Reason.FINISHED:
        if stop is None or stop == asked.t1:
            return False
        journey.go_on_from(journey.cuts.begin(stop), stop, jumped=True)
        return handed_over(journey, stop)
    if run.reason is not Reason.EVENT or run.watch is None:
        return False
    ended = run.watch.ended
    assert ended is not None
    journey.go_on_from(t, jumped=ended >= len(asked.events or ()))
    journey.due = run.watch.due
    if ended >= len(asked.events or ()):
        return _switched(journey, run, ended - len(asked.events or ()))
    journey.muted = (*journey.muted, ended)
    return _dealt_with(journey, run, ended)


def _switched(journey: Journey, run: Run, which: int) -> bool:
    """Change the mode of a switch; False where the span ends with it."""
    asked, n, (t, y) = journey.asked, journey.asked.dae.n, run.output.last
    before = run.request.y0[n + which]
    journey.turns.append((t, which))
    assert run.watch is not None
    journey.modes.leave(which, float(before or 0.0), run.watch.largest[len(asked.events or ()) :])
    if t == asked.t1:
        journey.parts[-1] = replace(journey.parts[-1], **AT_THE_END)
        return False
    journey.first_step = careful_step(asked, journey.switches, journey.modes.passed, t, y[:n])
    return True


def _dealt_with(journey: Journey, run: Run, ended: int) -> bool:
    """Make the reset of an event, and of others at the same time where the run ends; False if it does."""
    asked, n, (t, y) = journey.asked, journey.asked.dae.n, run.output.last
    own, state = asked.events or (), y[:n]
    if run.output.steps == 0:  # the equations have jumped, or a reset was made here: one more point
        journey.resets.add(len(journey.runs) - 1)
    over, happened = t == asked.t1, (ended, *(journey.due if t == asked.t1 else ()))
    ends = any(ends_run(own[i], i, journey.parts) for i in happened)
    for i in happened:
        reset = getattr(own[i], "reset", None)
        if reset is not None:
            state = np.array(reset_by(reset, t, state))
            journey.final = state
    journey.y = state.tolist()
    journey.impacts.append(t)
    if not over and not ends:
        journey.final = None
        journey.resets.add(len(journey.runs))
        return True
    if journey.final is not None:
        journey.final = consistent_start(journey.dae, t, journey.y)
    if not ends:
        journey.parts[-1] = replace(journey.parts[-1], **AT_THE_END)
    return False
