"""Events by SciPy's rules: sign changes between accepted points, located on the dense output.

Some of them terminal. Switches are looked for inside steps, too: behind one the equations are others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from herk.core import InputError
from herk.core.dae import Array
from herk.model.evaluate import call

Event = Callable[[float, Array], float]
Between = Callable[[float], Array]

INSIDE = (0.25, 0.5, 0.75)  # parts of a step at which a switch that comes near zero is looked at
DOUBT = 0.2  # part of what it changes by which the largest value expected between these may be below zero


@dataclass
class Watch:
    """Follows event functions along a run and remembers when they were zero."""

    events: Sequence[Event]
    t: list[list[float]] = field(default_factory=list)
    y: list[list[Array]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    muted: int | None = None  # not looked at in the first step, because it is zero at the start
    seen: tuple[int, ...] = ()  # events that were found right at the start, by an earlier part of the run
    began: float = 0.0
    ended: int | None = None  # the terminal event that ended the run
    sunk: bool = False  # the muted event went on in its direction: it would come ever faster
    largest: Array = field(default_factory=lambda: np.zeros(0))  # values so far
    changes: Array = field(default_factory=lambda: np.zeros(0))  # of the values in the last step

    def start(self, t: float, y: Array) -> None:
        """Evaluate the events at the start."""
        self.began = t
        self.t, self.y = [[] for _ in self.events], [[] for _ in self.events]
        self.values = [value(event, t, y) for event in self.events]
        self.largest, self.changes = np.abs(self.values), np.zeros(len(self.values))
        past = [i for i, event in enumerate(self.events) if getattr(event, "eager", False)]
        self.ended = next((i for i in past if self.values[i] > 0.0), None)  # a mode that is over already

    def step(self, t_old: float, t_new: float, y_new: Array, between: Between) -> tuple[float, Array] | None:
        """Look for events in one step, with the states between its ends.

        Return time and state of a terminal one, if it ends the run.
        """
        before, after = self.values, [value(event, t_new, y_new) for event in self.events]
        self.values, self.largest = after, np.maximum(self.largest, np.abs(after))
        if self.muted is not None:
            beyond = after[self.muted] * getattr(self.events[self.muted], "direction", 0) > 0
            before[self.muted] = after[self.muted]
            self.muted, self.sunk = None, beyond
        active = [
            i
            for i, event in enumerate(self.events)
            if crosses(before[i], after[i], getattr(event, "direction", 0))
        ]
        found = [(locate(self.events[i], t_old, t_new, before[i], after[i], between), i) for i in active]
        found += self._inside(t_old, t_new, before, after, between)
        for t, i in sorted(found, key=lambda pair: abs(pair[0] - t_old)):
            known = self.t[i][-1] == t if self.t[i] else t == self.began and i in self.seen
            if known:  # a zero right at an accepted point is seen from both sides
                continue
            y = between(t)
            self.t[i].append(t)
            self.y[i].append(y)
            terminal = getattr(self.events[i], "terminal", None) or 0
            if terminal and len(self.t[i]) >= int(terminal):
                self.ended = i
                return t, y
        return None

    def _inside(
        self, t_old: float, t_new: float, before: list[float], after: list[float], between: Between
    ) -> list[tuple[float, int]]:
        """Return switches that are passed and passed back within a step, if they are near at one of its ends.

        Near is what they change by in two steps; what is farther away comes nearer before it is passed.
        """
        change = np.abs(np.subtract(after, before))
        reach, self.changes, found = change + self.changes, change, []
        for i, event in enumerate(self.events):
            nearest = max(before[i], after[i])
            if getattr(event, "eager", False) and nearest < 0.0 and -nearest < reach[i]:
                past = passed_at(event, t_old, t_new, before[i], after[i], between)
                if past is not None:
                    found.append((locate(event, t_old, past[0], before[i], past[1], between), i))
        return found

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


def passed_at(
    event: Event, t_old: float, t_new: float, before: float, after: float, between: Between
) -> tuple[float, float] | None:
    """Return time and value where a switch, negative at both ends of a step, is positive; None: nowhere.

    Where it is expected to be largest, by a parabola, it is looked at as well.
    """
    times, values = [t_old], [before]
    for part in INSIDE:
        t = t_old + part * (t_new - t_old)
        times.append(t)
        values.append(value(event, t, between(t)))
        if values[-1] > 0.0:
            return t, values[-1]
    times, values = [*times, t_new], [*values, after]
    k = min(max(int(np.argmax(values)), 1), len(values) - 2)
    low, middle, high = values[k - 1 : k + 2]
    bend, slope = low - 2.0 * middle + high, 0.5 * (high - low)
    if bend >= 0.0 or abs(slope) >= -bend:
        return None
    if middle - 0.5 * slope**2 / bend < -DOUBT * (max(values) - min(values)):
        return None
    t = times[k] - slope / bend * INSIDE[0] * (t_new - t_old)
    largest = value(event, t, between(t))
    return (t, largest) if largest > 0.0 else None


def locate(event: Event, t_old: float, t_new: float, before: float, after: float, between: Between) -> float:
    """Return the zero of the event inside the step, to rounding (Brent's method)."""
    from scipy.optimize import brentq

    if before == 0.0 or after == 0.0:
        return t_old if before == 0.0 else t_new
    eps = 4.0 * float(np.finfo(float).eps)  # beside the time: one in nanoseconds has as many digits
    least = eps * max(abs(t_old), abs(t_new))
    return float(brentq(lambda t: value(event, t, between(t)), t_old, t_new, xtol=least, rtol=eps))
