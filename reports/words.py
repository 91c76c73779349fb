"""Names and numbers as they are written within a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Facts = Mapping[str, Any]


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names as an enumeration, the rest as a number."""
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {noun if number == 1 else many or f'{noun}s'}"
