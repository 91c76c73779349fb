"""Dense output: a callable over the accepted points of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from herk.core import HerkError, InputError
from herk.core.dae import Array
from herk.integrate.callables import raised_again
from herk.integrate.steppers.protocol import Stepper
from herk.integrate.steps import OK
from herk.model.evaluate import CallableError


def rows(machine: Stepper, t: Array, y: Array, slots: np.ndarray, times: Array) -> Array:
    """Return the state at each of the times, one row each, between the points y (by rows) at t.

    Slots name the selection of each step.

    It works on a copy of the memory: the run may go on meanwhile, and so may other threads.
    """
    out = np.empty((times.size, machine.dae.n))
    if t.size == 1:
        out[:] = y[0]
        return out
    with np.errstate(all="ignore"):
        status = machine.between(t, y, slots, np.ascontiguousarray(times), out)
    if status != OK:
        raise _why(machine)
    return out


def times_in(t: Any) -> Array:
    """Return what dense output is asked for as an array of numbers."""
    try:
        return np.array(t, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f'Dense output takes a time or a vector of times, not {t!r}; a component by name is sol["x"].'
        ) from None


def _why(machine: Stepper) -> BaseException:
    """Return why there is no value: a function of the user raised, or what is to be solved was not."""
    functions = machine.functions
    error, places = (functions.error, functions.places) if functions.given else (None, [])
    if error is None:
        what = "The constraints" if machine.dae.m else "The equations"
        return HerkError(f"{what} could not be solved between two accepted points; use smaller tolerances.")
    functions.forget()
    if isinstance(error, (CallableError, KeyboardInterrupt)):
        return error
    return raised_again(machine, places) or CallableError(
        f"A callable raised {type(error).__name__}: {error}."
    )


def checked(points: Array, t: float | Array) -> Array:
    """Return the time or times asked for as an array, if they lie between the accepted points."""
    times = times_in(t)
    low, high = min(points[0], points[-1]), max(points[0], points[-1])
    if times.ndim > 1 or not ((times >= low) & (times <= high)).all():
        raise InputError(
            f"Dense output is known from {low} to {high}; ask for a time or a vector of times in between."
        )
    return times


@dataclass(eq=False)
class DenseOutput:
    """Evaluates between accepted points.

    Order of the tableau's dense output, and on the constraints like the points themselves.

    It can be pickled and copied if the DAE can; the machine is then made again when it is first needed.
    """

    recipe: Any
    t: Array
    y: Array
    slots: np.ndarray

    @classmethod
    def over(cls, recipe: Any, machine: Stepper, t: Array, y: Array, slots: np.ndarray) -> DenseOutput:
        """Return the dense output over points y (by rows), with the machine at hand."""
        dense = cls(recipe, t, y, slots)
        dense.machine = machine
        return dense

    @cached_property
    def machine(self) -> Stepper:
        """Return the machine that repeats the steps."""
        return self.recipe.machine(self.y[0])  # type: ignore[no-any-return]

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        times = checked(self.t, t)
        out = rows(self.machine, self.t, self.y, self.slots, times.reshape(-1))
        return out[0] if times.ndim == 0 else out.T

    def __getstate__(self) -> dict[str, Any]:
        """Leave the machine out: it holds compiled code."""
        return {name: value for name, value in self.__dict__.items() if name != "machine"}
