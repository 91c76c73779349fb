"""IDA through scikit-sundae, whose wheels bring SUNDIALS along.

Tolerances: as in scikits_ida; this wrapper does not offer IDASetSuppressAlg, the large atol does the same.
Variants: compiled residual (ida_sundae), with exact Jacobian (ida_sundae_jac), plain Python
(ida_sundae_python), and for large models residual and Jacobian on their pattern with SuperLU
(ida_sundae_sparse).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix

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
    sparse: bool = False

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
        if not self.sparse:
            return implicit(problem, form)
        own: Any = problem.form(form)
        made = Implicit.of(problem, own)
        OnPattern(own).warm(made)
        return made

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Ask for formulas where values on a pattern are wanted."""
        if self.sparse and problem.model is None:
            return False, f"problem {problem.name!r} is given by callables; {self.name} needs formulas"
        return super().supports(problem, form)

    def integrate(self, prepared: Implicit, settings: Settings, watch: Watch, points: Points) -> None:
        """Go through the span."""
        from sksundae.ida import IDA

        n, form = prepared.form.n, prepared.form
        pattern = OnPattern(form) if self.sparse else None
        function = (
            pattern.residual if pattern else prepared.residual if self.compiled else prepared.plain_residual
        )
        counted = ida.Residual(function, watch, prepared.t_span)
        call, z, zp = counted.call, np.empty(n), np.empty(n)

        def residual(t: float, y: Array, yp: Array, out: Array) -> None:
            z[:] = y  # IDA's own arrays are read-only, which compiled code does not take
            zp[:] = yp
            if call(t, z, zp, out) < 0:
                raise watch.error  # the wrapper knows no flags, but lets exceptions through

        atol = ida.atol(form, tolerances(prepared, settings.atol))
        options: dict[str, Any] = {"algebraic_idx": list(form.algebraic) or None}
        options |= {"rtol": settings.rtol, "atol": atol, **self.options, **settings.options}
        if pattern:
            slopes = watch.counted_jacobian(pattern.jacobian)
            options |= {
                "sparsity": pattern.sparsity,
                "jacfn": lambda t, y, yp, _, cj, out: slopes(t, y, yp, cj, out),
            }
        elif self.exact_jacobian:
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


class OnPattern:
    """F = E z' - f and its Jacobian cj E - f_z (+ (E z')_z) on a pattern, by columns as SuperLU wants it."""

    def __init__(self, form: Any) -> None:
        """Find where the entries stand."""
        values = form.generated.sparse
        self.functions, self.parameters = values.functions, form.generated.parameters
        self.patterns = {name: values.patterns[name] for name in ("E", "jac_f", "jac_Ey")}
        ones = sum(each.matrix(np.ones(each.nnz)) for each in self.patterns.values())
        self.sparsity = coo_matrix(ones).tocsc()  # its indices are of 32 bits, as the library takes them
        self.sparsity.sort_indices()
        rows, columns = self.sparsity.indices, np.repeat(np.arange(form.n), np.diff(self.sparsity.indptr))
        keys = columns * form.n + rows  # ascending, column by column
        self.places = {
            name: np.searchsorted(keys, each.indices * form.n + each.rows)
            for name, each in self.patterns.items()
        }
        self.constant = values.constant_E
        here = self._values("E", 0.0, np.zeros(form.n)) if self.constant else None
        self.E = here
        self.leading = None if here is None else self.patterns["E"].matrix(here)

    def warm(self, made: Implicit) -> None:
        """Call both once, so that they are compiled."""
        z, zp = made.start
        self.residual(made.t_span[0], z, zp, np.empty(len(z)))
        self.jacobian(made.t_span[0], z, zp, 1.0, np.empty(self.sparsity.nnz))

    def _values(self, name: str, t: float, *points: Array) -> Array:
        out = np.empty(self.patterns[name].nnz)
        self.functions[name](t, *points, self.parameters, out)
        return out

    def residual(self, t: float, z: Array, zp: Array, out: Array) -> None:
        """Write F."""
        right = np.empty(len(z))
        self.functions["f"](t, z, self.parameters, right)
        E = self.patterns["E"].matrix(self._values("E", t, z)) if self.leading is None else self.leading
        out[:] = E @ zp - right

    def jacobian(self, t: float, z: Array, zp: Array, cj: float, out: Array) -> None:
        """Write its Jacobian."""
        z, zp = z.copy(), zp.copy()  # IDA's own arrays are read-only
        out[:] = 0.0
        out[self.places["E"]] += cj * (self._values("E", t, z) if self.E is None else self.E)
        out[self.places["jac_f"]] -= self._values("jac_f", t, z)
        if not self.constant:
            out[self.places["jac_Ey"]] += self._values("jac_Ey", t, z, zp)


OPTIONS = {"linsolver": "dense", "max_num_steps": ida.MAX_STEPS}
SOLVERS = (
    Sundae("ida_sundae", "ida", ida.FORMS, 5, True, ida.TAGS, OPTIONS),
    Sundae("ida_sundae_jac", "ida", ida.FORMS, 5, True, ida.TAGS | {"referee"}, OPTIONS, exact_jacobian=True),
    Sundae(
        "ida_sundae_sparse",
        "ida",
        ida.FORMS,
        5,
        True,
        ida.TAGS | {"sparse"},
        {**OPTIONS, "linsolver": "sparse"},
        sparse=True,
    ),
    Sundae(
        "ida_sundae_python", "ida", ida.FORMS, 5, True, ida.TAGS | {"interpreted"}, OPTIONS, compiled=False
    ),
)
