"""The first crossing of a switch inside steps: one that is passed several times in a step, or there and back.

Steps follow the solution, not the switching functions: `sin(50*t) - x` turns round many times in one. It is
sampled on the dense output, more often the more its phases turn, and where it may be past between samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from herk.core import HerkError
from herk.core.dae import Array

Inner = Callable[[Array], Array]  # states by rows at times inside the steps that are looked at
Past = tuple[float, float]  # time and value where a switch is past
Sampled = Callable[[Array, Array], tuple[Array, Array]]  # values and phases at times and states by rows

SAMPLES = 8  # of a step that is looked at
PER_TURN = 12  # samples of what oscillates
TURN = 0.1  # turns in a step, from which on it is looked at
MOST, MOST_PIECES = 1 << 18, 4096  # numbers at once, of states between points; pieces of a step
DOUBT = 0.2  # second differences by which a parabola may err about how high it is
BESIDE = 1.5  # distances between samples by which it may err about where it is highest
PARTS = np.arange(SAMPLES + 1) / SAMPLES
ROUNDS, FEWEST = 8, 1e-12  # looks at a place between samples; where they are this close, beside the step


@dataclass
class Crossings:
    """Looks for switches past zero inside steps, in order."""

    switches: Sequence[tuple[int, Any]]  # and what number each is
    before: tuple[float, Array] | None = None  # length of the last step and what it changed

    def first(self, t: Array, y: Array, inner: Inner) -> tuple[int, dict[int, Past]]:
        """Return the first step between these points in which switches are past, and where; -1 if none is.

        A switch is past at the end of a step or not: inside it may be before.
        """
        with np.errstate(all="ignore"):
            values, phases = self._sampled(t, y)
            count = t.size - 1
            ended = values[1:].max(axis=1) > 0.0
            if ended[-1] or ended.any():
                count = int(np.argmax(ended)) + 1
            steps = np.flatnonzero(self._suspect(t, values, phases)[:count])
            for k, times, inside in self._samples(t, steps, inner) if steps.size else ():
                found = self._past(times, inside, inner, abs(t[k + 1] - t[k]))
                if found:
                    return k, found
        return -1, {}

    def _sampled(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Return values (times x switches) and phases of all switches."""
        found = [switch.sampled(t, y) for _, switch in self.switches]
        if len(found) == 1:
            return found[0][0][:, None], found[0][1]
        return np.stack([values for values, _ in found], axis=1), np.hstack([phases for _, phases in found])

    def _suspect(self, t: Array, values: Array, phases: Array) -> Any:
        """Tell in which steps a switch may be past: near one, beside what it changes by, or it oscillates.

        It is about a parabola, which rises no more than this above the ends of the step.
        """
        h, change = np.abs(np.diff(t)), np.abs(np.diff(values, axis=0))
        h_old, old = self.before or (h[0], np.full(values.shape[1], np.inf))
        self.before = h[-1], change[-1]
        growth = (h / np.append(h_old, h[:-1]))[:, None]
        reach = change + growth**2 * np.vstack([old, change[:-1]])
        far = -np.maximum(values[:-1], values[1:]) >= reach
        return ~far.all(axis=1) | (np.abs(np.diff(phases, axis=0)) > TURN).any(axis=1)

    def _samples(self, t: Array, steps: Any, inner: Inner) -> Iterator[tuple[int, Array, Array]]:
        """Yield those of the steps, or pieces of them, in which switches may be past: times and values."""
        times = t[steps, None] + (t[steps + 1] - t[steps])[:, None] * PARTS
        times[:, -1] = t[steps + 1]
        flat = times.reshape(-1)
        try:
            states = inner(flat)
        except HerkError:  # in one of these steps
            for k in steps if len(steps) > 1 else ():
                yield from self._samples(t, np.array([k]), inner)
            return
        values, phases = self._sampled(flat, states)
        values = values.reshape(*times.shape, -1)
        may = (values[:, 1:] > 0.0).any(axis=(1, 2)) | _rises(values).any(axis=(1, 2))
        wanted = np.zeros(len(steps))
        if phases.shape[1]:
            turned = np.abs(np.diff(phases.reshape(*times.shape, -1), axis=1)).sum(axis=1).max(axis=1)
            wanted = np.where(turned < np.inf, PER_TURN * turned, 0.0)
        for row in np.flatnonzero(may | (wanted > SAMPLES)).tolist():
            k, known = int(steps[row]), (times[row], values[row])
            finer = self._finely(*known, wanted[row], max(MOST // states.shape[1], SAMPLES), inner)
            yield from ((k, *each) for each in (finer if wanted[row] > SAMPLES else (known,)))

    def _finely(
        self, times: Array, values: Array, wanted: float, most: int, inner: Inner
    ) -> Iterator[tuple[Array, Array]]:
        """Yield a step with more samples, because phases turn often in it; if very many, in pieces."""
        pieces = min(int(np.ceil(wanted / most)), MOST_PIECES)
        ends = np.linspace(times[0], times[-1], pieces + 1)
        for low, high in pairwise(ends):
            finer = np.linspace(low, high, min(int(np.ceil(wanted / pieces)) + 1, most) + 1)
            try:
                states = inner(finer)
            except HerkError:  # what is known has to do
                yield times, values
                return
            yield finer, self._sampled(finer, states)[0]

    def _past(self, times: Array, values: Array, inner: Inner, length: float) -> dict[int, Past]:
        """Return the switches that are past at one of these samples, or between them, and where first."""
        found: dict[int, Past] = {}
        for column, (i, switch) in enumerate(self.switches):
            own = values[:, column]
            above = own > 0.0
            above[0] = False
            k = int(np.argmax(above)) or own.size
            past = past_between(times[: k + 1], own[: k + 1], switch.sampled, inner, length)
            if past is None and k < own.size:
                past = float(times[k]), float(own[k])
            if past is not None:
                found[i] = past
        return found


def past_between(times: Array, v: Array, sampled: Sampled, inner: Inner, length: float) -> Past | None:
    """Return where a function rises above zero between samples at which it is not; None: nowhere."""
    for j in _highest(v) if v.size > 2 else ():
        low, high = times[max(j - 2, 0)], times[min(j + 2, v.size - 1)]
        for _ in range(ROUNDS):
            if not abs(high - low) > FEWEST * length:
                break
            finer = np.linspace(low, high, SAMPLES + 1)
            try:
                near, _ = sampled(finer, inner(finer))
            except HerkError:
                break
            top = int(np.argmax(near > 0.0))
            if near[top] > 0.0:
                return float(finer[top]), float(near[top])
            top = min(max(int(np.argmax(near)), 1), SAMPLES - 1)
            if top not in _highest(near):
                break
            low, high = finer[top - 1], finer[top + 1]
    return None


def _highest(v: Array) -> Any:
    """Return the samples around which a function may rise above zero between them."""
    return np.flatnonzero(_rises(v[None, :, None])) + 1


def _rises(v: Array) -> Any:
    """Tell around which inner samples (steps x samples x switches) a parabola rises above zero."""
    middle = v[:, 1:-1]
    bend, slope = v[:, :-2] - 2.0 * middle + v[:, 2:], 0.5 * (v[:, 2:] - v[:, :-2])
    top = middle - 0.5 * slope**2 / bend - DOUBT * bend
    return (bend < 0.0) & (middle <= 0.0) & (np.abs(slope) < -BESIDE * bend) & (top > 0.0)
