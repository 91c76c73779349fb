"""What a model says in numbers, checked: spans, start values, parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from herk.core import InputError

_LONG = 80  # characters of a wrong entry that are repeated to the user


def finite(value: Any, what: str, otherwise: str = "") -> float:
    """Return a finite float, or say what is not one, and what may stand there otherwise."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be a number{otherwise}, not {shown(value)}.") from None
    if isinstance(value, (str, bool)) or not math.isfinite(number):
        raise InputError(f"{what} must be a finite number{otherwise}, not {shown(value)}.")
    return number


def ordered(value: Any, wanted: str) -> list[Any]:
    """Return the entries of a sequence.

    A text is none, and a set or a dict has no order that could be meant.
    """
    if type(value) in (list, tuple):  # asking for abstract classes takes longer than all else here
        return list(value)
    sequence = isinstance(value, Iterable) or (hasattr(value, "__getitem__") and hasattr(value, "__len__"))
    if isinstance(value, (str, bytes, Set, Mapping)) or not sequence:  # sympy's matrices are no Iterable
        raise InputError(f"{wanted}, not {shown(value)}.")
    return list(value)


def shown(value: Any) -> str:
    """Return what was given as it is written in Python, cut where it is long."""
    text = repr(value[: 2 * _LONG] if isinstance(value, str) else value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def span(value: Any) -> tuple[float, float]:
    """Return (start, end) as two different finite times."""
    wanted = "t_span must be two times (start, end)"
    ends = ordered(value, wanted)
    if len(ends) != 2:
        raise InputError(f"{wanted}, not {shown(value)}.")
    start, end = finite(ends[0], "The start of t_span"), finite(ends[1], "The end of t_span")
    if start == end:
        raise InputError(f"t_span starts and ends at {start!r}; its length must not be zero.")
    return start, end


def other_span(now: tuple[float, float], t_end: Any, start: Sequence[Any], t0: Any) -> tuple[float, float]:
    """Return a span with another end, and another start given by its name or as a number behind the end."""
    begin = t0 if t0 is not None else start[0] if start else now[0]
    found = span((begin, now[1] if t_end is None else t_end))
    if len(start) > 1 or (start and t0 is not None):
        raise InputError("with_span takes two numbers, with_span(t0=..., t_end=...).")
    if start and (found[1] - found[0]) * (now[1] - now[0]) < 0.0:
        raise InputError(
            f"with_span({t_end}, {start[0]}) would run from {begin} back to {t_end}: the end comes first."
            f" Write with_span(t0={t_end}, t_end={start[0]}), or by name what was written if that is meant."
        )
    return found


def start_values(value: Any, names: Sequence[str]) -> tuple[float | None, ...]:
    """Return y0, each entry a finite number or None."""
    entries = ordered(
        value, f"y0 must be a sequence of {len(names)} numbers or None, in the order of the states"
    )
    if len(entries) != len(names):
        raise InputError(f"y0 has {len(entries)} entries; for {len(names)} states it must have {len(names)}.")
    return tuple(
        None if entry is None else finite(entry, f"The start value of {name}", " (None: computed)")
        for entry, name in zip(entries, names, strict=True)
    )
