"""SciPy's solve_ivp methods on ODEs.

`ode` (index 1 with multipliers eliminated by formulas) and `baumgarte` (in numbers).

Tolerances: the RMS over components of error/(atol + rtol |y|) is kept below 1 in each step, for every unknown
of the ODE; LSODA uses the same weights in its own norm. Multipliers are no unknowns here and therefore not
controlled. Radau, BDF and LSODA get the exact Jacobian, compiled. Output times are served by each method's
own interpolant. The methods are driven step by step through SciPy's own classes, which is what solve_ivp
does, so that steps are counted and an interrupted run keeps its points.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import scipy.integrate

from baselines import stepping
from baselines.adapter import Points, Rival, Watch, silence, tolerances
from baselines.prepared import Explicit, explicit
from herk.core import Problem, Settings


@dataclass(frozen=True)
class SciPy(Rival):
    """One class of scipy.integrate."""

    method: str = ""

    module, package = "scipy.integrate", "scipy"

    def prepare(self, problem: Problem, form: str) -> Explicit:
        """Return the ODE, compiled."""
        return explicit(problem, form)

    def integrate(self, prepared: Explicit, settings: Settings, watch: Watch, points: Points) -> None:
        """Step through the span."""
        options: dict[str, Any] = {**self.options, **settings.options}
        if "implicit" in self.tags:
            options.setdefault("jac", watch.counted_jacobian(prepared.rate_jacobian))
        (t0, t1), atol = prepared.t_span, tolerances(prepared, settings.atol)
        make = getattr(scipy.integrate, self.method)
        with warnings.catch_warnings(), silence():  # LSODA prints and warns where others return a message
            warnings.simplefilter("ignore")
            solver = make(
                watch.counted(prepared.rate),
                t0,
                prepared.start[0],
                t1,
                rtol=settings.rtol,
                atol=atol,
                **options,
            )
            stepping.run(solver, settings, watch, points)
        points.nlu = int(getattr(solver, "nlu", 0))


def _solver(method: str, order: int, *tags: str) -> SciPy:
    return SciPy(
        f"scipy_{method.lower()}", "scipy", ("ode", "baumgarte"), order, True, frozenset(tags), method=method
    )


SOLVERS = (
    _solver("Radau", 5, "implicit", "stiff", "referee"),
    _solver("BDF", 5, "implicit", "stiff", "multistep"),
    _solver("LSODA", 12, "implicit", "stiff", "multistep", "referee"),
    _solver("DOP853", 8, "explicit"),
    _solver("RK45", 5, "explicit"),
)
