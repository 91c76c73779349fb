"""Events as a segment of a run watches them: what is left of their counts, switches that end a mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import InputError, Solution, Switches
from herk.core.dae import Array
from herk.model.evaluate import call

# a switch counts when it is clearly past zero beside its largest value, so that rounding does not undo it
BEYOND = 1e-12

Event = Callable[[float, Array], float]


def counted(event: Event, i: int, parts: Sequence[Solution]) -> Event:
    """Return the event with what is left of its count; one with a reset ends its segment every time."""

    def value(t: float, y: Array) -> float:
        return event(t, y)

    terminal = getattr(event, "terminal", None) or 0
    if getattr(event, "reset", None) is not None:
        terminal = 1
    elif terminal:
        terminal = int(terminal) - sum(len(part.t_events[i]) for part in parts if part.t_events is not None)
    value.terminal, value.direction = terminal, getattr(event, "direction", 0)  # type: ignore[attr-defined]
    value.__name__ = getattr(event, "__name__", type(event).__name__)
    return value


def of_state(event: Event, n: int) -> Event:
    """Return the event as a function of the state with modes behind it."""

    def value(t: float, y: Array) -> float:
        return event(t, y[:n])

    value.terminal, value.direction = event.terminal, event.direction  # type: ignore[attr-defined]
    return value


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

    def armed(self, switches: Switches, modes: Array, n: int) -> list[Event]:
        """Return the switches as they end these modes."""
        limits = BEYOND * np.broadcast_to(self.largest, len(modes))
        return [armed(*each, n) for each in zip(switches.events, modes, limits, strict=True)]

    def leave(self, which: int, before: float, largest: Array) -> None:
        """Note the switch that ended a segment, and how large all of them were in it."""
        self.passed, self.largest = (which, 1.0 - before), np.maximum(self.largest, largest)


def armed(event: Event, mode: float, beyond: float, n: int) -> Event:
    """Return the switch as it ends this mode: a crossing in one direction, counted when it is past."""
    sign = -1.0 if mode else 1.0

    def value(t: float, y: Array) -> float:
        return sign * event(t, y[:n]) - beyond

    value.terminal, value.direction, value.eager = True, 1, True  # type: ignore[attr-defined]
    return value


def reset_by(reset: Callable[[float, Array], Any], t: float, y: Array) -> list[float]:
    """Return the state a reset leads to."""
    new = np.array(call("reset", reset, t, y), dtype=float)
    if new.shape != y.shape or not np.isfinite(new).all():
        raise InputError(
            f"The reset of an event must return {y.size} finite numbers, the new state, not {new!r}."
        )
    return [float(value) for value in new]
