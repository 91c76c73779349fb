"""fit: parameters and start values from measurements, by least squares with exact derivatives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from herk.core import HerkError, InputError, Solution
from herk.core.dae import Array
from herk.parameters.data import Data, data_of
from herk.parameters.fitted import Fit, fitted
from herk.parameters.free import Free, free_of
from herk.parameters.trial import Trial, checked_options, model_of

DEFAULTS = {"rtol": 1e-8, "atol": 1e-10}  # data are seldom that exact, but differences of solutions count

WEAK = 1e-7  # beside the slopes: its square, the part of a misfit it is worth, is rounding


def fit(
    model: Any,
    data: Any,
    free: Any,
    *,
    sigma: Any = None,
    parameters: Mapping[str, float] | None = None,
    y0: Any = None,
    loss: str = "linear",
    max_nfev: int | None = None,
    **options: Any,
) -> Fit:
    """Find the values of parameters and start values with which a model comes nearest to measurements.

    Parameters
    ----------
    model : Model or Problem
        What is to be fitted.
    data : frame or mapping
        A pandas frame with the times as index and a column for each measured component, nan where nothing
        was measured; or a mapping with the times under "t".
    free : sequence or mapping
        What may change: names, or a mapping from names to a first value, (low, high) or (first, low, high).
        "y0:x" is the start value of x; start values that are not free move so that the start stays
        consistent.
    sigma : float or mapping, optional
        Standard deviation of the measurements, by component. Without it all weigh the same and their
        deviation is estimated from the misfit.
    parameters, y0 : optional
        Values that are not free and not those of the model.
    loss, max_nfev : optional
        As `scipy.optimize.least_squares` takes them.
    **options
        What `solve_dae` takes: method, rtol, atol, events and so on.

    Returns
    -------
    Fit
        Values, intervals, what the data do not determine. Values for which there is no solution cost a step
        of the search, not the fit. Ctrl-C raises KeyboardInterrupt; its attribute ``solution`` is the best
        fit so far.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "decay", ["x' = -k*x"], parameters={"k": 1.0}, start={"x": 1}, t_span=(0, 1)
    ... )
    >>> import numpy as np
    >>> t = np.linspace(0.1, 1.0, 10)
    >>> found = herk.fit(model, {"t": t, "x": np.exp(-2 * t)}, ["k"])
    >>> round(float(found["k"]), 5)
    2.0

    """
    model = model_of(model, "fit")
    checked_options(options, "fit", ("t_span", "dense_output"))
    model = model.with_parameters(**(parameters or {}))
    model = model if y0 is None else model.with_start(y0)
    chosen = free_of(model, free)
    measured = data_of(data, model.names, sigma, model.t_span[0])
    if measured.count < len(chosen.names):
        have, want = measured.count, len(chosen.names)
        raise InputError(f"{have} measurements cannot determine {want} values; free fewer.")
    end = measured.t[-1] if measured.t[-1] > model.t_span[0] else model.t_span[1]
    trial = Trial(model, (model.t_span[0], float(end)), measured.t, chosen.names, DEFAULTS | options)
    return _searched(Search(trial, chosen, measured), loss, max_nfev)


def _searched(search: Search, loss: str, max_nfev: int | None) -> Fit:
    """Let least_squares search from the first values; an interrupt carries the best so far."""
    from scipy.optimize import least_squares

    search.begin()
    free = search.free
    how = {"x_scale": free.sizes, "loss": loss, "max_nfev": max_nfev}
    try:
        found = least_squares(search.held, free.first, search.held_slopes, (free.low, free.high), **how)
    except KeyboardInterrupt as error:
        error.solution = search.result(False, "Interrupted; the best values so far.")  # type: ignore[attr-defined]
        raise
    except ValueError as error:  # of an unknown loss, say
        raise InputError(f"SciPy's least_squares refused this: {error}") from None
    return search.result(bool(found.status > 0), ENDED[found.status], found.x)


ENDED = {  # by the status of least_squares
    0: "The search was stopped after max_nfev trials.",
    1: "The misfit is smallest here: its slopes are zero.",
    2: "The misfit hardly changes any more.",
    3: "The values hardly change any more.",
    4: "Misfit and values hardly change any more.",
}


@dataclass
class Search:
    """The trials of a fit: the last one and the best one are kept."""

    trial: Trial
    free: Free
    data: Data
    seconds: float = field(default_factory=time.perf_counter)
    nfev: int = 0
    failed: int = 0
    last: tuple[Array, Solution] | None = None
    best: tuple[Array, Solution, float] | None = None
    why: str = ""
    weak: float = 0.0

    def begin(self) -> None:
        """Make the first trial, which must succeed."""
        if not np.isfinite(self.residuals(self.free.first)).all():
            raise InputError(f"There is no solution with the first values: {self.why} Begin elsewhere.")
        self.weak = WEAK * float(np.linalg.norm(self.slopes(self.free.first) * self.free.sizes))

    def residuals(self, values: Array) -> Array:
        """Return the residuals, infinite where there is no solution: the search then takes a shorter step."""
        sol = self._solved(values)
        if sol is None:
            return np.full(self.data.count, np.inf)
        off = self.data.residuals(sol.y)
        cost = float(off @ off)
        if self.best is None or cost < self.best[2]:
            self.best = values.copy(), sol, cost
        return off

    def held(self, values: Array) -> Array:
        """Return the residuals, and how far the values are from the first ones, hardly weighted.

        So combinations that the data do not determine stay, and do not lead the search astray.
        """
        return np.concatenate(
            [self.residuals(values), self.weak * (values - self.free.first) / self.free.sizes]
        )

    def held_slopes(self, values: Array) -> Array:
        """Return the derivatives of the same."""
        return np.vstack([self.slopes(values), np.diag(self.weak / self.free.sizes)])

    def slopes(self, values: Array) -> Array:
        """Return the derivatives of the residuals."""
        sol = self._solved(values)
        assert sol is not None  # residuals were finite there
        return self.data.slopes(np.stack([sol.dyd(name) for name in self.free.names], axis=2))

    def result(self, success: bool, message: str, values: Array | None = None) -> Fit:
        """Return the fit at these values, or at the best so far."""
        assert self.best is not None
        at = self.best[0] if values is None else values
        sol = self._solved(at)
        assert sol is not None
        words = f"{message} {self.failed} trials had no solution." if self.failed else message
        counts = {"nfev": self.nfev, "seconds": time.perf_counter() - self.seconds}
        found = fitted(self.free, self.data, at, sol, self.slopes(at), success, words, counts)
        return replace(found, conditional=partial(self.conditional, near=at))

    def conditional(self, place: int, value: float, near: Array) -> float:
        """Return the least sum of squares with one value held; inf where there is no solution."""
        from scipy.optimize import least_squares

        others = [i for i in range(len(near)) if i != place]

        def whole(part: Array) -> Array:
            return np.insert(np.asarray(part, dtype=float), place, value)

        off = self.residuals(whole(near[others]))
        if not others or not np.isfinite(off).all():
            return float(off @ off)
        found = least_squares(
            lambda part: self.held(whole(part)),
            near[others],
            lambda part: self.held_slopes(whole(part))[:, others],
            (self.free.low[others], self.free.high[others]),
            x_scale=self.free.sizes[others],
        )
        return 2.0 * float(found.cost)

    def _solved(self, values: Array) -> Solution | None:
        """Return the solution for these values, None if there is none to the end."""
        if self.last is not None and np.array_equal(self.last[0], values):
            return self.last[1]
        if self.best is not None and np.array_equal(self.best[0], values):
            return self.best[1]
        self.nfev += 1
        try:
            sol = self.trial.solve(self.free.parameters(values), self.free.starts(values))
        except InputError as error:
            if self.best is None and not _may_help(error):
                raise
            sol, self.why = None, str(error)
        except HerkError as error:
            sol, self.why = None, str(error)
        if sol is not None and (not sol.success or sol.t.size < self.data.t.size):
            self.why, sol = sol.message, None
        if sol is None:
            self.failed += 1
            return None
        self.last = values.copy(), sol
        return sol


def _may_help(error: InputError) -> bool:
    """Tell whether other values may help; a wrong option would stop every trial."""
    return any(word in str(error) for word in ("start", "y0", "singular", "rank", "not finite"))
