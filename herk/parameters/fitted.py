"""What a fit found: values, how certain they are, and which combinations the data do not determine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import InputError, Solution
from herk.core.dae import Array
from herk.core.names import among, place
from herk.parameters.data import Data
from herk.parameters.free import Free
from herk.results import tables

UNDETERMINED = 1e-8  # singular value beside the largest one, of slopes in units of the values
PART = 0.1  # of a combination, below which a name is not mentioned


@dataclass(frozen=True)
class Fit:
    """Values by name (``fit["l"]``), their covariance, the solution at the times of the data.

    `sigma` is the standard deviation of the residuals, 1 if the deviations given were right; `notes` say what
    the data do not determine.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "line", ["x' = a"], parameters={"a": 1.0}, start={"x": 0}, t_span=(0, 2)
    ... )
    >>> found = herk.fit(model, {"t": [1.0, 2.0], "x": [2.1, 3.9]}, ["a"])
    >>> round(found["a"], 4), [round(bound, 2) for bound in found.interval("a")]
    (1.98, [1.22, 2.74])

    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    sigma: float
    residuals: Array
    sol: Solution
    data: Data
    success: bool
    message: str
    notes: tuple[str, ...] = ()
    singular_values: Array = field(default_factory=lambda: np.zeros(0))
    at_bounds: tuple[str, ...] = ()
    nfev: int = 0
    seconds: float = field(default=0.0, compare=False)
    conditional: Callable[[int, float], float] | None = field(default=None, compare=False, repr=False)

    def __getitem__(self, name: str) -> float:
        """Return the value found for a name."""
        return float(self.values[self._place(name)])

    @property
    def errors(self) -> dict[str, float]:
        """Return the standard errors by name, inf for what the data do not determine."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> Array:
        """Return the correlations of the values."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.covariance / np.outer(size, size))

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of a value, from the linearised model and Student's distribution."""
        from scipy.stats import t

        if not 0.0 < level < 1.0:
            raise InputError(f"level must be between 0 and 1, not {level!r}.")
        more = max(self.residuals.size - len(self.names), 1)
        half = float(t.ppf(0.5 + 0.5 * level, more)) * self.errors[self.names[self._place(name)]]
        return self[name] - half, self[name] + half

    def profile(self, name: str, points: int = 9, width: float = 3.0) -> Array:
        """Return values of a name, and the misfit that is left when all others are fitted to them, by rows.

        The values reach `width` standard errors to both sides. Where intervals are right the squared misfit
        is a parabola; where it does not grow, the data do not determine the value.
        """
        at = self._place(name)
        size = self.errors[self.names[at]]
        if not np.isfinite(size) or self.conditional is None:
            raise InputError(f"{name} is not identifiable from these data, so it has no profile.")
        values = self[name] + size * np.linspace(-width, width, points)
        more = max(self.residuals.size - len(self.names), 1)
        left = [self.conditional(at, float(value)) for value in values]
        return np.array([values, np.sqrt(np.array(left) / more)])

    def _place(self, name: str) -> int:
        return self.names.index(among(name, self.names, "fitted value"))

    def to_pandas(self) -> Any:
        """Return a frame with a row for every value: estimate, standard error, 95 % interval."""
        import pandas as pd

        rows = [(self[name], self.errors[name], *self.interval(name)) for name in self.names]
        return pd.DataFrame(rows, index=list(self.names), columns=["value", "error", "low", "high"])

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw data and fit over time and return matplotlib's axes."""
        from herk.results import bands

        chosen = names or self.data.names
        places = [place(name, self.data.names, "measured component") for name in chosen]
        pairs = {self.data.names[j]: (self.data.values[:, j], self.sol[self.data.names[j]]) for j in places}
        return bands.data_and_fit(self.data.t, pairs, ax)

    def __repr__(self) -> str:
        """Return values with errors, and how the search ended."""
        rows = {name: f"{self[name]:.6g} +- {self.errors[name]:.2g}" for name in self.names}
        rows["misfit"] = f"{self.sigma:.3g} (standard deviation of {self.residuals.size} residuals)"
        rows["ended"] = self.message
        if self.notes:
            rows["notes"] = " ".join(self.notes)
        return tables.as_text(rows)


def fitted(
    free: Free,
    data: Data,
    values: Array,
    sol: Solution,
    slopes: Array,
    success: bool,
    message: str,
    counts: Mapping[str, Any],
) -> Fit:
    """Return the fit at these values, with its covariance from the slopes of the residuals."""
    residuals = data.residuals(sol.y)
    more = residuals.size - len(values)
    sigma = float(np.sqrt(residuals @ residuals / more)) if more > 0 else 1.0
    units = np.where(values != 0.0, np.abs(values), free.sizes)
    _, singular, right = np.linalg.svd(slopes * units, full_matrices=False)
    weak = singular <= UNDETERMINED * max(singular.max(initial=0.0), 1e-300)
    strong = right[~weak] / singular[~weak, None]
    covariance = sigma**2 * (strong.T @ strong) * np.outer(units, units)
    lost = (np.abs(right[weak]) > PART).any(axis=0)
    covariance[lost, lost] = np.inf
    notes = tuple(_words(free.names, row) for row in right[weak])
    edge = (values <= free.low) | (values >= free.high)
    at = tuple(name for name, held in zip(free.names, edge, strict=True) if held)
    if at:
        notes += (f"{', '.join(at)} ended at a bound: intervals there are those without the bound.",)
    kept: dict[str, Any] = {"notes": notes, "singular_values": singular, "at_bounds": at}
    return Fit(
        free.names, values, covariance, sigma, residuals, sol, data, success, message, **kept, **counts
    )


def _words(names: tuple[str, ...], row: Array) -> str:
    """Say which values the data do not determine."""
    parts = [name for name, part in zip(names, row, strict=True) if abs(part) > PART]
    if len(parts) == 1:
        return f"The data do not depend on {parts[0]}: it is not identifiable."
    return f"The data determine {', '.join(parts)} only together: they are not identifiable one by one."
