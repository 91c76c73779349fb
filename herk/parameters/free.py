"""What a fit may change: names with first values and bounds, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import InputError, nearest
from herk.core.dae import Array
from herk.core.names import START, as_varied


@dataclass(frozen=True)
class Free:
    """Names of parameters and start values ("y0:x"), where the search begins, and between which bounds."""

    names: tuple[str, ...]
    first: Array
    low: Array
    high: Array

    @property
    def sizes(self) -> Array:
        """Return how large each is thought to be."""
        spread = np.where(np.isfinite(self.high - self.low), self.high - self.low, 1.0)
        return np.where(self.first != 0.0, np.abs(self.first), spread)

    def parameters(self, values: Array) -> dict[str, float]:
        """Return the parameters among these values."""
        pairs = zip(self.names, values, strict=True)
        return {name: float(value) for name, value in pairs if not name.startswith(START)}

    def starts(self, values: Array) -> dict[str, float]:
        """Return the start values among these values."""
        pairs = zip(self.names, values, strict=True)
        return {name[len(START) :]: float(value) for name, value in pairs if name.startswith(START)}


def free_of(model: Any, given: Any) -> Free:
    """Return what is free: a list of names, or a mapping to a first value, (low, high), or all three."""
    known = {p.name: value for p, value in model.parameters.items()}
    known |= {START + name: value for name, value in zip(model.names, model.y0, strict=True)}
    try:
        listed = [] if isinstance(given, str) else list(given)
    except TypeError:
        listed = [None]
    if isinstance(given, str) or not all(hasattr(name, "name") or isinstance(name, str) for name in listed):
        raise InputError(f'free must be names, or a mapping such as {{"l": (0.5, 2.0)}}, not {given!r}.')
    how = given if isinstance(given, Mapping) else dict.fromkeys(listed)
    asked = {as_varied(name, model.names): how[name] for name in listed}
    if not asked:
        raise InputError("free is empty: a fit needs a parameter or a start value to change.")
    rows = []
    for name, bounds in asked.items():
        if name not in known:
            raise nearest(name, known, "parameter or start value")
        rows.append(_row(name, bounds, known[name]))
    first, low, high = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return Free(tuple(asked), first, low, high)


def _row(name: str, how: Any, own: float | None) -> tuple[float, float, float]:
    """Return first value and bounds of one name."""
    try:
        numbers = [] if how is None else [float(value) for value in np.atleast_1d(np.array(how, dtype=float))]
    except (TypeError, ValueError):
        numbers = [np.nan]
    if len(numbers) > 3 or np.isnan(numbers).any():
        raise InputError(
            f"free[{name!r}] must be a first value, (low, high) or (first, low, high), not {how!r}."
        )
    first = numbers[0] if len(numbers) in (1, 3) else own
    low, high = numbers[-2:] if len(numbers) > 1 else (-np.inf, np.inf)
    if not low < high:
        raise InputError(f"The bounds of {name} are empty: {low!r} is not below {high!r}.")
    if len(numbers) == 2 and (first is None or not low < first < high):
        first = 0.5 * (low + high) if np.isfinite(low + high) else None
    if first is None or not np.isfinite(first):
        raise InputError(f"{name} has no first value; give one: free={{{name!r}: value}}.")
    if not low <= first <= high:
        raise InputError(
            f"The first value of {name}, {first!r}, is not between its bounds {low!r} and {high!r}."
        )
    return first, low, high
