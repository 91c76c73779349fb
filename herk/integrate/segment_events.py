"""Events as a segment of a run watches them: what is left of their counts, switches that end a mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from herk.core import InputError, Solution
from herk.core.dae import Array
from herk.model.evaluate import call

# a switch counts when it is clearly past zero, so that the state found there belongs to the new mode
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


def armed(event: Event, mode: float, n: int) -> Event:
    """Return the switch as it ends this mode: a crossing in one direction, counted when it is past."""
    sign = -1.0 if mode else 1.0

    def value(t: float, y: Array) -> float:
        return sign * event(t, y[:n]) - BEYOND

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
