"""Measurements: times, components and values with gaps, from a frame or a mapping, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import InputError, nearest
from herk.core.dae import Array
from herk.core.names import as_name, as_state


@dataclass(frozen=True)
class Data:
    """Values (time, component) with nan for what was not measured, and how exact each is thought to be."""

    t: Array
    names: tuple[str, ...]
    columns: tuple[int, ...]  # of the components in y
    values: Array
    sigma: Array

    @property
    def known(self) -> np.ndarray:
        """Tell what was measured."""
        return ~np.isnan(self.values)

    @property
    def count(self) -> int:
        """Return the number of measurements."""
        return int(self.known.sum())

    def residuals(self, y: Array) -> Array:
        """Return (y - measured) / sigma of what was measured; y is n x times."""
        off = (y[list(self.columns)].T - self.values) / self.sigma
        return np.asarray(off[self.known])

    def slopes(self, S: Array) -> Array:
        """Return the derivatives of the residuals; S is (n, times, free)."""
        moved = S[list(self.columns)].transpose(1, 0, 2) / self.sigma[:, :, None]
        return np.asarray(moved[self.known])


def data_of(given: Any, names: Sequence[str], sigma: Any, t0: float) -> Data:
    """Return the measurements a user gives: times as index of a frame or under the name "t"."""
    columns = _columns(given)
    if "t" not in columns:
        raise InputError('The data have no times: give a frame with the times as index, or a column "t".')
    t = columns.pop("t")
    if not columns:
        raise InputError("The data have no column beside the times: there is nothing to fit.")
    columns = {as_state(name, names): values for name, values in columns.items()}
    for name in columns:
        if name not in names:
            raise nearest(name, names, "component of the model, as a column of the data,")
    if any(column.shape != t.shape for column in columns.values()):
        raise InputError(
            "Every column of the data needs a value for every time, nan where nothing was measured."
        )
    if not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        raise InputError("The times of the data must be finite and increase strictly.")
    if t[0] < t0:
        raise InputError(f"The data begin at t = {t[0]!r}, before the start at t = {t0!r}.")
    values = np.stack(list(columns.values()), axis=1)
    if np.isinf(values).any():
        raise InputError("The data contain infinite values; write nan where nothing was measured.")
    if np.isnan(values).all():
        raise InputError("The data contain no measurement at all: every value is nan.")
    places = tuple(list(names).index(name) for name in columns)
    return Data(t, tuple(columns), places, values, _sigma(sigma, tuple(columns), values.shape))


def _columns(given: Any) -> dict[str, Array]:
    if hasattr(given, "columns") and hasattr(given, "index"):
        found = {as_name(name): given[name].to_numpy() for name in given.columns}
        found = found if "t" in found else {"t": given.index.to_numpy()} | found
    elif isinstance(given, Mapping):
        found = {as_name(name): values for name, values in given.items()}
    else:
        raise InputError(
            f"The data must be a pandas frame or a mapping from names to values, not {type(given).__name__}."
        )
    if any(np.asarray(values).dtype.kind in "mM" for values in found.values()):
        raise InputError("The data have dates; times must be numbers in the unit of the model.")
    try:
        arrays = {name: np.array(values, dtype=float) for name, values in found.items()}
    except (TypeError, ValueError):
        raise InputError("The data must be numbers, nan where nothing was measured.") from None
    wrong = [name for name, values in arrays.items() if values.ndim != 1 or not values.size]
    if wrong:
        raise InputError(f"The data of {wrong[0]} must be a sequence of at least one number.")
    return arrays


def _sigma(sigma: Any, names: tuple[str, ...], shape: tuple[int, ...]) -> Array:
    """Return the standard deviation of every measurement: one for all, or by component."""
    if sigma is None:
        return np.ones(shape)
    by_name = sigma if isinstance(sigma, Mapping) else dict.fromkeys(names, sigma)
    by_name = {as_state(name, names): value for name, value in by_name.items()}
    for name in by_name:
        if name not in names:
            raise nearest(name, names, "measured component with a sigma")
    try:
        columns = [np.broadcast_to(np.array(by_name.get(n, 1.0), dtype=float), shape[0]) for n in names]
    except (TypeError, ValueError):
        raise InputError("sigma must be a number, or numbers by component, one for every time.") from None
    found = np.stack(columns, axis=1)
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise InputError("sigma must be positive and finite: it is the standard deviation of a measurement.")
    return found
