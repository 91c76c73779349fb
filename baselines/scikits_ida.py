"""IDA through scikits.odes, or through scikits-odes-sundials, where it lives since version 3.

SUNDIALS as installed on the machine.

Tolerances: the weighted RMS of the local error, weights 1/(rtol |z| + atol), is kept below 1 in each step. In
forms of index 2 and 3 unknowns of index above one are left out of that test (IDASetSuppressAlg, as IDA's
manual asks for, and a large atol, without which Newton's iteration fails at tight tolerances); in index 1 all
are in. Variants: compiled residual with IDA's difference quotients (ida_scikits), with exact Jacobian
(ida_scikits_jac), and the same formulas in plain Python (ida_scikits_python), which is what most users have.
"""

from __future__ import annotations

import ctypes
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import Any

import numpy as np

from baselines import ida
from baselines.adapter import Points, Rival, Watch, note, silence, tolerances
from baselines.prepared import Implicit, implicit
from herk.core import Problem, Settings
from herk.core.dae import Array

PATHS = ("scikits_odes_sundials.ida", "scikits.odes.sundials.ida")
INSTALL = (
    "apt-get install gfortran libsundials-dev && pip install 'herk[scikits]' (SUNDIALS 6; with SUNDIALS 7:"
    " pip install scikits-odes)"
)


@cache
def library() -> Any:
    """Return the module that offers IDA, by either path."""
    for path in PATHS:
        try:
            return import_module(path)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError("neither scikits_odes_sundials nor scikits.odes is installed")


@cache
def sundials() -> str:
    """Return the version of the SUNDIALS library in use, as it reports itself."""
    text = ctypes.create_string_buffer(64)
    return (
        text.value.decode()
        if ctypes.CDLL(library().__file__).SUNDIALSGetVersion(text, 64) == 0
        else "unknown"
    )


@dataclass(frozen=True)
class Scikits(Rival):
    """IDA with one choice of residual and Jacobian."""

    compiled: bool = True
    exact_jacobian: bool = False

    def available(self) -> tuple[bool, str]:
        """Tell whether one of the two packages can be imported."""
        try:
            library()
        except ImportError as error:
            return False, f"{error}; {INSTALL}"
        return True, ""

    @property
    def version(self) -> str:
        """Return the versions of package and SUNDIALS."""
        if not self.available()[0]:
            return ""
        package = "scikits-odes-sundials" if library().__name__ == PATHS[0] else "scikits.odes"
        return f"{package} {metadata.version(package)}, SUNDIALS {sundials()}"

    def prepare(self, problem: Problem, form: str) -> Implicit:
        """Return the form, compiled."""
        return implicit(problem, form)

    def integrate(self, prepared: Implicit, settings: Settings, watch: Watch, points: Points) -> None:
        """Go through the span."""
        form, own = prepared.form, settings.t_eval is None
        residual = ida.Residual(
            prepared.residual if self.compiled else prepared.plain_residual, watch, prepared.t_span
        )
        options: dict[str, Any] = {
            "rtol": settings.rtol, "atol": ida.atol(form, tolerances(prepared, settings.atol)),
            "algebraic_vars_idx": list(form.algebraic) or None, "exclude_algvar_from_error": form.index > 1,
            "one_step_compute": own, "old_api": False, **self.options, **settings.options,
        }  # fmt: skip
        if self.exact_jacobian:
            inner = watch.counted_jacobian(prepared.jacobian)
            options["jacfn"] = lambda t, z, zp, _, cj, out: inner(t, z, zp, cj, out.reshape(-1)) or 0
        with warnings.catch_warnings(), silence():
            warnings.simplefilter("ignore")
            solver = library().IDA(residual.call, **options)
            solver.init_step(prepared.t_span[0], *(np.array(v) for v in prepared.start))

            def step(t: float, one: bool) -> tuple[int, float, Array, str]:
                if one is not own:
                    solver.set_options(
                        one_step_compute=one
                    )  # at the end of the span; tstop is no help, it is rounded to single precision
                result = solver.step(t)
                at = result.values if result.flag >= 0 else result.errors
                return result.flag, at.t, at.y.copy(), result.message

            ida.run(step, prepared.t_span, prepared.start[0], settings, points)
        points.nstep, points.nreject = residual.counts()
        if watch.error is not None:
            note(points, watch.error)


OPTIONS = {"linsolver": "dense", "max_steps": ida.MAX_STEPS}
SOLVERS = (
    Scikits("ida_scikits", "ida", ida.FORMS, 5, True, ida.TAGS, OPTIONS),
    Scikits("ida_scikits_jac", "ida", ida.FORMS, 5, True, ida.TAGS, OPTIONS, exact_jacobian=True),
    Scikits(
        "ida_scikits_python", "ida", ida.FORMS, 5, True, ida.TAGS | {"interpreted"}, OPTIONS, compiled=False
    ),
)
