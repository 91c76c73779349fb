"""SciPy on the flow in plain numbers.

A second opinion on a Dae given by callables, which rivals cannot derive forms from.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.integrate

from herk.bench.recommend.flow import Flow
from herk.core import Problem, Reason, Settings, Solution
from herk.core.dae import Array


@dataclass(frozen=True)
class Underlying:
    """One method of solve_ivp on the underlying ordinary differential equation; its constraints drift."""

    name: str
    method: str
    order: int
    tags: frozenset[str]
    family: str = "scipy"
    forms: tuple[str, ...] = ("underlying",)
    adaptive: bool = True

    def available(self) -> tuple[bool, str]:
        """Tell that SciPy is always there."""
        return True, ""

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Take what no other rival takes."""
        return problem.model is None and form in self.forms, "the forms of a model are better than this one"

    def prepare(self, problem: Problem, form: str) -> Problem:  # noqa: ARG002
        """Return the problem as it is."""
        return problem

    def solve(self, prepared: Any, settings: Settings) -> Solution:
        """Solve with the output SciPy makes."""
        end = np.inf if settings.time_limit is None else time.perf_counter() + settings.time_limit
        flow = Flow(prepared.dae, prepared.t_span[0], np.array(prepared.y0))

        def rate(t: float, x: Array) -> Array:
            if time.perf_counter() > end:
                raise TimeoutError
            return flow.rate(t, x)

        atol = np.broadcast_to(settings.atol, flow.dae.n)[flow.bound]
        options = {
            "method": self.method,
            "rtol": max(settings.rtol, 2.3e-14),
            "atol": atol,
            "t_eval": settings.t_eval,
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = scipy.integrate.solve_ivp(rate, prepared.t_span, flow.start, **options)
        except TimeoutError:
            message = f"The time limit of {settings.time_limit:g} s was reached."
            return Solution(
                t=np.empty(0), y=np.empty((flow.dae.n, 0)), reason=Reason.TIME_LIMIT, message=message
            )
        reason = Reason.FINISHED if found.success else Reason.STEP_UNDERFLOW
        counts = {
            "nfev": int(found.nfev),
            "njev": int(found.njev),
            "nlu": int(found.nlu),
            "nstep": len(found.t) - 1,
        }
        y = np.array([flow.complete(t, x) for t, x in zip(found.t, found.y.T, strict=True)]).T
        return Solution(t=found.t, y=y, reason=reason, message=found.message, **counts)


SOLVERS = (
    Underlying("scipy_dop853_underlying", "DOP853", 8, frozenset({"explicit"})),
    Underlying("scipy_radau_underlying", "Radau", 5, frozenset({"implicit", "stiff"})),
)
