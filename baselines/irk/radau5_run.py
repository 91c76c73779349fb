"""One run of Radau5: settings written into its memory.

Then chunks of compiled steps with a look at the limits between them.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from baselines.adapter import Points, tolerances
from baselines.irk import radau5_memory as at
from baselines.irk import radau5_step
from baselines.irk.projection import Projection, none, project_all, projection
from herk.core import Reason, Settings
from herk.core.dae import Array
from herk.jit.compiled import interpreted, is_compiled
from herk.jit.pointers import FUNCTION, address

CHUNK = 256  # attempts between two looks at the clock
OPTIONS = {
    "first_step": None,
    "max_step": np.inf,
    "max_steps": 10_000_000,
    "safety": 0.9,
    "keep_jacobian_below": 1e-3,
    "interpret": False,
}
EPS = 2.220446049250313e-16

ENDS = {
    at.UNDERFLOW: (Reason.STEP_UNDERFLOW, "the error estimate asks for steps below rounding"),
    at.NO_CONVERGENCE: (Reason.NEWTON, "Newton's method does not converge, however short the step"),
    at.SINGULAR_MATRIX: (Reason.SINGULAR, "the Newton matrix is singular"),
    at.NONFINITE: (Reason.NONFINITE, "the equations give values that are not finite"),
}


class Run:
    """Everything a run needs; `points` and `memory` belong to the caller and survive whatever ends it."""

    def __init__(
        self, prepared: Any, settings: Settings, options: dict[str, Any], memory: at.Memory, points: Points
    ) -> None:
        """Bind the functions and write the settings into the memory."""
        self.prepared, self.settings, self.options, self.m, self.points = (
            prepared,
            settings,
            options,
            memory,
            points,
        )
        self.deadline = np.inf if settings.time_limit is None else time.perf_counter() + settings.time_limit
        compiled = all(map(is_compiled, prepared.functions[:3])) and not options["interpret"]
        self.begin, self.advance = (
            f if compiled else interpreted(f) for f in (radau5_step.begin, radau5_step.advance)
        )
        self.project_all = project_all if compiled else interpreted(project_all)
        self._bind(compiled)
        memory.levels[:] = prepared.levels
        memory.y[:], memory.slope[:] = prepared.start
        self._set_tolerances()
        self.projection = self._projection(compiled)

    def _bind(self, compiled: bool) -> None:
        *functions, matrix = self.prepared.functions
        self.functions = [
            f if compiled or not is_compiled(f) else interpreted(f) for f in functions
        ]  # kept alive: used by address
        signatures = (at.RESIDUAL, at.JACOBIAN, FUNCTION)
        self.m.ints[at.AT_RESIDUAL : at.AT_E + 1] = [
            address(f, s) for f, s in zip(self.functions, signatures, strict=True)
        ]
        self.m.ints[at.E_CONSTANT] = matrix is not None
        self.m.mass_here[:] = 0.0 if matrix is None else matrix.ravel()

    def _set_tolerances(self) -> None:
        m, rtol = self.m, self.settings.rtol
        own = 0.1 * rtol ** (2 / 3)
        m.atol[:] = own / rtol * tolerances(self.prepared, self.settings.atol)
        m.run[at.RTOL] = own
        m.run[at.NEWTON_TOLERANCE] = max(10 * EPS / own, min(0.03, own**0.5))
        m.run[at.H_MAX] = self.options["max_step"]
        m.run[at.SAFETY], m.run[at.KEEP_BELOW] = self.options["safety"], self.options["keep_jacobian_below"]

    def _projection(self, compiled: bool) -> Projection:
        ready = self.prepared
        if ready.top is None:
            return none()
        self.m.ints[at.PROJECTED] = 1
        self.projecting = ready.projecting if compiled else tuple(map(interpreted, ready.projecting))
        return projection(ready.top, ready.whole, self.projecting, *ready.start, ready.t_span[0])

    def first_step(self) -> float:
        """Return the size of the first step.

        Unknowns change by a hundredth of their size, at most a thousandth of the span is made.
        """
        if self.options["first_step"] is not None:
            return float(self.options["first_step"])
        (t0, t1), (z, zp) = self.prepared.t_span, self.prepared.start
        weights = (self.m.levels == 1) / (self.m.atol + self.m.run[at.RTOL] * np.abs(z))
        d0, d1 = (math.sqrt(x @ x / len(z)) for x in (z * weights, zp * weights))
        h = 0.01 * d0 / d1 if min(d0, d1) > 1e-5 else 1e-6 * abs(t1 - t0)
        h = max(h, 1e3 * EPS * max(abs(t0), abs(t1)))
        return float(min(h, 1e-3 * abs(t1 - t0), self.options["max_step"]))

    def to_the_end(self) -> None:
        """Step through the span, or to where it cannot be helped."""
        (t0, t1), m = self.prepared.t_span, self.m
        wanted = None if self.settings.t_eval is None else np.asarray(self.settings.t_eval, dtype=float)
        self._outputs(wanted)
        m.run[at.T], m.run[at.H], m.run[at.T_END] = t0, math.copysign(self.first_step(), t1 - t0), t1
        self.begin(m)
        while self._chunk():
            pass
        if wanted is not None:
            done = int(m.ints[at.DONE])
            if m.ints[at.PROJECTED]:
                self.project_all(wanted[:done], self.y_out[:done], m.slope, self.projection, m.ints)
            self.points.t += wanted[:done].tolist()
            self.points.z += list(self.y_out[:done])

    def _outputs(self, wanted: Array | None) -> None:
        n = len(self.m.y)
        if wanted is None:
            self.t_out, self.y_out = np.empty(CHUNK), np.empty((CHUNK, n))
            return
        self.t_out, self.y_out = wanted.copy(), np.empty((len(wanted), n))
        self.m.ints[at.WANTED] = 1
        if len(wanted) and wanted[0] == self.prepared.t_span[0]:
            self.y_out[0] = self.m.y
            self.m.ints[at.DONE] = 1

    def _chunk(self) -> bool:
        """Make some steps, keep the points, look at the limits; return whether to go on."""
        m, most = self.m, self.options["max_steps"]
        tried = int(m.ints[at.NSTEP] + m.ints[at.NREJECT])
        end = self.advance(m, self.projection, min(CHUNK, most - tried), self.t_out, self.y_out)
        kept = int(m.ints[at.KEPT])
        self.points.t += self.t_out[:kept].tolist()
        self.points.z += list(self.y_out[:kept].copy())
        if end == at.FINISHED:
            return False
        t = float(m.run[at.T])
        if end != at.CHUNK_FULL:
            reason, words = ENDS[end]
            self.points.stop(
                reason, f"The run stopped at t = {t!r}: {words} (last step tried {m.run[at.H]:.3g})."
            )
        elif m.ints[at.NSTEP] + m.ints[at.NREJECT] >= most:
            self.points.stop(Reason.MAX_STEPS, f"{most} steps were tried; t = {t!r} is reached.")
        elif time.perf_counter() > self.deadline:
            self.points.stop(
                Reason.TIME_LIMIT,
                f"The time limit of {self.settings.time_limit:g} s was reached at t = {t!r}.",
            )
        return self.points.reason is Reason.FINISHED
