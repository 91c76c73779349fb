"""SUNDIALS through its official bindings: IDAS on implicit forms, and CVODE with its projection function.

IDAS: options as in scikits_ida, with the exact Jacobian. CVODE: BDF on the underlying ODE with the exact
Jacobian, and after every step the state is moved to the nearest point on all constraints that hold for it
(CVodeSetProjFn), so that it does not drift either; the estimated error is projected as well. The projection
is compiled, as the constraints are. Tolerances: the weighted
RMS of the local error, weights 1/(rtol |z| + atol), is kept below 1 in each step. Needs Python 3.12.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from baselines import ida
from baselines.adapter import Points, Rival, Watch, note, silence, tolerances
from baselines.prepared import Explicit, Implicit, explicit, implicit
from baselines.projecting import Projection, projection
from herk.core import Problem, Settings
from herk.core.dae import Array

NEWEST = (3, 12)


@dataclass(frozen=True)
class Sundials(Rival):
    """What both share: the package and how it is found."""

    module, package, install = "sundials4py", "sundials4py", "pip install 'herk[sundials]'"

    def available(self) -> tuple[bool, str]:
        """Tell whether the package is there; it exists for newer Pythons only."""
        if sys.version_info < NEWEST:
            return (
                False,
                "sundials4py needs Python 3.12 or newer; install one, then pip install 'herk[sundials]'",
            )
        return super().available()


class Memory:
    """Vectors, matrix and linear solver of one run, kept alive together."""

    def __init__(self, n: int) -> None:
        """Make a context."""
        from sundials4py import core

        self.core, self.n = core, n
        _, self.context = core.SUNContext_Create(core.SUN_COMM_NULL)
        core.SUNContext_ClearErrHandlers(self.context)
        self.kept: list[Any] = []

    def vector(self, values: Array) -> Any:
        """Return a vector with these values."""
        made = self.core.N_VNew_Serial(self.n, self.context)
        self.core.N_VGetArrayPointer(made)[:] = values
        self.kept.append(made)
        return made

    def dense(self, vector: Any) -> tuple[Any, Any]:
        """Return a dense matrix and the solver for it."""
        matrix = self.core.SUNDenseMatrix(self.n, self.n, self.context)
        solver = self.core.SUNLinSol_Dense(vector, matrix, self.context)
        self.kept += [matrix, solver]
        return matrix, solver


@dataclass(frozen=True)
class Idas(Sundials):
    """IDAS with the exact Jacobian."""

    def prepare(self, problem: Problem, form: str) -> Implicit:
        """Return the form, compiled; the library is loaded before anything is timed."""
        self.available()
        return implicit(problem, form)

    def integrate(self, prepared: Implicit, settings: Settings, watch: Watch, points: Points) -> None:
        """Go through the span."""
        from sundials4py import idas

        form, memory = prepared.form, Memory(prepared.form.n)
        array = memory.core.N_VGetArrayPointer
        counted = ida.Residual(prepared.residual, watch, prepared.t_span)
        derivative, work = watch.counted_jacobian(prepared.jacobian), np.empty((form.n, form.n))

        def residual(t: float, z: Any, zp: Any, out: Any, _: Any) -> int:
            return counted.call(t, array(z), array(zp), array(out))

        def jacobian(t: float, cj: float, z: Any, zp: Any, _r: Any, out: Any, *_: Any) -> int:
            derivative(t, array(z), array(zp), cj, work.reshape(-1))
            memory.core.SUNDenseMatrix_Data(out)[:] = work
            return 0

        z, zp = (memory.vector(values) for values in prepared.start)
        solver = idas.IDACreate(memory.context)
        own = solver.get()
        with silence():
            idas.IDAInit(own, residual, prepared.t_span[0], z, zp)
            atol = memory.vector(ida.atol(form, tolerances(prepared, settings.atol)))
            idas.IDASVtolerances(own, settings.rtol, atol)
            matrix, linear = memory.dense(z)
            idas.IDASetLinearSolver(own, linear, matrix)
            idas.IDASetJacFn(own, jacobian)
            idas.IDASetMaxNumSteps(own, ida.MAX_STEPS)
            idas.IDASetStopTime(own, prepared.t_span[1])
            if form.index > 1:
                kinds = np.ones(form.n)
                kinds[list(form.algebraic)] = 0.0
                idas.IDASetId(own, memory.vector(kinds))
                idas.IDASetSuppressAlg(own, 1)

            def step(t: float, one: bool) -> tuple[int, float, Array, str]:
                flag, here = idas.IDASolve(own, t, z, zp, idas.IDA_ONE_STEP if one else idas.IDA_NORMAL)
                return flag, here, array(z).copy(), "see the manual of SUNDIALS for its flags"

            try:
                ida.run(step, prepared.t_span, prepared.start[0], settings, points)
            finally:
                points.nstep, points.nreject = counted.counts()
        if watch.error is not None:
            note(points, watch.error)


@dataclass(frozen=True, eq=False)
class Held(Explicit):
    """The underlying ODE with the constraints that its unknowns keep."""

    @cached_property
    def constraints(self) -> tuple[Any, list[int], list[int]]:
        """Return the overdetermined form, its rows without eliminated unknowns, the unknowns left."""
        whole = self.form._sibling("overdetermined")
        kept = list(self.to_model_states.kept)
        gone = [j for j in range(whole.n) if j not in kept]
        pattern = np.asarray(whole.generated.structure).reshape(whole.m, whole.n)
        return whole, [i for i in range(whole.m) if not pattern[i, gone].any()], kept

    @cached_property
    def projection(self) -> Projection:
        """Return the way to the constraints, compiled."""
        return projection(*self.constraints)


def projecting(towards: Projection, array: Callable[[Any], Array], n: int) -> Callable[..., int]:
    """Return what CVODE calls after a step: the correction, and the error along the constraints."""
    nothing = np.zeros(n)

    def project(t: float, z: Any, correction: Any, _eps: float, error: Any, *_: Any) -> int:
        estimate = nothing if error is None else array(error)
        return 0 if towards(t, array(z), array(correction), estimate) else 1

    return project


@dataclass(frozen=True)
class Cvode(Sundials):
    """CVODE on the underlying ODE, each step projected on the constraints."""

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Refuse problems without formulas and without constraints."""
        if problem.model is None:
            given = f"problem {problem.name!r} is given by callables"
            return False, f"{given}; {self.name} needs a model to derive the ODE from"
        return super().supports(problem, form)

    def prepare(self, problem: Problem, form: str) -> Held:
        """Return the ODE, compiled."""
        made = Held.from_other(explicit(problem, form))
        _ = made.projection, self.available()  # compiled, and the library loaded, before anything is timed
        return made

    def integrate(self, prepared: Held, settings: Settings, watch: Watch, points: Points) -> None:
        """Go through the span."""
        from sundials4py import cvodes

        n = len(prepared.start[0])
        memory = Memory(n)
        array = memory.core.N_VGetArrayPointer
        counted = ida.Residual(_in_place(prepared.rate), watch, prepared.t_span)
        derivative = watch.counted_jacobian(prepared.rate_jacobian)

        def right(t: float, z: Any, out: Any, _: Any) -> int:
            return counted.call(t, array(z), array(z), array(out))

        def jacobian(t: float, z: Any, _f: Any, out: Any, *_: Any) -> int:
            memory.core.SUNDenseMatrix_Data(out)[:] = derivative(t, array(z))
            return 0

        z = memory.vector(prepared.start[0])
        solver = cvodes.CVodeCreate(cvodes.CV_BDF, memory.context)
        own = solver.get()
        with silence():
            cvodes.CVodeInit(own, right, prepared.t_span[0], z)
            cvodes.CVodeSVtolerances(own, settings.rtol, memory.vector(tolerances(prepared, settings.atol)))
            matrix, linear = memory.dense(z)
            cvodes.CVodeSetLinearSolver(own, linear, matrix)
            cvodes.CVodeSetJacFn(own, jacobian)
            cvodes.CVodeSetMaxNumSteps(own, ida.MAX_STEPS)
            cvodes.CVodeSetStopTime(own, prepared.t_span[1])
            if prepared.constraints[1]:
                cvodes.CVodeSetProjFn(own, projecting(prepared.projection, array, n))

            def step(t: float, one: bool) -> tuple[int, float, Array, str]:
                flag, here = cvodes.CVode(own, t, z, cvodes.CV_ONE_STEP if one else cvodes.CV_NORMAL)
                return flag, here, array(z).copy(), "see the manual of SUNDIALS for its flags"

            try:
                ida.run(step, prepared.t_span, prepared.start[0], settings, points)
            finally:
                points.nstep, points.nreject = counted.counts()
        if watch.error is not None:
            note(points, watch.error)


def _in_place(rate: Callable[[float, Array], Array]) -> Callable[..., None]:
    def call(t: float, z: Array, _: Array, out: Array) -> None:
        out[:] = rate(t, z)

    return call


SOLVERS = (
    Idas("ida_sundials4py_jac", "ida", ida.FORMS, 5, True, ida.TAGS),
    Cvode("cvode_projected", "cvode", ("ode",), 5, True, ida.TAGS | {"projected", "rival"}),
)
