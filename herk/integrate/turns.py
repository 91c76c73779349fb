"""Events that are passed there and back within a step: steps follow the solution, not the event functions.

They are sampled on the dense output: in every step where that is cheap, otherwise where they may turn round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from herk.core import HerkError
from herk.core.dae import Array
from herk.integrate.crossings import BESIDE, DOUBT, Inner, past_between

PIECES = 5  # of a step
PARTS = np.arange(1, PIECES) / PIECES
MOST = 1 << 16  # numbers at once, of states inside steps
ALIKE = 0.2  # part by which slopes of two steps may differ for a parabola to be a guide
CAREFUL = 4.0  # times as far as it an event may go
NONE = np.zeros((0, 0))  # phases of an event

# times between which an event may change sign, and its values there
Bracket = tuple[float, float, float, float]
NOTHING = np.zeros((0, 0)), np.zeros((0, 0, 0))


@dataclass
class Inside:
    """States inside the steps of a chunk, found for many steps at once, or, where they are dear, for one."""

    t: Array  # where steps begin and end
    n: int
    inner: Inner
    cheap: bool
    first: int = 0
    known: tuple[Array, Array] = field(default=NOTHING)

    def of(self, k: int) -> tuple[Array, Array]:
        """Return times and states (by rows) inside step k."""
        if not self.first <= k < self.first + len(self.known[0]):
            count = max(MOST // (self.n * PARTS.size), 1) if self.cheap else 1
            try:
                self._find(k, count)
            except HerkError:  # in one of these steps
                self._find(k, 1)
        times, states = self.known
        return times[k - self.first], states[k - self.first]

    def _find(self, k: int, count: int) -> None:
        ends = self.t[k : k + count + 1]
        times = ends[:-1, None] + np.diff(ends)[:, None] * PARTS
        states = self.inner(times.reshape(-1)).reshape(*times.shape, -1)
        self.first, self.known = k, (times, states)


@dataclass
class Turns:
    """What one event did in the step before, and whether it is passed there and back in this one."""

    value: Callable[[float, Array], float]
    h: float = 0.0  # length of the last step, 0: there was none
    slope: float = 0.0  # of the event from its start to its end

    def near(self, h: float, before: float, after: float) -> bool:
        """Tell whether an event that does not change sign from end to end of a step may do so inside.

        A parabola with the second derivative c leads from a chord away by c h^2/8 at most. It is a guide
        where slopes are much alike in two steps. Otherwise steps are long beside what the solution does, and
        what the event changes in a step is one: in this or, if it were as long, in the last.
        """
        slope, last = (after - before) / h, self.slope
        if not self.h:
            away = np.inf
        elif abs(slope - last) < ALIKE * max(abs(slope), abs(last)):
            away = CAREFUL * abs(slope - last) * h**2 / (4.0 * (abs(h) + abs(self.h)))
        else:
            away = abs(after - before) + abs(last / self.h) * h**2
        self.h, self.slope = h, slope
        return not min(abs(before), abs(after)) >= away

    def brackets(
        self, k: int, ends: tuple[float, float], values: tuple[float, float], inside: Inside
    ) -> list[Bracket]:
        """Return the parts of a step between whose ends the event may change sign; none if it does not.

        It has one sign at both ends.
        """
        near = self.near(ends[1] - ends[0], *values)
        if not (near or inside.cheap):
            return []
        try:
            times, states = inside.of(k)
            found = [self.value(*each) for each in zip(times.tolist(), states, strict=True)]
        except HerkError:  # there are no values there: what is seen at the ends has to do
            return []
        t, v = [ends[0], *times.tolist(), ends[1]], [values[0], *found, values[1]]
        if min(v) > 0.0 or max(v) < 0.0:
            past = self._between(np.array(t), np.array(v), inside.inner) if _dips(v) else None
            if past is None:
                return []
            j = int(np.searchsorted(np.abs(np.array(t) - t[0]), abs(past[0] - t[0])))
            t.insert(j, past[0])
            v.insert(j, past[1])
        return list(zip(t[:-1], t[1:], v[:-1], v[1:], strict=True))

    def _between(self, t: Array, v: Array, inner: Inner) -> tuple[float, float] | None:
        """Return where the event has the other sign between samples of one sign, and its value."""
        side = -1.0 if v[0] > 0.0 else 1.0

        def sampled(times: Array, states: Array) -> tuple[Array, Array]:
            found = [self.value(*each) for each in zip(times.tolist(), states, strict=True)]
            return side * np.array(found), NONE

        past = past_between(t, side * v, sampled, inner, abs(t[-1] - t[0]))
        return None if past is None else (past[0], side * past[1])


def _dips(v: list[float]) -> bool:
    """Tell whether a parabola around an inner sample, all of one sign, comes close to zero."""
    for a, b, c in zip(v[:-2], v[1:-1], v[2:], strict=True):
        side = 1.0 if b > 0.0 else -1.0
        bend, slope = side * (a - 2.0 * b + c), 0.5 * (c - a)
        if bend > 0.0 and abs(slope) < BESIDE * bend and side * b - 0.5 * slope**2 / bend < DOUBT * bend:
            return True
    return False
