"""Single arguments of solve_dae, checked: a value that makes no sense ends with a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Switches, nearest
from herk.core.dae import Array
from herk.model.plain import ordered

NUMBERS = (bool, int, float, np.bool_, np.number)


def rtol_of(value: Any) -> float:
    """Return the relative tolerance, checked."""
    rtol = float(positive(value, "rtol"))
    if not 1e-15 <= rtol < math.inf:
        raise InputError(
            f"rtol = {rtol:g} makes no sense in double precision; use a finite number of at least 1e-15."
        )
    return rtol


def span_of(span: Any) -> tuple[float, float]:
    """Return both ends of the span, checked."""
    try:
        t0, t1 = (float(value) for value in ordered(span, "t_span must be two numbers"))
    except (TypeError, ValueError):
        raise InputError(f"t_span must be two numbers (t0, t_end), not {span!r}.") from None
    if not (math.isfinite(t0) and math.isfinite(t1)):
        raise InputError(f"t_span = ({t0}, {t1}) is not finite.")
    if t0 == t1:
        raise InputError(f"t_span has length zero: both ends are {t0}.")
    return t0, t1


def start_of(y0: Any, dae: Dae) -> tuple[float | None, ...]:
    """Return the start values, checked; None stands for one to be computed."""
    try:
        values = tuple(
            None if value is None else float(value) for value in ordered(y0, "y0 must be a sequence")
        )
    except (TypeError, ValueError):
        values = ()
    if not values:
        raise InputError(
            f"y0 must be a sequence of {dae.n} numbers (None for one to be computed), not {y0!r}."
        )
    if len(values) != dae.n:
        raise InputError(f"y0 has {len(values)} entries; the DAE has n = {dae.n} unknowns.")
    if not all(map(math.isfinite, filter(None, values))):
        wrong = [dae.names[i] for i, value in enumerate(values) if value and not math.isfinite(value)]
        raise InputError(
            f"y0 is not finite in {', '.join(wrong)}. Give a number, or None to have it computed from the"
            " constraints."
        )
    return values


def positive(value: Any, name: str, none: bool = False) -> Any:
    """Return a positive number, checked; None where that is allowed."""
    if value is None and none:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not float(value) > 0:
        raise InputError(f"{name} must be a positive number, not {value!r}.")
    return float(value)


def count(value: Any) -> int:
    """Return the largest number of steps, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"max_steps must be a whole number of at least 1, not {value!r}.")
    return int(value)


def choice(value: Any, known: Sequence[str], name: str) -> str:
    """Return a choice, if it is a known one."""
    if value not in known:
        raise nearest(value, known, f"choice of {name}")
    return str(value)


def atol_of(atol: Any, n: int) -> Array:
    """Return an absolute tolerance for every component, checked."""
    if type(atol) is float and 0.0 < atol < math.inf:
        return np.full(n, atol)
    try:
        array = np.array(atol, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"atol must be a number or {n} numbers, not {atol!r}.") from None
    if array.shape not in ((), (n,)):
        raise InputError(
            f"atol has shape {array.shape}; give one number or one for each of the {n} unknowns."
        )
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InputError("atol must be positive and finite in every component.")
    return np.broadcast_to(array, (n,)).copy()


def times_of(t_eval: Any, t0: float, t1: float) -> Array | None:
    """Return the output times, checked."""
    if t_eval is None:
        return None
    try:
        times: Array = np.array(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise InputError("t_eval must be a sequence of times, all of them numbers.") from None
    if times.ndim != 1 or not times.size:
        raise InputError("t_eval must be a non-empty sequence of times.")
    if not ((times >= min(t0, t1)) & (times <= max(t0, t1))).all():
        raise InputError(f"t_eval has times outside the span from {t0} to {t1}.")
    if times.size > 1 and not (np.diff(times) * np.sign(t1 - t0) > 0).all():
        raise InputError("t_eval must be strictly monotone in the direction of integration.")
    return times


def breakpoints_of(times: Any) -> tuple[float, ...]:
    """Return the breakpoints in order, checked."""
    try:
        found = tuple(sorted({float(time) for time in times}))
    except (TypeError, ValueError):
        raise InputError(f"breakpoints must be a sequence of times, not {times!r}.") from None
    if not all(map(math.isfinite, found)):
        raise InputError("breakpoints must be finite times.")
    return found


def switches_of(switches: Any, dae: Dae) -> Switches | None:
    """Return the switches, if they fit the DAE."""
    if switches is None:
        return None
    if not isinstance(switches, Switches):
        raise InputError(f"switches must be a herk.core.Switches, not {type(switches).__name__}.")
    if switches.dae.n != dae.n + len(switches.events):
        wanted = f"{dae.n} and a mode for each of {len(switches.events)} events are needed"
        raise InputError(f"The DAE of the switches has {switches.dae.n} unknowns; {wanted}.")
    return switches


def callback_of(callback: Any) -> Any:
    """Return the callback, if it can be called."""
    if callback is not None and not callable(callback):
        raise InputError("callback must be a callable (t, y); it stops the run by returning True.")
    return callback


def events_of(events: Any) -> tuple[Callable[[float, Array], float], ...] | None:
    """Return the event functions, checked."""
    if events is None:
        return None
    try:
        listed = (events,) if callable(events) else tuple(events)
    except TypeError:
        raise InputError(
            f"events must be a callable (t, y) -> float or several, not {type(events).__name__}."
        ) from None
    for event in listed:
        if not callable(event):
            raise InputError(f"events must be callables (t, y) -> float, not {type(event).__name__}.")
        terminal, direction = getattr(event, "terminal", None), getattr(event, "direction", 0)
        if terminal is not None and not (
            isinstance(terminal, NUMBERS) and int(terminal) == terminal and terminal >= 0
        ):
            raise InputError(
                "The attribute terminal of an event must be True, False or a whole number of events to end"
                " after."
            )
        if getattr(event, "reset", None) is not None and not callable(event.reset):
            raise InputError("The attribute reset of an event must be a function (t, y) -> new y.")
        if not isinstance(direction, NUMBERS) or direction != direction:
            raise InputError(
                "The attribute direction of an event must be a number, of which the sign counts, not"
                f" {direction!r}."
            )
    return listed
