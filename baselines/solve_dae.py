"""SolveDAE (Radau IIA of order 5, BDF) on F(t, z, z') = 0, driven step by step through its own classes.

Tolerances: the RMS of error/(atol + rtol |z|) is kept below 1 in each step. The library does not scale the
error of unknowns of higher index yet (its argument var_index is refused), so their atol is set to infinity
here: they follow from the others. Jacobians are exact and compiled; output times are served by the
collocation polynomial or the BDF interpolant.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines import stepping
from baselines.adapter import Points, Rival, Watch, tolerances
from baselines.prepared import Implicit, implicit
from herk.core import Problem, Settings
from herk.core.dae import Array

FORMS = ("index1", "ggl", "index2", "index3")


@dataclass(frozen=True)
class SolveDae(Rival):
    """One class of solve_dae.integrate."""

    method: str = ""

    module, package = "solve_dae.integrate", "solve_dae"

    def prepare(self, problem: Problem, form: str) -> Implicit:
        """Return the form, compiled."""
        return implicit(problem, form)

    def integrate(self, prepared: Implicit, settings: Settings, watch: Watch, points: Points) -> None:
        """Step through the span."""
        import solve_dae.integrate as library

        form, residual, jacobian = prepared.form, prepared.residual, prepared.jacobian

        def function(t: float, z: Array, zp: Array) -> Array:
            out = np.empty(form.n)
            residual(float(t), np.ascontiguousarray(z), np.ascontiguousarray(zp), out)
            return out

        def jacobians(t: float, z: Array, zp: Array) -> tuple[Array, Array]:
            inner, outer = np.empty((form.n, form.n)), np.empty((form.n, form.n))
            z, zp = np.ascontiguousarray(z), np.ascontiguousarray(zp)
            jacobian(float(t), z, zp, 0.0, inner.reshape(-1))
            jacobian(float(t), z, zp, 1.0, outer.reshape(-1))
            return inner, outer - inner

        options: dict[str, Any] = {
            "jac": watch.counted_jacobian(jacobians),
            **self.options,
            **settings.options,
        }
        atol = np.where(np.array(form.variable_index) > 1, 1e8, tolerances(prepared, settings.atol))
        (t0, t1), (z, zp) = prepared.t_span, prepared.start
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make = getattr(library, self.method)
            solver = make(watch.counted(function), t0, z, zp, t1, rtol=settings.rtol, atol=atol, **options)
            stepping.run(solver, settings, watch, points)
        points.nlu = int(solver.nlu)


SOLVERS = (
    SolveDae(
        "solve_dae_radau",
        "solve_dae",
        FORMS,
        5,
        True,
        frozenset({"implicit", "stiff", "referee"}),
        method="RadauDAE",
    ),
    SolveDae(
        "solve_dae_bdf",
        "solve_dae",
        FORMS,
        5,
        True,
        frozenset({"implicit", "stiff", "multistep"}),
        method="BDFDAE",
    ),
)
