"""Families with fixed steps as solvers.

Direct discretisation of every square form, the span divided into equal steps.

Tolerances are not used: stage equations are solved to rounding, and settings.step decides. The step is
shortened so that a whole number of them fills the span. Output times between mesh points are served by the
polynomial whose derivative interpolates the stages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from baselines.adapter import Points, Rival, Watch, finished, note
from baselines.irk import stages
from baselines.irk.families import Implicit, tableau
from baselines.irk.hessenberg import extrapolation
from baselines.irk.stages import allocate
from baselines.prepared import Implicit as Residual
from baselines.prepared import implicit
from baselines.reached import JACOBIAN, RESIDUAL, forget, raised, reached
from herk.core import Problem, Reason, Settings, Solution
from herk.core.dae import Array

CHUNK = 256  # steps between two looks at the clock
_REASONS = {
    stages.NO_NEWTON: (Reason.NEWTON, "Newton's method does not solve the stage equations"),
    stages.SINGULAR: (Reason.SINGULAR, "the Newton matrix of the stage equations is singular"),
    stages.NOT_FINITE: (Reason.NONFINITE, "values that are not finite appear"),
}


@dataclass(frozen=True)
class FixedStep(Rival):
    """One method of a family."""

    method_family: str = ""
    stages: int = 1

    module, package = "herk", "herk"

    @property
    def method(self) -> Implicit:
        """Return the tableau."""
        return tableau(self.method_family, self.stages)

    def prepare(self, problem: Problem, form: str) -> Residual:
        """Return F(t, z, z') = 0 of the form, compiled, and so is the loop."""
        prepared = implicit(problem, form)
        span = abs(prepared.t_span[1] - prepared.t_span[0])
        Run(self.method, prepared, 1e-6 * span).chunk(1)
        return prepared

    def _solve(self, prepared: Residual, settings: Settings) -> Solution:
        watch, points = Watch(settings.time_limit), Points([], [])
        if settings.step is None:
            points.stop(
                Reason.UNSUPPORTED,
                f"{self.name} has fixed steps: give settings.step, the tolerances are not used.",
            )
            return finished(prepared, points, watch)
        try:
            self.integrate(prepared, settings, watch, points)
        except Exception as error:  # noqa: BLE001 - callables of a model may fail in any way
            note(points, error)
        evaluated = self.stages - int(self.method.explicit_first)  # stages, once in each iteration
        return replace(finished(prepared, points, watch), nit=watch.nfev // evaluated)

    def integrate(self, prepared: Residual, settings: Settings, watch: Watch, points: Points) -> None:
        """Step through the span in chunks."""
        (t0, t1), asked = prepared.t_span, settings.step or 0.0
        count = max(1, ceil(abs(t1 - t0) / asked * (1 - 1e-12)))
        run, wanted = Run(self.method, prepared, (t1 - t0) / count), settings.t_eval
        if wanted is None or (len(wanted) and wanted[0] == t0):
            points.add(t0, prepared.start[0])
        code = stages.DONE
        while run.own.nstep < count and code == stages.DONE:
            watch.check()
            done, z = run.own.nstep, run.own.z.copy()
            code, values, K = run.chunk(min(CHUNK, count - done))
            mesh = t0 + run.own.h * np.arange(done, done + len(values) + 1)
            mesh[-1] = t1 if run.own.nstep == count else mesh[-1]
            _keep(points, mesh, np.vstack([z, values]), K, wanted, self.method)
            points.nstep, points.nlu = run.own.nstep, run.own.nlu
            watch.nfev, watch.njev = run.own.nfev, run.own.njev
        if code != stages.DONE:
            reason, words = _REASONS[code]
            points.stop(reason, f"At t = {mesh[-1]:g} with h = {run.own.h:g} {words}.")


class Run:
    """A run in progress: the state that compiled steps work on, and the functions they call."""

    def __init__(self, method: Implicit, prepared: Residual, h: float) -> None:
        """Take the start from the form."""
        (A, b, c), n, s = method.floats(), prepared.form.n, method.stages
        *equations, parameters = written(prepared)
        self.functions = [reached(*each) for each in zip(equations, (RESIDUAL, JACOBIAN), strict=True)]
        forget(self.functions, n)
        level = np.maximum(np.array(prepared.form.variable_index or (1,) * n, dtype=np.int64) - 1, 0)
        own = allocate(n, s, int(method.explicit_first), int(level.max()) + 1, len(parameters))
        own.at_residual, own.at_jacobian = (each.entry for each in self.functions)
        own.level[:], own.h, own.t0, own.parameters[:] = level, h, prepared.t_span[0], parameters
        own.powers[:] = abs(h) ** np.arange(own.powers.size)
        own.a[:], own.b[:], own.c[:], own.ahead[:] = A.ravel(), b, c, extrapolation(method).ravel()
        own.z[:], own.k[:] = prepared.start[0], np.tile(prepared.start[1], s)
        self.own = own

    def chunk(self, count: int) -> tuple[int, Array, Array]:
        """Make steps; return what ended them, the new points and the stage derivatives of each."""
        own, before = self.own, self.own.nstep
        points, K = np.empty((count, own.n)), np.empty((count, own.s, own.n))
        own.bind("points", points)
        own.bind("stages", K)
        code = stages.PROGRAM[stages.advance].call(own.address, count)
        error = raised(self.functions)
        if error is not None:
            raise error
        made = own.nstep - before
        return int(code), points[:made], K[:made]


def written(prepared: Residual) -> tuple[Any, Any, Array]:
    """Return residual, Jacobian and parameters: a model's own code, where nothing else stands for it."""
    form, generated = prepared.form, getattr(prepared.form, "generated", None)
    if not hasattr(generated, "code") or prepared.residual is not form._implicit[0]:
        return prepared.residual, prepared.jacobian, np.zeros(1)
    code = generated.code.implicit
    return code["residual"], code["jacobian"], generated.parameters


def _keep(
    points: Points, mesh: Array, values: Array, K: Array, wanted: Array | None, method: Implicit
) -> None:
    """Add the mesh points, or the wanted times among and between them."""
    if wanted is None:
        for t, z in zip(mesh[1:], values[1:], strict=True):
            points.add(t, z)
        return
    way = 1.0 if len(mesh) < 2 or mesh[-1] > mesh[0] else -1.0
    inside = np.asarray(wanted, dtype=float)
    inside = inside[(way * inside > way * mesh[0]) & (way * inside <= way * mesh[-1])]
    for t in inside:
        k = int(np.searchsorted(way * mesh, way * t)) - 1
        h = mesh[k + 1] - mesh[k]
        points.add(t, values[k] + h * _weights(method, (t - mesh[k]) / h) @ K[k])


def _weights(method: Implicit, x: float) -> Array:
    """Return the integrals from 0 to x of the Lagrange polynomials of the nodes."""
    c = method.floats()[2]
    powers = np.arange(1, len(c) + 1)
    return np.asarray(np.linalg.solve(np.vander(c, increasing=True).T, x**powers / powers))


_EVERY = ("index1", "index2", "index3", "ggl", "baumgarte")


def _solver(family: str, stage_count: int, forms: tuple[str, ...]) -> FixedStep:
    method = tableau(family, stage_count)
    tags = frozenset({"implicit", "fixed-step", *({"stiff"} if abs(method.at_infinity) < 0.5 else ())})
    return FixedStep(
        f"{family}{stage_count}",
        "irk",
        forms,
        method.order,
        False,
        tags,
        method_family=family,
        stages=stage_count,
    )


# Gauss on index 2 and 3 and Lobatto IIIA on index 3 converge too slowly or not at all in the multipliers:
# study `lecture` shows it.
SOLVERS = (
    _solver("gauss", 2, ("index1", "baumgarte")),
    _solver("gauss", 3, ("index1", "index2", "baumgarte")),
    _solver("radau_iia", 2, _EVERY),
    _solver("radau_iia", 3, _EVERY),
    _solver("lobatto_iiia", 3, ("index1", "index2", "baumgarte")),
    _solver("lobatto_iiic", 3, _EVERY),
)
