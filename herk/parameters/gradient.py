"""Derivatives of a number that is computed from a solution, by forward mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from herk.core import InputError, Solution
from herk.core.dae import Array
from herk.core.names import START, among, as_name, as_varied, place
from herk.integrate.checks import span_of, times_of
from herk.integrate.sensitivity.directions import names_of
from herk.parameters.trial import Trial, checked_options, model_of

TINY = 1e-100  # a step into the complex plane, without cancellation
SMALL = 1e-6  # a step on the real line, relative
AGREE = 1e-3  # beyond which the complex step has met something that is no analytic function


@dataclass(frozen=True)
class Gradient:
    """A value, and its derivatives by name; `sol` is the solution it was computed from.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "line", ["x' = a"], parameters={"a": 3.0}, start={"x": 0}, t_span=(0, 2)
    ... )
    >>> found = herk.gradient(model, "x", ["a"])
    >>> round(found.value, 6), round(found["a"], 6)
    (6.0, 2.0)

    """

    value: float
    derivatives: Mapping[str, float]
    sol: Solution = field(repr=False)

    def __getitem__(self, name: Any) -> float:
        """Return one derivative."""
        return self.derivatives[among(name, self.derivatives, "derivative")]

    @property
    def array(self) -> Array:
        """Return the derivatives in the order in which they were asked for."""
        return np.array(list(self.derivatives.values()))


def gradient(
    system: Any,
    scalar: str | Callable[[Solution], Any],
    names: Sequence[str],
    *,
    parameters: Mapping[str, float] | None = None,
    y0: Any = None,
    t_span: tuple[float, float] | None = None,
    t_eval: Any = None,
    **options: Any,
) -> Gradient:
    """Return a number computed from a solution, and its derivatives with respect to parameters and starts.

    Parameters
    ----------
    system : Model or Problem
        What is solved.
    scalar : callable or str
        A function of the solution, such as ``lambda sol: (sol["x"] ** 2).mean()``, or the name of a
        component, whose last value is meant. It is differentiated by a complex step; where it is not
        analytic (abs, maximum), by a real one.
    names : sequence of str
        Parameters, and "y0:x" for the start value of x; what is not named follows, as in
        ``solve_dae(sensitivities=...)``.
    parameters, y0, t_span, t_eval, **options
        As `solve_dae` takes them.

    Returns
    -------
    Gradient
        The number and its derivatives by name.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model.from_equations(
    ...     "decay", ["x' = -k*x"], parameters={"k": 1.0}, start={"x": 1}, t_span=(0, 1)
    ... )
    >>> found = herk.gradient(model, "x", ["k"], rtol=1e-10)
    >>> round(float(found["k"]), 6)
    -0.367879

    """
    model = model_of(system, "gradient")
    checked_options(options, "gradient", ("dense_output",))
    model = model if y0 is None else model.with_start(y0)
    span = model.t_span if t_span is None else span_of(t_span)
    named = tuple(as_varied(name, model.names) for name in names_of(names))
    trial = Trial(model, span, times_of(t_eval, *span), named, options)
    starts = {
        name[len(START) :]: _start(model, name[len(START) :]) for name in named if name.startswith(START)
    }
    sol = trial.solve({as_name(name): value for name, value in (parameters or {}).items()}, starts)
    if not sol.success:
        raise InputError(f"There is no solution to differentiate. {sol.message}")
    function = _last(scalar) if isinstance(scalar, str) else scalar
    if not callable(function):
        raise InputError("scalar must be a function of the solution, or the name of a component.")
    value = _number(function(sol))
    return Gradient(value, {name: _slope(function, sol, sol.dyd(name), value) for name in named}, sol)


def _start(model: Any, name: str) -> float:
    value = model.y0[place(name, model.names, "unknown")]
    if value is None:
        raise InputError(f"The start value of {name} is computed, not given: nothing depends on it.")
    return float(value)


def _last(name: str) -> Callable[[Solution], Any]:
    return lambda sol: sol[name][-1]


def _number(value: Any) -> float:
    if np.ndim(value) or np.iscomplexobj(value) or not np.isfinite(value):
        raise InputError(f"scalar must return a finite number, not {value!r}.")
    return float(value)


def _slope(function: Callable[[Solution], Any], sol: Solution, S: Array, value: float) -> float:
    """Return the derivative in one direction."""
    size = max(float(np.abs(S).max()), 1e-300)
    h = SMALL * max(float(np.abs(sol.y).max()), 1.0) / size
    high, low = (_number(function(replace(sol, y=sol.y + sign * h * S))) for sign in (1.0, -1.0))
    real = (high - low) / (2 * h)
    try:
        moved = function(replace(sol, y=sol.y + 1j * (TINY / size) * S))
    except TypeError:  # of a function that takes no complex numbers
        return real
    exact = float(np.imag(moved)) / (TINY / size)
    noise = 1e-8 * max(abs(value), 1e-300) / h
    return exact if abs(exact - real) <= AGREE * abs(real) + noise else real
