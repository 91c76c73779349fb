"""One run of Radau5: settings written into its state, then chunks of compiled steps.

With a look at the limits between them.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from baselines.adapter import Points, tolerances
from baselines.irk.projection import projection
from baselines.irk.radau5_layout import allocate
from baselines.irk.radau5_step import PROGRAM, accept, begin, try_step
from baselines.reached import JACOBIAN, MATRIX, RESIDUAL, forget, raised, reached
from herk.core import Reason, Settings
from herk.core.dae import Array
from herk.integrate.controller import shortest_first
from herk.integrate.loop import PROGRAM as LOOP
from herk.integrate.loop import advance
from herk.integrate.steppers.radau.layout import NO_CONVERGENCE, NONFINITE, OK, SINGULAR
from herk.integrate.steppers.radau.order import enter
from herk.integrate.steps import FINISHED, INFINITE, Loop
from herk.jit.native import passed

CHUNK = 256  # steps between two looks at the clock
MOST_ITERATIONS = 7
OPTIONS = {"first_step": None, "max_step": np.inf, "max_steps": 10_000_000}
COUNTERS = ("nfev", "ngev", "njev", "nlu", "nit", "nstep", "nreject")
ENDS = {
    OK: (Reason.STEP_UNDERFLOW, "the error estimate asks for steps below rounding"),
    NO_CONVERGENCE: (Reason.NEWTON, "Newton's method does not converge, however short the step"),
    SINGULAR: (Reason.SINGULAR, "the Newton matrix is singular"),
    NONFINITE: (Reason.NONFINITE, "the equations give values that are not finite"),
}


class Run:
    """Everything a run needs; `points` belong to the caller and survive whatever ends it."""

    def __init__(self, prepared: Any, settings: Settings, options: dict[str, Any], points: Points) -> None:
        """Bind the functions and write the settings into the state."""
        self.prepared, self.settings, self.options, self.points = prepared, settings, options, points
        self.deadline = np.inf if settings.time_limit is None else time.perf_counter() + settings.time_limit
        z0, slope = prepared.start
        parameters = prepared.functions.parameters
        self.direct, self.own = allocate(len(z0), len(parameters))
        self.own.parameters[:], self.own.y[:], self.own.slope[:] = parameters, z0, slope
        self.direct.index[:] = prepared.variable_index
        self._bind()
        self._set_tolerances()
        if prepared.top is not None:
            self.projection = projection(prepared.top, prepared.whole, *prepared.start, prepared.t_span[0])
            self.direct.projection = self.projection.address
        self.loop = self._loop()

    def _bind(self) -> None:
        residual, jacobian, E, matrix, _ = self.prepared.functions
        both = reached(residual, RESIDUAL), reached(jacobian, JACOBIAN)
        self.own.at_residual, self.own.at_jacobian = (each.entry for each in both)
        self.functions = [*both]  # kept alive: used by address
        if matrix is None:
            self.functions.append(reached(E, MATRIX))
            self.own.have_e, self.own.at_e = 1, self.functions[-1].entry
        else:
            self.own.e_here[:] = matrix.ravel()
        forget(self.functions, self.own.n)

    def _set_tolerances(self) -> None:
        own, rtol = self.own, self.settings.rtol
        own.rtol_asked, own.floor[:] = rtol, tolerances(self.prepared, self.settings.atol) / rtol
        PROGRAM[enter].call(3, own.address)
        own.most_iterations = MOST_ITERATIONS

    def _loop(self) -> Loop:
        """Return the state of the loop, which works on the states of this run."""
        (t0, t1), loop = self.prepared.t_span, Loop(atol=self.own.n)
        loop.n, loop.own = self.own.n, self.direct.address
        loop.bind("y", self.own.y)
        loop.begin, loop.try_step, loop.accept = (PROGRAM[each].address for each in (begin, try_step, accept))
        loop.t, loop.t_start, loop.t_end = t0, t0, t1
        loop.h_max = min(self.options["max_step"], INFINITE)
        loop.h = math.copysign(self.first_step(), t1 - t0)
        return loop

    def first_step(self) -> float:
        """Return the size of the first step.

        Unknowns change by a hundredth of their size, at most a thousandth of the span is made.
        """
        if self.options["first_step"] is not None:
            return float(self.options["first_step"])
        (t0, t1), (z, zp), own = self.prepared.t_span, self.prepared.start, self.own
        weights = (self.direct.index == 1) / (own.atol + own.rtol * np.abs(z))
        d0, d1 = (math.sqrt(x @ x / len(z)) for x in (z * weights, zp * weights))
        h = 0.01 * d0 / d1 if min(d0, d1) > 1e-5 else 1e-6 * abs(t1 - t0)
        h = max(h, shortest_first(t0, t1 - t0))
        return float(min(h, 1e-3 * abs(t1 - t0), self.options["max_step"]))

    def to_the_end(self) -> dict[str, int]:
        """Step through the span, or to where it cannot be helped; return what was counted."""
        direct, taken = self.direct, 0
        wanted = None if self.settings.t_eval is None else np.asarray(self.settings.t_eval, dtype=float)
        if wanted is not None:
            self._outputs(wanted)
        while self.points.reason is Reason.FINISHED and self.loop.t != self.loop.t_end:
            taken += self._chunk(min(CHUNK, self.options["max_steps"] - taken), taken)
        if wanted is not None:
            self.points.t += wanted[: direct.served].tolist()
            self.points.z += list(direct.values[: direct.served])
        counts = {name: getattr(self.own, name) for name in COUNTERS[:5]}
        if direct.projection:
            counts["ngev"] = self.projection.ngev
        return counts | {"nstep": taken, "nreject": self.loop.nreject}

    def _outputs(self, wanted: Array) -> None:
        values = np.empty((len(wanted), self.own.n))
        self.direct.wanted = 1
        self.direct.bind("times", wanted.copy())
        self.direct.bind("values", values)
        if len(wanted) and wanted[0] == self.prepared.t_span[0]:
            values[0] = self.own.y
            self.direct.served = 1

    def _chunk(self, size: int, before: int) -> int:
        """Make some steps, keep the points, look at the limits; return how many there were."""
        loop = self.loop
        t, y, slots = np.empty(size), np.empty((size, self.own.n)), np.empty(size, dtype=np.int64)
        end = LOOP[advance].call(loop.address, *passed((t, y.reshape(-1), slots)))
        error, count = raised(self.functions), loop.count
        if not self.direct.wanted:
            self.points.t += t[:count].tolist()
            self.points.z += list(y[:count])
        if error is not None:
            self.points.stop(Reason.EXCEPTION, f"{type(error).__name__}: {error}")
        elif end < 0:
            reason, words = ENDS[loop.cause]
            tried = f"last step tried {loop.h_tried:.3g}"
            self.points.stop(reason, f"The run stopped at t = {loop.t!r}: {words} ({tried}).")
        elif end != FINISHED and before + count >= self.options["max_steps"]:
            most = self.options["max_steps"]
            self.points.stop(Reason.MAX_STEPS, f"{most} steps were made; t = {loop.t!r} is reached.")
        elif end != FINISHED and time.perf_counter() > self.deadline:
            limit = f"The time limit of {self.settings.time_limit:g} s was reached at t = {loop.t!r}."
            self.points.stop(Reason.TIME_LIMIT, limit)
        return count
