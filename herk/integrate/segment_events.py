"""Events as a segment of a run watches them: what is left of their counts, switches that end a mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Solution, Switches
from herk.core.dae import Array
from herk.integrate.cuts import Cuts
from herk.integrate.sliding import slope_at
from herk.model.evaluate import call, linearise

# a switch counts when it is clearly past zero beside its largest value, so that rounding does not undo it
BEYOND = 1e-12

Event = Callable[[float, Array], float]


@dataclass(eq=False)
class OfSegment:
    """An event as one segment watches it: of the state without modes, with what is left of its count.

    One with a reset ends its segment every time.
    """

    event: Event
    dae: Dae
    n: int
    terminal: int
    direction: float
    muted: bool  # just dealt with: it is zero where the segment begins
    leaving: bool  # it does not count where the run begins, if it is zero there
    due: bool  # it happened where the segment begins, and is still to be dealt with
    seen: bool  # it was noted where the segment begins
    before: float | None  # its value where the segment before ended, if the equations may jump since then

    def __post_init__(self) -> None:
        """Take over the name."""
        self.__name__ = getattr(self.event, "__name__", type(self.event).__name__)

    def __call__(self, t: float, y: Array) -> float:
        """Return the value."""
        return self.event(t, y[: self.n])

    def goes_on(self, t: float, y: Array, h: float) -> bool:
        """Tell whether it leaves zero in its direction at once: a time that has come, a line that is crossed.

        What bounces leaves it in the other one, however soon it comes back.
        """
        slope = slope_at(linearise(self.dae, t, y))
        if slope is None:
            return False
        with np.errstate(all="ignore"):
            return (self(t + h, y + h * slope) - self(t, y)) * self.direction > 0.0


def counted(event: Event, i: int, parts: Sequence[Solution]) -> int:
    """Return what is left of the count of an event, 0 if it has none."""
    terminal = getattr(event, "terminal", None) or 0
    happened = (len(part.t_events[i]) for part in parts if part.t_events is not None) if terminal else ()
    return int(terminal) - sum(happened)


def undecided(event: Event) -> bool:
    """Tell whether an event that is zero at the start of a run does not count: leaving zero resets nothing.

    With a direction in which it leaves zero it counts, as events without a reset do.
    """
    return getattr(event, "reset", None) is not None and not getattr(event, "direction", 0)


def ends_run(event: Event, i: int, parts: Sequence[Solution]) -> bool:
    """Tell whether a run ends with an event that has just happened; with a reset only by a count."""
    has_reset, terminal = getattr(event, "reset", None) is not None, getattr(event, "terminal", None)
    if has_reset and (not terminal or terminal is True):
        return False
    return not has_reset or counted(event, i, parts) <= 0


@dataclass
class Modes:
    """What is known of switches on the way: the one just passed, its new mode, and their largest values."""

    passed: tuple[int, float] | None = None
    largest: Array = field(default_factory=lambda: np.ones(1))

    def here(self, switches: Switches, t: float, y: Array) -> Array:
        """Return the modes of this state; that of the switch just passed is known, whatever rounding says."""
        found = switches.modes(t, y)
        if self.passed is not None:
            found[self.passed[0]] = self.passed[1]
        return found

    def armed(self, switches: Switches, modes: Array, n: int, cuts: Cuts) -> list[Armed]:
        """Return the switches as they end these modes."""
        limits = BEYOND * np.broadcast_to(self.largest, len(modes))
        return [Armed(*each, n, cuts) for each in zip(switches.events, modes, limits, strict=True)]

    def leave(self, which: int, before: float, largest: Array) -> None:
        """Note the switch that ended a segment, and how large all of them were in it."""
        self.passed, self.largest = (which, 1.0 - before), np.maximum(self.largest, largest)


@dataclass(eq=False)
class Armed:
    """A switch as it ends this mode: a crossing in one direction, counted when it is past.

    At the ends of the span it is what it is inside: a function of time may jump right there.
    """

    event: Any
    mode: float
    beyond: float
    n: int
    cuts: Cuts
    terminal: bool = True
    direction: float = 1.0
    eager: bool = True

    def __call__(self, t: float, y: Array) -> float:
        """Return the value."""
        return float(self.of(self.event(self.cuts.within(t), y[: self.n])))

    def of(self, values: Any) -> Any:
        """Return values of the switching function as they count here: positive is past."""
        return (-values if self.mode else values) - self.beyond

    def sampled(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Return values at states by rows, and phases (times x phases), in turns, of what oscillates."""
        t, y = np.clip(t, *self.cuts.ends_within), y[:, : self.n]
        many = getattr(self.event, "sampled", None)
        if many is None:  # a function of the user is called at every time
            found = [self.event(*each) for each in zip(t.tolist(), y, strict=True)]
            return self.of(np.array(found, dtype=float)), np.zeros((t.size, 0))
        values, phases = many(t, y)
        return self.of(values), phases


def reset_by(reset: Callable[[float, Array], Any], t: float, y: Array) -> list[float]:
    """Return the state a reset leads to."""
    new = np.array(call("reset", reset, t, y), dtype=float)
    if new.shape != y.shape or not np.isfinite(new).all():
        raise InputError(
            f"The reset of an event must return {y.size} finite numbers, the new state, not {new!r}."
        )
    return [float(value) for value in new]
