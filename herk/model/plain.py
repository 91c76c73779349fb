"""What a model says in numbers and texts, checked and recognised without sympy: texts read once need not be read again."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from herk.core import InputError
from herk.model.store import load, version


def finite(value: Any, what: str) -> float:
    """Return a finite float, or say what is not one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a number, not {value!r}.") from None
    if isinstance(value, (str, bool)) or not math.isfinite(number):
        raise InputError(f"{what} must be a finite number, not {value!r}.")
    return number


def span(value: Any) -> tuple[float, float]:
    """Return (start, end) as two different finite times."""
    if isinstance(value, str) or not isinstance(value, Iterable) or len(ends := tuple(value)) != 2:
        raise InputError(f"t_span must be two times (start, end), not {value!r}.")
    start, end = finite(ends[0], "The start of t_span"), finite(ends[1], "The end of t_span")
    if start == end:
        raise InputError(f"t_span starts and ends at {start!r}; its length must not be zero.")
    return start, end


def start_values(value: Any, names: Sequence[str]) -> tuple[float | None, ...]:
    """Return y0, each entry a finite number or None."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"y0 must be a sequence of {len(names)} numbers or None, not {value!r}.")
    entries = list(value)
    if len(entries) != len(names):
        raise InputError(f"y0 has {len(entries)} entries; for {len(names)} states it must have {len(names)}.")
    return tuple(None if entry is None else finite(entry, f"The start value of {name}") for entry, name in zip(entries, names, strict=True))


def copied(value: Any) -> Any:
    """Return nested texts and numbers as tuples and dicts of them; TypeError if there is anything else, a formula for example."""
    if type(value) in (str, int, float):
        return value
    if isinstance(value, Mapping):
        return {copied(key): copied(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return copied(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(copied(entry) for entry in value)
    raise TypeError(f"{type(value).__name__} is neither text nor number")


def key_of(written: Any, read: Callable[[], str]) -> str:
    """Return the key of a model written like this; `read` is called, and may complain, only if the same was not read before."""
    mark = hashlib.sha256(repr((written, version())).encode()).hexdigest()[:16]
    key: str = load(f"read_{mark}", lambda: f"KEY = {read()!r}\n").KEY
    return key
