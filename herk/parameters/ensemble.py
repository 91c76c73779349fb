"""What solve_many returns: values of all members over time, and how each of them ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from herk.core import InputError, Reason
from herk.core.dae import Array
from herk.core.names import as_name, place


@dataclass(frozen=True)
class Ensemble:
    """Members over time: `y` (member, component, time), nan where a member did not get to.

    ``found["x"]`` is a component (member, time). `reasons` and `messages` say how each member ended,
    `parameters` what was varied. A member that failed has the values it reached.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "growth", ["x' = k*x**2"], parameters={"k": 1.0}, start={"x": 1}, t_span=(0, 1)
    ... )
    >>> found = herk.solve_many(model, {"k": [0.5, 2.0]}, t_eval=[0.0, 1.0])  # a pole at t = 1/k
    >>> found.success, found.reasons[1]
    (array([ True, False]), <Reason.STEP_UNDERFLOW: 'step_underflow'>)

    """

    t: Array
    y: Array
    names: tuple[str, ...]
    parameters: Mapping[str, Array]
    reasons: tuple[Reason, ...]
    messages: tuple[str, ...]
    nstep: np.ndarray
    residual: Array
    seconds: float | None = field(default=None, compare=False)
    shape: tuple[int, ...] = ()  # of a grid

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.y)

    @property
    def success(self) -> np.ndarray:
        """Tell of every member whether it reached the end or a wanted stop."""
        return np.array([reason.status >= 0 for reason in self.reasons], dtype=bool)

    @property
    def mask(self) -> np.ndarray:
        """Tell where there is no value (member, component, time), as masked arrays do."""
        return np.isnan(self.y)

    @property
    def masked(self) -> Any:
        """Return y as a masked array."""
        return np.ma.masked_array(self.y, self.mask)

    def __getitem__(self, name: Any) -> Array:
        """Return a component of all members (member, time)."""
        return np.asarray(self.y[:, place(name, self.names, "component")])

    def to_pandas(self) -> Any:
        """Return a frame with a row for every member and time, a column for every component."""
        import pandas as pd

        index = pd.MultiIndex.from_product([range(len(self)), self.t], names=["member", "t"])
        flat = self.y.transpose(0, 2, 1).reshape(-1, len(self.names))
        return pd.DataFrame(flat, index=index, columns=list(self.names))

    def table(self) -> Any:
        """Return a frame with a row for every member: what was varied, and how it ended."""
        import pandas as pd

        columns: dict[str, Any] = dict(self.parameters)
        columns |= {"success": self.success, "reason": [reason.value for reason in self.reasons]}
        columns |= {"message": list(self.messages), "nstep": self.nstep, "residual": self.residual}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="member"))

    def to_xarray(self) -> Any:
        """Return a dataset with a variable for every component, dimensions member and t."""
        try:
            xr: Any = import_module("xarray")
        except ImportError:
            raise InputError("to_xarray needs the package xarray; to_pandas works without it.") from None
        found = {name: (("member", "t"), self[name]) for name in self.names}
        along = {name: ("member", values) for name, values in self.parameters.items()}
        return xr.Dataset(found, coords={"t": self.t, **along})

    def quantiles(self, name: str, q: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> Array:
        """Return quantiles of a component at every time (quantile, time), over members that got there."""
        values = self[name]
        if not all(0.0 <= each <= 1.0 for each in q):
            raise InputError(f"Quantiles are numbers from 0 to 1, not {q!r}.")
        found = np.full((len(q), len(self.t)), np.nan)
        there = ~np.isnan(values).all(axis=0)
        found[:, there] = np.nanquantile(values[:, there], q, axis=0)
        return found

    def plot(self, name: str, *, ax: Any = None) -> Any:
        """Draw a component of every member over time and return matplotlib's axes."""
        from herk.results import bands

        return bands.curves(self.t, self[name], as_name(name), ax)

    def fan(self, name: str, *, ax: Any = None) -> Any:
        """Draw the median of a component and the bands with half and nine tenths of the members."""
        from herk.results import bands

        return bands.fan(self.t, self.quantiles(name), as_name(name), ax)

    def __repr__(self) -> str:
        """Return how many members there are, and how they ended."""
        counted = {reason: self.reasons.count(reason) for reason in dict.fromkeys(self.reasons)}
        ended = ", ".join(f"{count} {reason.value}" for reason, count in counted.items())
        return (
            f"Ensemble of {len(self)} members ({ended}): {', '.join(self.names)} at {len(self.t)} times,"
            f" varied: {', '.join(self.parameters) or 'nothing'}"
        )
