"""y' along a solution: from E y' = f and dg/dy y' = -dg/dt, not by differentiating an interpolant."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.options import Request
from herk.integrate.steppers.radau import machine as radau
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.integrate.steppers.radau.ready import ready
from herk.model.evaluate import linearise


@dataclass(eq=False)
class Slopes:
    """Gives y' at points of a solution; all constraints determine it, so algebraic components have one too.

    It can be pickled if the DAE can; otherwise nothing is left of it.
    """

    request: Request
    parameters: Array | None = None  # values that took the place of those of the request
    made: radau.Machine | None = field(default=None, repr=False)

    def __call__(self, t: float | Array, y: Array) -> Array:
        """Return y' at one point (n) or several (n x points); not a number where it is not determined."""
        times, points = np.atleast_1d(np.array(t, dtype=float)), np.array(y, dtype=float)
        columns = points.reshape(len(points), -1)
        if self.request.switches is not None:
            modes = [self.request.switches.modes(*at) for at in zip(times.tolist(), columns.T, strict=True)]
            columns = np.vstack([columns, np.array(modes).reshape(times.size, -1).T])
        out = np.empty(columns.T.shape)
        if times.size:
            rows = np.ascontiguousarray(columns.T)
            self._machine(float(times[0]), rows[0]).slopes(times, rows, out)
        return out.T[: len(points)].reshape(points.shape)

    def _machine(self, t: float, y: Array) -> radau.Machine:
        """Return what evaluates y', made at the first point it is needed at: a start may be left open."""
        if self.made is None:
            asked = self.request
            dae = asked.dae if asked.switches is None else asked.switches.dae
            atol = np.concatenate([asked.atol, np.ones(dae.n - asked.dae.n)])
            asked = replace(asked, dae=dae, atol=atol, method=RadauMethod(), step=None, switches=None)
            self.made = ready(asked, y, linearise(dae, t, y))
            if self.parameters is not None and self.parameters.size == self.made.state.parameters.size:
                self.made.state.parameters[:] = self.parameters
        return self.made

    def __reduce__(self) -> Any:
        """Leave the machine out, and all else if the request cannot be pickled."""
        kept = replace(self.request, events=None, callback=None, t_eval=None, progress=None)
        try:
            pickle.dumps(kept)
        except Exception:  # noqa: BLE001 - a user's functions may refuse in any way
            return nothing, ()
        return Slopes, (kept, self.parameters)


def nothing() -> None:
    """Return what is left of y' where functions cannot be pickled."""
    return
