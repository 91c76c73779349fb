"""Narrow peaks of the state that a step led across: seen behind the steps, which then end beside the peak.

No stage lies on such a peak but by chance, so the estimate of errors is silent. Its measure is smooth,
though: a few values inside a step tell whether it may be smallest there, and more of them where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from herk.core import Dae, HerkError
from herk.core.dae import Array
from herk.integrate.output import Output
from herk.jit.state import Wholes
from herk.model.peaks import Peaks, compiled

Between = Callable[[Array], Array]

DEEP = 2.0  # change of a logarithm in a step, from which on there may be a peak inside
DEEP_BY_POWER = 0.25  # the same for what falls by a power: part of the smallest measure at its ends
SAMPLES, MOST_SAMPLES, ROUNDS = 8, 512, 16  # of a step, between which a peak is looked for more closely
BESIDE = 1.3  # distances between these: as far as a parabola may err about where it is smallest
NEXT = 2.0**-16  # of these: next to an end of a step, to know whether a measure falls or rises there
UNSURE = 0.1  # second differences by which a parabola may err about how deep it is
TURN = 0.5  # radians in a step, above which peaks may return within it
FAR, FAR_BY_POWER = 2.0, 4.0  # widths: from so far no stage sees a peak
ACROSS = 2.0  # times as far on one side: no step from there resolves a peak, wherever it ends behind it
AHEAD = 7.5, 4.2, 2.4, 1.4, 0.8  # times as far before a peak: where to go, in steps from which it is seen
TINY = float(np.finfo(float).tiny)
LOST = 150.0  # exponent of a peak that is nothing at its highest
FLAT = 8.0  # widths of a window in which nothing changes: the top is no parabola
ROUNDING = 64 * float(np.finfo(float).eps)
MOST_AT_ONCE = 1 << 20  # numbers, of states between points


class Missed(NamedTuple):
    """How many steps count, and where the next ones are to end: before, at and behind the peak."""

    kept: int
    stops: tuple[float, ...]


@dataclass
class Narrow:
    """Follows the peaks of a model along a run."""

    peaks: Peaks
    values: Array
    stops: tuple[float, ...] = ()  # beside the peak that a step led across
    before: tuple[float, Array] | None = None  # length of the last step and what it changed
    low: Array | float = np.inf  # the smallest and
    high: Array | float = -np.inf  # largest measures so far

    @classmethod
    def of(cls, dae: Dae, values: Array | None) -> Narrow | None:
        """Return what follows the peaks of a DAE made from a model; None if it shows none."""
        model: Any = getattr(dae, "model", None)
        if model is None or getattr(dae, "form", "") != "overdetermined" or not model.peaks:
            return None
        known = tuple(model.parameters)
        own = np.array(model.values if values is None or len(values) != len(known) else values, dtype=float)
        return cls(compiled(model.peaks, model.t, model.states, known), own)

    def kept(self, output: Output, count: int) -> int:
        """Return how many of the next steps count: none from one on that led across a peak."""
        if not count:
            return 0
        t, y = output.ahead(count)
        with np.errstate(all="ignore"):
            found = self.missed(t, y, lambda times: output.between(count, times))
        self.stops = () if found is None else found.stops
        return count if found is None else found.kept

    def missed(self, t: Array, y: Array, between: Between) -> Missed | None:
        """Return the first peak that steps between these points (the last known one first) led across."""
        measures, powers, phases = self.peaks.at(t, y, self.values)
        steps, turns = self._suspect(t, measures, powers), self._turns(measures, phases)
        wanted = np.flatnonzero(steps | (turns > 1))
        for some in _stretches(wanted, turns, y.shape[1]):
            for k, i, ends in self._flagged(t, some, int(turns[some[0]]), between):
                stops = self._beside(t[k : k + 2], ends, i, between)
                if stops is not None:
                    return Missed(k, stops)
        return None

    def _suspect(self, t: Array, measures: Array, powers: Array) -> Any:
        """Tell which steps may lead across a peak: those in which, or shortly before, much has changed.

        A measure is about a parabola, whose bottom lies no deeper than this below its ends.
        """
        h, change = np.abs(np.diff(t)), np.abs(np.diff(measures, axis=0))
        unknown = h[0], np.full(measures.shape[1], np.inf)
        h_old, old = self.before or unknown
        self.before = h[-1], change[-1]
        growth = (h / np.append(h_old, h[:-1]))[:, None]
        growth = np.maximum(growth, growth**2)  # the second of a parabola, the first of a corner
        ends = np.minimum(measures[:-1], measures[1:])
        much = np.where(powers == 0.0, DEEP, DEEP_BY_POWER * ends)
        return ~((change + growth * np.vstack([old, change[:-1]])) < much).all(axis=1)

    def _turns(self, measures: Array, phases: Array) -> Any:
        """Return by how many times more samples a step needs, because peaks may return within it."""
        self.low = np.minimum(self.low, measures.min(axis=0))
        self.high = np.maximum(self.high, measures.max(axis=0))
        narrow = [not self.high[i] - self.low[i] < DEEP for i in self.peaks.owner]  # type: ignore[index]
        turned = np.abs(np.diff(phases[:, narrow], axis=0)).max(axis=1, initial=0.0)
        turned = np.where(turned < np.inf, turned, 0.0)
        often = np.ceil(2.0 / np.pi * turned).clip(1, MOST_SAMPLES // SAMPLES)
        return np.where(turned > TURN, 2 * often, 1).astype(int)

    def _flagged(
        self, t: Array, steps: Wholes, turns: int, between: Between
    ) -> Iterator[tuple[int, int, tuple[float, float]]]:
        """Yield step, peak, and between which times in it the peak may be, one step after the other."""
        count = SAMPLES * turns
        times = t[steps, None] + np.diff(t)[steps, None] * np.arange(count + 1) / count
        times[:, -1] = t[steps + 1]
        beside = times[:, [0, -1]] + NEXT * (times[:, [1, -2]] - times[:, [0, -1]])
        flat = np.column_stack([times[:, 0], beside[:, 0], times[:, 1:-1], beside[:, 1], times[:, -1]])
        try:
            measures, powers, _ = self.peaks.at(flat.reshape(-1), between(flat.reshape(-1)), self.values)
        except HerkError:  # in one of these steps
            for k in steps if len(steps) > 1 else ():
                yield from self._flagged(t, np.array([k]), turns, between)
            if len(steps) == 1:
                yield int(steps[0]), 0, (times[0, 0], times[0, -1])
            return
        deep = _deep(measures.reshape(*flat.shape, -1), powers)
        for row, j, i in zip(*np.nonzero(deep), strict=True):
            yield int(steps[row]), int(i), (times[row, max(j - 1, 0)], times[row, min(j + 3, count)])

    def _beside(
        self, step: Array, ends: tuple[float, float], i: int, between: Between
    ) -> tuple[float, ...] | None:
        """Return times before, at and behind a peak inside a step that its stages did not see.

        The first is so far before that there is nothing of it: a long step that ends where the peak is high
        is made by Newton's method with what is known from elsewhere.
        Where there are no values between points, a shorter step is to lead to some.
        """
        least = ROUNDING * max(abs(step))
        try:
            found = self._closer(*ends, i, between)
        except HerkError:
            middle = 0.5 * (ends[0] + ends[1])
            return (float(middle),) if abs(ends[1] - ends[0]) > 4.0 * least else None
        if found is None:
            return None
        peak, width, far = found
        near, distant = np.sort(abs(peak - step)) / (far * width)
        inside = (peak - step[0]) * (peak - step[1]) < 0.0
        if not width > least or (near <= 1.0 and distant <= ACROSS) or (near > 1.0 and not inside):
            return None
        width = np.copysign(width, step[1] - step[0])
        return tuple(float(peak + at * width) for at in (*(-lead * far for lead in AHEAD), -1.0, 0.0, 1.0))

    def _closer(self, low: float, high: float, i: int, between: Between) -> tuple[float, float, float] | None:
        """Return the place of a peak, its width, at which a logarithm has fallen by one, and what is far."""
        ends = low, high
        for _ in range(ROUNDS):
            times = np.linspace(low, high, SAMPLES + 1)
            measures, powers, _ = self.peaks.at(times, between(times), self.values)
            m, power = measures[:, i], powers[i]
            heights = levels(m, power)
            j = int(np.argmax(heights))
            low, high = times[max(j - 1, 0)], times[min(j + 1, SAMPLES)]
            if j > 0:  # at the end the parabola goes on behind it
                h, k = times[1] - times[0], min(j, SAMPLES - 1)
                bend, slope = m[k - 1] - 2.0 * m[k] + m[k + 1], 0.5 * (m[k + 1] - m[k - 1])
                bottom = m[k] if k == j else max(m[k] - 0.5 * slope**2 / bend, TINY)
                curvature = bend / (2.0 * h * h) * (1.0 if power == 0.0 else power / bottom)
                width = 1.0 / np.sqrt(curvature) if curvature > 0.0 else np.inf
                if abs(high - low) <= width:
                    far = FAR if power == 0.0 else FAR_BY_POWER
                    peak = times[k] - slope / bend * h if bend > 0.0 else times[j]
                    beyond = k != j and abs(peak - times[j]) > ACROSS * far * width  # no parabola up to there
                    if beyond or (power == 0.0 and bottom > LOST):
                        return None
                    if width > FLAT * abs(high - low):
                        width = self._width(peak, abs(high - low), ends, i, between)
                    return peak, width, far
            if j in (0, SAMPLES) and np.ptp(heights) < 0.1 * DEEP:  # it rises to the end, and hardly so
                return None
        return None

    def _width(self, peak: float, width: float, ends: tuple[float, float], i: int, between: Between) -> float:
        """Return the width of a peak with a flat top, of which curvature tells nothing; `width` or more."""
        longest = abs(ends[1] - ends[0])
        while width < longest:
            times = np.clip(peak + width * np.array([-1.0, 0.0, 1.0]), min(ends), max(ends))
            measures, powers, _ = self.peaks.at(times, between(times), self.values)
            if np.ptp(levels(measures[:, i], powers[i])) >= 1.0:
                break
            width *= 2.0
        return width


def levels(measures: Array, powers: Array) -> Array:
    """Return logarithms of formulas."""
    found = np.where(powers == 0.0, -measures, -powers * np.log(measures))
    return np.where(np.isfinite(found), found, -np.finfo(float).max)


def _deep(m: Array, powers: Array) -> Any:
    """Tell around which samples (steps x inner samples x measures) a formula rises far above one end.

    The second sample and the last but one are next to the ends: a parabola does not see a corner or a wall
    between an end and the next sample, but what falls from the end on and is not found lower there.
    """
    beside, m = m[:, [1, -2]], np.delete(m, [1, -2], axis=1)
    ends, middle = np.maximum(m[:, :1], m[:, -1:]), m[:, 1:-1]
    bend, slope = m[:, :-2] - 2.0 * middle + m[:, 2:], 0.5 * (m[:, 2:] - m[:, :-2])
    bottom = middle - 0.5 * slope**2 / bend - UNSURE * bend
    reach = np.full(middle.shape[1], BESIDE)
    reach[-1] = SAMPLES  # steps may end on a peak, shortly before its highest point
    deep = (bend > 0.0) & (np.abs(slope) < reach[:, None] * bend) & (_rise(ends, bottom, powers) >= DEEP)
    first, second = m[:, [0, -1]], m[:, [1, -2]]
    fall = (first - beside) / NEXT
    deep[:, [0, -1]] |= (_rise(first, first - fall, powers) >= DEEP) & (second > first - 0.5 * fall)
    return deep


def _rise(high: Array, low: Array, powers: Array) -> Array:
    """Return by how much a logarithm rises between two measures."""
    return np.where(powers == 0.0, high - low, powers * np.log(high / np.maximum(low, TINY)))


def _stretches(steps: Wholes, turns: Wholes, n: int) -> Iterator[Wholes]:
    """Yield neighbours with equally many samples, not too many at once."""
    cuts = np.flatnonzero(np.diff(turns[steps])) + 1
    for some in np.split(steps, cuts) if steps.size else ():
        most = max(MOST_AT_ONCE // (n * SAMPLES * int(turns[some[0]])), 1)
        for first in range(0, len(some), most):
            yield some[first : first + most]
