"""A run in segments: it ends at breakpoints, at switches and at events with a reset.

And goes on from a new consistent start.

A segment ends just before a breakpoint and the next begins just behind it, so that no evaluation sees the
wrong side. Components whose derivative occurs go on continuously, unless a reset changes them; the others
follow from the constraints.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from herk.core import HerkError, InputError, Reason, Solution, Stats
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.run import Run
from herk.integrate.start import finished, solution_of
from herk.model.evaluate import call

MOST_SEGMENTS = 1000
GAP = 8 * float(
    np.finfo(float).eps
)  # between a breakpoint and the ends of the segments beside it, relative to the end of the span
# a switch counts when it is clearly past zero, so that the state found there belongs to the new mode
BEYOND = 1e-12

Event = Callable[[float, Array], float]


@dataclass
class Journey:
    """Where a run in segments stands: the segments behind it, and the point from which it goes on."""

    asked: Request
    t: float
    y: Sequence[float | None]
    runs: list[Run] = field(default_factory=list)
    parts: list[Solution] = field(default_factory=list)
    after: float | None = None  # the breakpoint just passed
    muted: int | None = None  # the event that was just dealt with, which is zero at the new start
    resets: set[int] = field(default_factory=set)  # numbers of the segments that a reset began

    @property
    def forward(self) -> float:
        """Return the sign of the direction."""
        return 1.0 if self.asked.t1 > self.asked.t0 else -1.0

    def next_breakpoint(self) -> float | None:
        """Return the next time at which a segment must end before the end of the span."""
        sign = self.forward
        least = (
            4 * GAP * max(abs(self.asked.t0), abs(self.asked.t1))
        )  # breakpoints that differ by rounding are one
        ahead = [
            b
            for b in self.asked.breakpoints
            if sign * b > sign * self.t + least and sign * b <= sign * self.asked.t1
        ]
        return min(ahead, key=lambda b: sign * b) if ahead else None


def solve_segments(asked: Request) -> tuple[Solution, KeyboardInterrupt | None]:
    """Return the joined solution, and the interrupt that ended it, if one did."""
    journey = Journey(asked, asked.t0, asked.y0)
    deadline = None if asked.time_limit is None else time.perf_counter() + asked.time_limit
    most = MOST_SEGMENTS + len(asked.breakpoints)
    while len(journey.runs) < most:
        stop = journey.next_breakpoint()
        try:
            run = finished(_segment(journey, stop, deadline))
        except HerkError as error:
            if not journey.parts:
                raise
            words = f"No start was found behind t = {journey.t!r}: {error}"
            journey.parts[-1] = replace(journey.parts[-1], reason=Reason.INCONSISTENT, message=words)
            break
        journey.runs.append(run)
        journey.parts.append(solution_of(run))
        try:
            if not _goes_on(journey, run, stop):
                break
        except HerkError as error:  # of a reset; the points before it are kept
            words = f"The run stopped at t = {run.output.last[0]!r}. {error}"
            journey.parts[-1] = replace(journey.parts[-1], reason=Reason.EXCEPTION, message=words)
            break
    else:
        words = (
            f"{most} segments were made, the last one at t = {journey.t!r}: the solution slides"
            " along a switch, or events "
        )
        journey.parts[-1] = replace(
            journey.parts[-1], reason=Reason.STEP_UNDERFLOW, message=words + "come ever faster."
        )
    return _joined(journey), journey.runs[-1].interrupted


def _segment(journey: Journey, stop: float | None, deadline: float | None) -> Request:
    """Return the request for the segment that begins where the journey stands."""
    asked, first = journey.asked, not journey.runs
    t0, y, dae, atol = journey.t, list(journey.y), asked.dae, asked.atol
    end = asked.t1 if stop is None else stop - journey.forward * GAP * max(abs(asked.t0), abs(asked.t1))
    events = [_counted(event, i, journey) for i, event in enumerate(asked.events or ())]
    if asked.switches is not None:
        modes = asked.switches.modes(t0, np.array(y, dtype=float))
        dae, y, atol = asked.switches.dae, [*y, *modes], np.concatenate([atol, np.ones(len(modes))])
        events = [_of_state(event, asked.dae.n) for event in events]
        events += [_armed(*each, asked.dae.n) for each in zip(asked.switches.events, modes, strict=True)]
    done = sum(part.nstep for part in journey.parts)
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
        max_steps=max(asked.max_steps - done, 1),
        consistent=asked.consistent if first else "project",
        first_step=asked.first_step if first else None,
        breakpoints=(),
        switches=None,
        muted=journey.muted,
    )


def _inside(journey: Journey, end: float, stop: float | None) -> Array | None:
    """Return the output times of a segment; those between its end and a breakpoint are moved to its end."""
    wanted = _wanted(journey, stop)
    if wanted is None:
        return None
    moved = np.clip(wanted, min(journey.t, end), max(journey.t, end))
    return np.unique(moved) if journey.forward > 0 else np.unique(moved)[::-1]


def _wanted(journey: Journey, stop: float | None) -> Array | None:
    times, sign = journey.asked.t_eval, journey.forward
    if times is None:
        return None
    since = journey.t if journey.after is None else journey.after
    later = times >= since if sign > 0 else times <= since
    if journey.runs:
        later = times > since if sign > 0 else times < since
    until = journey.asked.t1 if stop is None else stop
    return times[later & (sign * times <= sign * until)]


def _goes_on(journey: Journey, run: Run, stop: float | None) -> bool:
    """Settle from where the next segment begins; False if this one was the last."""
    asked, n = journey.asked, journey.asked.dae.n
    t, y = run.output.last
    journey.y = y[:n].tolist()
    if run.reason is Reason.FINISHED:
        if stop is None or stop == asked.t1:
            return False
        journey.t, journey.after, journey.muted = (
            stop + journey.forward * GAP * max(abs(asked.t0), abs(asked.t1)),
            stop,
            None,
        )
        return True
    if run.reason is not Reason.EVENT or run.watch is None:
        return False
    ended = run.watch.ended
    assert ended is not None
    journey.t, journey.after, journey.muted = t, None, ended
    own = asked.events or ()
    if ended >= len(own):
        journey.muted = None
        return True
    reset = getattr(own[ended], "reset", None)
    if reset is None:
        return False
    journey.y = _reset(reset, t, y[:n])
    journey.resets.add(len(journey.runs))
    return t != asked.t1


def _reset(reset: Callable[[float, Array], Any], t: float, y: Array) -> list[float]:
    new = np.array(call("reset", reset, t, y), dtype=float)
    if new.shape != y.shape or not np.isfinite(new).all():
        raise InputError(
            f"The reset of an event must return {y.size} finite numbers, the new state, not {new!r}."
        )
    return [float(value) for value in new]


def _counted(event: Event, i: int, journey: Journey) -> Event:
    """Return the event with what is left of its count; one with a reset ends its segment every time."""

    def value(t: float, y: Array) -> float:
        return event(t, y)

    terminal = getattr(event, "terminal", None) or 0
    if getattr(event, "reset", None) is not None:
        terminal = 1
    elif terminal:
        terminal = int(terminal) - sum(
            len(part.t_events[i]) for part in journey.parts if part.t_events is not None
        )
    value.terminal, value.direction = terminal, getattr(event, "direction", 0)  # type: ignore[attr-defined]
    value.__name__ = getattr(event, "__name__", type(event).__name__)
    return value


def _of_state(event: Event, n: int) -> Event:
    """Return the event as a function of the state with modes behind it."""

    def value(t: float, y: Array) -> float:
        return event(t, y[:n])

    value.terminal, value.direction = event.terminal, event.direction  # type: ignore[attr-defined]
    return value


def _armed(event: Event, mode: float, n: int) -> Event:
    """Return the switch as it ends this mode: a crossing in one direction, counted when it is past."""
    sign = -1.0 if mode else 1.0

    def value(t: float, y: Array) -> float:
        return sign * event(t, y[:n]) - BEYOND

    value.terminal, value.direction = True, 1  # type: ignore[attr-defined]
    return value


@dataclass(eq=False)
class JoinedOutput:
    """Dense output of several segments; at their common ends the later one counts."""

    starts: Array
    ends: Array
    parts: Sequence[Callable[[Any], Array]]
    n: int

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        times = np.asarray(t, dtype=float)
        flat = times.reshape(-1)
        sign = 1.0 if self.ends[-1] >= self.starts[0] else -1.0
        low, high = sorted((self.starts[0], self.ends[-1]))
        if times.ndim > 1 or not ((flat >= low) & (flat <= high)).all():
            raise InputError(
                f"Dense output is known from {low} to {high}; ask for a time or a vector of times in between."
            )
        which = np.clip(
            np.searchsorted(sign * self.starts, sign * flat, side="right") - 1, 0, len(self.parts) - 1
        )
        out = np.empty((self.n, flat.size))
        for k in np.unique(which):
            inside = np.clip(flat[which == k], *sorted((self.starts[k], self.ends[k])))
            out[:, which == k] = self.parts[k](inside)[: self.n]
        return out[:, 0] if times.ndim == 0 else out


def _joined(journey: Journey) -> Solution:
    """Return the segments as one solution, without modes."""
    asked, parts, n = journey.asked, journey.parts, journey.asked.dae.n
    kept = [part.y[:n] for part in parts]
    if asked.t_eval is None:
        t, y = _points(parts, kept, journey.resets)
    else:
        t, y = _output(journey)
    counts = {each.name: sum(getattr(part, each.name) for part in parts) for each in fields(Stats)}
    dense = None
    if asked.dense_output:
        starts, ends = [run.request.t0 for run in journey.runs], [run.output.last[0] for run in journey.runs]
        dense = JoinedOutput(
            np.array(starts), np.array(ends), [part.sol for part in parts if part.sol is not None], n
        )
    t_events, y_events = _events(parts, n)
    return replace(
        parts[-1],
        t=t,
        y=y,
        sol=dense,
        t_events=t_events,
        y_events=y_events,
        residual=max(part.residual for part in parts),
        selections=tuple(each for part in parts for each in part.selections),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        names=asked.dae.names,
        seconds=sum(run.seconds for run in journey.runs),
        **counts,
    )


def _points(parts: Sequence[Solution], kept: Sequence[Array], resets: set[int]) -> tuple[Array, Array]:
    """Return all points; the point of a switch is returned once, as the old mode leaves it.

    That of a reset before and after.
    """
    first = [
        1 if i and part.t[0] == parts[i - 1].t[-1] and i not in resets else 0 for i, part in enumerate(parts)
    ]
    times = [part.t[skip:] for part, skip in zip(parts, first, strict=True)]
    return np.concatenate(times), np.hstack([y[:, skip:] for y, skip in zip(kept, first, strict=True)])


def _output(journey: Journey) -> tuple[Array, Array]:
    """Return the values at t_eval.

    A time between the end of a segment and a breakpoint has the value of that end.
    """
    asked, n = journey.asked, journey.asked.dae.n
    assert asked.t_eval is not None
    sign, times, columns = journey.forward, [], []
    found = np.concatenate([part.t for part in journey.parts])
    values = np.hstack([part.y[:n] for part in journey.parts])
    slack = 2 * GAP * max(abs(asked.t0), abs(asked.t1))
    last = journey.runs[-1].output.last[0]
    for t in asked.t_eval:
        if sign * t > sign * last + slack or not found.size:
            break
        k = int(np.argmin(np.abs(found - t)))
        if abs(found[k] - t) <= slack:
            times.append(t)
            columns.append(values[:, k])
    return np.array(times), np.array(columns).reshape(-1, n).T


def _events(parts: Sequence[Solution], n: int) -> tuple[list[Array] | None, list[Array] | None]:
    if parts[0].t_events is None:
        return None, None
    count = len(parts[0].t_events)
    times = [np.concatenate([part.t_events[i] for part in parts]) for i in range(count)]  # type: ignore[index]
    states = [[row[:n] for part in parts for row in part.y_events[i]] for i in range(count)]  # type: ignore[index]
    return times, [np.array(rows).reshape(-1, n) for rows in states]
