"""Runs of F(t, y, y') = 0: what the user asks about y is asked about w = (y, z), and answered about y."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Reason, Solution
from herk.core.dae import Array
from herk.integrate.checks import start_of
from herk.model.implicit import Implicit, occurs_later, written_out

LATE = (
    "At t = {t!r} F(t, y, y') depends on a derivative that did not occur in it near the start, so that the"
    " points from there on are no solution. Write it as a herk.Model, or give a span that ends before."
)


def extended(dae: Dae, span: tuple[float, float], y0: Any, yp0: Any, floor: Array) -> tuple[Dae, Any]:
    """Return system and start in w; any other Dae as it is."""
    if dae.F is None:
        if yp0 is not None:
            raise InputError("yp0 is for a herk.Dae given by F; here y' follows from E and f.")
        return dae, y0
    start = start_of(y0, dae)
    whole = written_out(dae, span, start, floor)
    return whole, whole.start(start, None if yp0 is None else start_of(yp0, dae))


def tolerances(dae: Dae, atol: Array) -> Array:
    """Return the absolute tolerances of w: those of y, and for parts of y' those of their components."""
    if not isinstance(dae, Implicit):
        return atol
    return np.concatenate([atol, [atol[column != 0].min() for column in dae.directions.T]])


def user_size(dae: Dae) -> int:
    """Return how many unknowns the user knows of."""
    return dae.known if isinstance(dae, Implicit) else dae.n


def asked_of(dae: Dae, functions: Sequence[Callable[[float, Array], Any]] | None) -> Any:
    """Return functions of y, events or a callback, as functions of w."""
    if not isinstance(dae, Implicit) or functions is None:
        return functions
    return tuple(OfKnown(each, dae.known) for each in functions)


class OfKnown:
    """A user's function of (t, y) that is shown w = (y, z)."""

    def __init__(self, function: Callable[[float, Array], Any], known: int) -> None:
        """Take over what an event may have beside its value."""
        self.function, self.known = function, known
        self.terminal, self.direction = getattr(function, "terminal", None), getattr(function, "direction", 0)
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.new = getattr(function, "reset", None)
        self.reset = None if self.new is None else self._reset

    def __call__(self, t: float, w: Array) -> Any:
        """Return what the function says of y."""
        return self.function(t, w[: self.known])

    def _reset(self, t: float, w: Array) -> Any:
        """Return the new y; z stays until it is made consistent."""
        assert self.new is not None
        y = np.asarray(self.new(t, w[: self.known]), dtype=float)
        return np.concatenate([y, w[self.known :]]) if y.shape == (self.known,) else y


def answered(dae: Dae, sol: Solution) -> Solution:
    """Return the solution in the unknowns of the user, with y' of every one."""
    if not isinstance(dae, Implicit):
        return sol
    n = dae.known
    late = occurs_later(dae, sol.t, sol.y) if sol.success else None
    if late is not None:
        message = LATE.format(t=late)
        sol = replace(sol, reason=Reason.SINGULAR, message=message)
    events = None if sol.y_events is None else [_first(rows, n) for rows in sol.y_events]
    dense = None if sol.sol is None else Known(sol.sol, n)
    slopes = None if sol.sol is None or sol.slopes is None else KnownSlopes(sol.sol, sol.slopes, n)
    found = replace(sol, y=sol.y[:n], y_events=events, sol=dense, slopes=slopes, names=sol.names[:n])
    at_events = sol.yp_events
    known = {"yp": None if sol.yp is None else sol.yp[:n]}
    known["yp_events"] = None if at_events is None else [_first(rows, n) for rows in at_events]  # type: ignore[assignment]
    found.__dict__.update(known)
    return found


def _first(rows: Array, n: int) -> Array:
    """Return the first components of states by rows; without a state there are no components."""
    return rows[:, :n] if rows.size else rows


@dataclass(eq=False)
class Known:
    """The first components of a dense output."""

    whole: Callable[[Any], Array]
    n: int

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        return self.whole(t)[: self.n]


@dataclass(eq=False)
class KnownSlopes:
    """y' at times of a dense output, which knows the parts of y' that F needs."""

    whole: Callable[[Any], Array]
    slopes: Callable[[Any, Array], Array]
    n: int

    def __call__(self, t: float | Array, y: Array) -> Array:  # noqa: ARG002
        """Return y' at one time (n) or several (n x times)."""
        return self.slopes(t, self.whole(t))[: self.n]
