"""Where a span is cut at breakpoints.

A segment ends just before a breakpoint and the next begins just behind it, so that no evaluation sees the
wrong side. The same for our steppers and for rivals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from herk.core.dae import Array

# between a breakpoint and the ends of the segments beside it, relative to the end of the span
GAP = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Cuts:
    """A span, in either direction, and the times at which the equations are not smooth."""

    t0: float
    t1: float
    breakpoints: Sequence[float]

    @cached_property
    def _ahead(self) -> list[float]:
        """Return the breakpoints in the order in which they come, with the sign of the direction."""
        return sorted(self.forward * time for time in self.breakpoints)

    @property
    def gap(self) -> float:
        """Return the distance between a breakpoint and the ends of the segments beside it."""
        return GAP * max(abs(self.t0), abs(self.t1))

    @property
    def forward(self) -> float:
        """Return the sign of the direction."""
        return 1.0 if self.t1 > self.t0 else -1.0

    def following(self, t: float) -> float | None:
        """Return the next breakpoint up to the end; those that differ by rounding are one, the end too."""
        sign, least = self.forward, 4 * self.gap
        place = bisect_right(self._ahead, sign * t + least)
        ahead = self._ahead[place] if place < len(self._ahead) else np.inf
        if abs(ahead - sign * self.t1) <= least:
            return self.t1
        return sign * ahead if ahead < sign * self.t1 else None

    def end(self, stop: float | None) -> float:
        """Return where the segment before a breakpoint ends; without one, the end of the span."""
        return self.t1 if stop is None else stop - self.forward * self.gap

    def begin(self, stop: float) -> float:
        """Return where the segment behind a breakpoint begins."""
        return stop + self.forward * self.gap

    @cached_property
    def ends_within(self) -> tuple[float, float]:
        """Return times just inside the span, in order: a function of time may jump right at its ends."""
        low, high = sorted((self.t0, self.t1))
        gap = min(self.gap, 0.25 * (high - low))
        return low + gap, high - gap

    def within(self, t: float) -> float:
        """Return a time moved inside the span if it is one of its ends."""
        low, high = self.ends_within
        return min(max(t, low), high)

    def wanted(self, times: Array, since: float, stop: float | None, first: bool) -> Array:
        """Return the output times that belong to a segment; those between its end and a breakpoint do."""
        sign, until = self.forward, self.t1 if stop is None else stop
        later = sign * times >= sign * since if first else sign * times > sign * since
        return times[later & (sign * times <= sign * until)]

    def inside(self, times: Array, begin: float, end: float) -> Array:
        """Return output times moved into a segment, in its direction."""
        found = np.unique(np.clip(times, min(begin, end), max(begin, end)))
        return found if self.forward > 0 else found[::-1]
