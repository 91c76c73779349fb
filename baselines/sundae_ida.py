"""IDA through scikit-sundae, whose wheels bring SUNDIALS along.

Tolerances: as in scikits_ida; this wrapper does not offer IDASetSuppressAlg, the large atol does the same.
Variants: compiled residual (ida_sundae), with exact Jacobian (ida_sundae_jac), plain Python
(ida_sundae_python).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines import ida
from baselines.adapter import Points, Rival, Watch, silence, tolerances
from baselines.prepared import Implicit, implicit
from herk.core import Problem, Settings
from herk.core.dae import Array


@dataclass(frozen=True)
class Sundae(Rival):
    """IDA with one choice of residual and Jacobian."""

    compiled: bool = True
    exact_jacobian: bool = False

    module, package = "sksundae.ida", "scikit-sundae"

    @property
    def version(self) -> str:
        """Return the versions of package and SUNDIALS."""
        if not self.available()[0]:
            return ""
        import sksundae

        return f"{super().version}, SUNDIALS {sksundae.SUNDIALS_VERSION}"

    def prepare(self, problem: Problem, form: str) -> Implicit:
        """Return the form, compiled."""
        return implicit(problem, form)

    def integrate(self, prepared: Implicit, settings: Settings, watch: Watch, points: Points) -> None:
        """Go through the span."""
        from sksundae.ida import IDA

        n, form = prepared.form.n, prepared.form
        counted = ida.Residual(
            prepared.residual if self.compiled else prepared.plain_residual, watch, prepared.t_span
        )
        call, z, zp = counted.call, np.empty(n), np.empty(n)

        def residual(t: float, y: Array, yp: Array, out: Array) -> None:
            z[:] = y  # IDA's own arrays are read-only, which compiled code does not take
            zp[:] = yp
            if call(t, z, zp, out) < 0:
                raise watch.error  # the wrapper knows no flags, but lets exceptions through

        options: dict[str, Any] = {"algebraic_idx": list(form.algebraic) or None}
        options |= {
            "rtol": settings.rtol,
            "atol": ida.atol(form, tolerances(prepared, settings.atol)),
            **self.options,
            **settings.options,
        }
        if self.exact_jacobian:
            derivative = watch.counted_jacobian(prepared.jacobian)
            options["jacfn"] = lambda t, y, yp, _, cj, out: derivative(
                t, y.copy(), yp.copy(), cj, out.reshape(-1)
            )
        with warnings.catch_warnings(), silence():
            warnings.simplefilter("ignore")
            solver = IDA(residual, **options)
            solver.init_step(prepared.t_span[0], *prepared.start)

            def step(t: float, one: bool) -> tuple[int, float, Array, str]:
                result = solver.step(t, method="onestep" if one else "normal", tstop=prepared.t_span[1])
                return result.status, result.t, result.y, result.message

            try:
                ida.run(step, prepared.t_span, prepared.start[0], settings, points)
            finally:
                points.nstep, points.nreject = counted.counts()


OPTIONS = {"linsolver": "dense", "max_num_steps": ida.MAX_STEPS}
SOLVERS = (
    Sundae("ida_sundae", "ida", ida.FORMS, 5, True, ida.TAGS, OPTIONS),
    Sundae("ida_sundae_jac", "ida", ida.FORMS, 5, True, ida.TAGS | {"referee"}, OPTIONS, exact_jacobian=True),
    Sundae(
        "ida_sundae_python", "ida", ida.FORMS, 5, True, ida.TAGS | {"interpreted"}, OPTIONS, compiled=False
    ),
)
