"""Segments of a run joined to one solution: points, values at t_eval, events, dense output, counters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import InputError, Solution, Stats
from herk.core.dae import Array
from herk.integrate.cuts import GAP
from herk.integrate.dense import times_in
from herk.integrate.impulses import impulses
from herk.integrate.interpolant import Interpolant
from herk.integrate.renewal import note
from herk.integrate.slopes import Slopes

if TYPE_CHECKING:
    from herk.integrate.journey import Journey
    from herk.integrate.options import Request


@dataclass(eq=False)
class JoinedOutput:
    """Dense output of several segments; at their common ends the later one counts."""

    starts: Array
    ends: Array
    parts: Sequence[Callable[[Any], Array]]
    n: int

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        times = times_in(t)
        flat = times.reshape(-1)
        sign = 1.0 if self.ends[-1] >= self.starts[0] else -1.0
        low, high = sorted((self.starts[0], self.ends[-1]))
        slack = 2 * GAP * max(abs(low), abs(high))  # the end of the span may be a breakpoint
        if times.ndim > 1 or not ((flat >= low - slack) & (flat <= high + slack)).all():
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


def joined(journey: Journey, *, final: bool = True) -> Solution:
    """Return the segments as one solution, without modes; `final`: with the reset at its end, if one is."""
    asked, parts, n = journey.asked, journey.parts, journey.asked.dae.n
    count = n if asked.save is None else len(asked.save)
    kept = [part.y[:count] for part in parts]
    if asked.t_eval is None:
        t, y = points(parts, kept, journey.resets)
        if parts[-1].success and 0 < abs(t[-1] - asked.t1) <= 2 * GAP * max(abs(asked.t0), abs(asked.t1)):
            t[-1] = asked.t1  # a breakpoint, before which the last segment ends
    else:
        t, y = _output(journey)
    last = None if journey.final is None or not final else _saved(asked, journey.final)
    if last is not None and asked.t_eval is None:
        t, y = np.append(t, journey.t), np.column_stack([y, last])
    counts = {each.name: sum(getattr(part, each.name) for part in parts) for each in fields(Stats)}
    dense = None
    if asked.dense_output:
        starts, ends = [run.request.t0 for run in journey.runs], [run.output.last[0] for run in journey.runs]
        known = [part.sol for part in parts if part.sol is not None]
        if last is not None:
            starts, ends = [*starts, journey.t], [*ends, journey.t]
            known.append(Interpolant(np.array([journey.t]), last[None, None, :]))
        dense = JoinedOutput(np.array(starts), np.array(ends), known, count)
    t_events, y_events = _events(parts, n, asked)
    said = [each for part in parts for each in part.notes]
    renewals = sorted(journey.renewals, key=lambda t: journey.forward * t)
    return replace(
        parts[-1],
        t=t,
        y=y,
        sol=dense,
        slopes=Slopes(asked),
        t_events=t_events,
        y_events=y_events,
        residual=max(part.residual for part in parts),
        selections=tuple(each for part in parts for each in part.selections),
        notes=tuple(dict.fromkeys([*map(note, renewals), *journey.said, *impulses(journey), *said])),
        names=asked.dae.names,
        method=asked.method.name if asked.plan is None else "auto",
        methods=tuple(journey.uses),
        seconds=sum(run.seconds for run in journey.runs),
        **counts,
    )


def _saved(asked: Request, y: Array) -> Array:
    """Return the components that are kept."""
    return y[: asked.dae.n] if asked.save is None else y[list(asked.save)]


def points(parts: Sequence[Solution], kept: Sequence[Array], resets: set[int]) -> tuple[Array, Array]:
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
    asked = journey.asked
    n = asked.dae.n if asked.save is None else len(asked.save)
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


def _events(
    parts: Sequence[Solution], n: int, asked: Request
) -> tuple[list[Array] | None, list[Array] | None]:
    """Return times and states of the events asked for, and behind them those of the switches given."""
    given = asked.switches if asked.switches is not None and not asked.switches.unasked else None
    if asked.events is None and given is None:
        return None, None
    count = len(asked.events or ()) + (0 if given is None else len(given.events))
    watched = [[part for part in parts if len(part.t_events or ()) > i] for i in range(count)]
    times = [[t for part in watched[i] for t in part.t_events[i]] for i in range(count)]  # type: ignore[index]
    states = [[row[:n] for part in watched[i] for row in part.y_events[i]] for i in range(count)]  # type: ignore[index]
    return list(map(np.array, times)), [np.array(rows).reshape(-1, n) for rows in states]
