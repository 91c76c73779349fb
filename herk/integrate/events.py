"""Events by SciPy's rules: changes of sign, located on the dense output; some of them terminal.

They are looked for inside steps, too, where one may be passed there and back. Of switches only the first
crossing counts: behind it the equations are others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from herk.core import HerkError, InputError
from herk.core.dae import Array
from herk.integrate.crossings import Crossings, Inner, Past
from herk.integrate.turns import Bracket, Inside, Turns
from herk.model.evaluate import call

Event = Callable[[float, Array], float]
Between = Callable[[float], Array]

EARLY = (
    2.0**-10
)  # part of a first step behind which it is seen to which side an event went that was dealt with


@dataclass
class Watch:
    """Follows event functions along a run and remembers when they were zero."""

    events: Sequence[Any]
    t: list[list[float]] = field(default_factory=list)
    y: list[list[Array]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    began: float = 0.0
    ended: int | None = None  # the terminal event that ended the run
    due: tuple[int, ...] = ()  # others that would have ended it at the very same time
    by_jump: bool = False  # that event was not passed, the equations have jumped across it
    sunk: bool = False  # an event just dealt with went on in its direction: it would come ever faster
    muted: set[int] = field(default_factory=set)  # events just dealt with, in the first step
    largest: Array = field(default_factory=lambda: np.zeros(0))  # values so far
    crossings: Crossings | None = None  # of switches inside steps
    inside: tuple[int, dict[int, Past]] = -1, {}  # the next step with some, and where they are past
    turns: list[Turns] = field(default_factory=list)  # of each event
    steps: Inside = field(init=False)  # those that were announced

    def start(self, t: float, y: Array) -> None:
        """Evaluate the events at the start.

        Those that changed sign between the end of the segment before and this start have happened: the
        equations jump there. Some were due there already, and were noted.
        """
        self.began = t
        self.t, self.y = [[] for _ in self.events], [[] for _ in self.events]
        self.values = [value(event, t, y) for event in self.events]
        self.turns = [Turns(partial(value, event)) for event in self.events]
        self.largest = np.abs(self.values)
        self.muted = {i for i, event in enumerate(self.events) if self._passed_over(i, event)}
        switches = [(i, event) for i, event in enumerate(self.events) if getattr(event, "eager", False)]
        self.crossings = Crossings(switches) if switches else None
        due = [i for i, event in enumerate(self.events) if getattr(event, "due", False)]
        jumped = [i for i in self._beyond(due) if i not in self.muted]
        due += self._noted(jumped, t, y)
        past = [i for i, _ in switches if self.values[i] > 0.0]  # a mode that is over already
        for i in (*due, *past)[:1]:
            self.ended, self.due, self.by_jump = i, tuple(due[1:]), i in jumped

    def _passed_over(self, i: int, event: Any) -> bool:
        """Tell whether an event is zero at the start, and does not count there."""
        leaving = getattr(event, "leaving", False) and self.values[i] == 0.0
        return bool(getattr(event, "muted", False) or leaving)

    def _beyond(self, but: Sequence[int]) -> list[int]:
        """Return the events that are at the start on the other side of zero than before it."""
        known = [(i, getattr(event, "before", None)) for i, event in enumerate(self.events) if i not in but]
        return [
            i
            for i, before in known
            if before is not None and before != 0.0 and crosses(before, self.values[i], self._direction(i))
        ]

    def _direction(self, i: int) -> float:
        return getattr(self.events[i], "direction", 0) or 0.0

    def _noted(self, happened: Sequence[int], t: float, y: Array) -> list[int]:
        """Note events; return those that end the run."""
        ends = []
        for i in happened:
            self.t[i].append(t)
            self.y[i].append(y)
            terminal = int(getattr(self.events[i], "terminal", None) or 0)
            if terminal and len(self.t[i]) >= terminal:
                ends.append(i)
        return ends

    def ahead(self, t: Array, y: Array, inner: Inner, *, cheap: bool) -> None:
        """Announce the next steps, between these points; look for the first crossing of a switch inside them.

        `cheap`: states inside steps cost little.
        """
        self.steps = Inside(t, y.shape[1], inner, cheap)
        if self.crossings is None:
            return
        try:
            self.inside = self.crossings.first(t, y, inner)
        except Exception:  # noqa: BLE001 - of a user's function, which is met again where it belongs
            self.inside = -1, {}

    def step(
        self, k: int, t_old: float, t_new: float, y_new: Array, inner: Inner
    ) -> tuple[float, Array] | None:
        """Look for events in step k of those that were announced, with the states between its ends.

        Return time and state of a terminal one, if it ends the run.
        """

        def between(t: float) -> Array:
            state: Array = inner(np.array([t]))[0]
            return state

        before, after = self.values, [value(event, t_new, y_new) for event in self.events]
        self.values, self.largest = after, np.maximum(self.largest, np.abs(after))
        since = self._left(t_old, t_new, before, after, between) if self.muted else {}
        past = self.inside[1] if k == self.inside[0] else {}
        found: list[tuple[float, int, Bracket]] = []
        for i, event in enumerate(self.events):
            low, (high, there) = since.get(i, t_old), past.get(i, (t_new, after[i]))
            parts: Sequence[Bracket] = [(low, high, before[i], there)]
            if before[i] * there > 0.0 and not getattr(event, "eager", False):
                parts = self.turns[i].brackets(k, (low, high), (before[i], there), self.steps)
            passed = [part for part in parts if crosses(*part[2:], self._direction(i))]
            found += [(locate(event, *part, between), i, part) for part in passed]
        for t, i, _ in sorted(found, key=lambda each: abs(each[0] - t_old)):
            if self._known(i, t):  # a zero right at an accepted point is seen from both sides
                continue
            y = between(t)
            if self._noted([i], t, y):
                others = [each for each in found if each[1] != i and not self._known(each[1], each[0])]
                self.ended = i
                self.due = tuple(self._noted(self._as_well(others, t, y), t, y))
                return t, y
        return None

    def _known(self, i: int, t: float) -> bool:
        """Tell whether this time of an event was noted, by this run or by the one before it."""
        if self.t[i]:
            return self.t[i][-1] == t
        return t == self.began and getattr(self.events[i], "seen", False)

    def _as_well(self, others: Sequence[tuple[float, int, Bracket]], t: float, y: Array) -> list[int]:
        """Return those of the events to come in a step that have happened where it ends: two at one time.

        The next step would begin on the other side of zero and find nothing.
        """
        happened = set()
        for _, j, (low, high, before, _) in others:
            here = abs(low - t) <= abs(high - low) >= abs(high - t)
            if here and not getattr(self.events[j], "eager", False):
                happened |= {j} if before * value(self.events[j], t, y) <= 0.0 else set()
        return sorted(happened)

    def _left(
        self, t_old: float, t_new: float, before: list[float], after: list[float], between: Between
    ) -> dict[int, float]:
        """Settle to which side events that were just dealt with went, and from when on they are looked at."""
        since, t = {}, t_old + EARLY * (t_new - t_old)
        known: list[Array] = []
        with suppress(HerkError):  # nothing is known there: such an event is looked at from the next step on
            known = [between(t)]
        for i in self.muted:
            event, direction = self.events[i], self._direction(i)
            side = value(event, t, known[0]) if known else after[i]
            back = side * direction > 0
            if back and known:
                back = not event.goes_on(t_old, between(t_old), t - t_old)
            before[i], since[i] = after[i] if back or side == 0.0 else side, t
            self.sunk |= back and after[i] * direction > 0
        self.muted = set()
        return since

    def results(self) -> tuple[list[Array], list[Array]]:
        """Return times and states (events x n) of every event function."""
        return [np.array(t) for t in self.t], [np.array(y) for y in self.y]


def value(event: Event, t: float, y: Array) -> float:
    """Return the value of an event function."""
    found = call(f"event {getattr(event, '__name__', type(event).__name__)}", event, t, y)
    try:
        return float(np.array(() if found is None else found, dtype=float).item())
    except (TypeError, ValueError):
        raise InputError(f"An event function must return one number, not {found!r}.") from None


def crosses(before: float, after: float, direction: float) -> bool:
    """Tell whether an event function changes sign in the wanted direction.

    One that stays zero has no event.
    """
    up, down = before <= 0 <= after, before >= 0 >= after
    if before == after == 0:
        return False
    return up if direction > 0 else down if direction < 0 else up or down


def locate(event: Event, t_old: float, t_new: float, before: float, after: float, between: Between) -> float:
    """Return the zero of the event inside the step, to rounding (Brent's method)."""
    from scipy.optimize import brentq

    if before == 0.0 or after == 0.0:
        return t_old if before == 0.0 else t_new
    eps = 4.0 * float(np.finfo(float).eps)  # beside the time: one in nanoseconds has as many digits
    least = eps * max(abs(t_old), abs(t_new))
    t = float(brentq(lambda t: value(event, t, between(t)), t_old, t_new, xtol=least, rtol=eps))
    if not getattr(event, "eager", False):
        return t
    away = 2.0 * least  # a switch that jumps is past zero only behind its jump
    while value(event, t, between(t)) <= 0.0 and away < abs(t_new - t):
        t, away = t + float(np.copysign(away, t_new - t_old)), 2.0 * away
    return t if value(event, t, between(t)) > 0.0 else t_new
