"""exudyn, a code for multibody systems: generalized-alpha (index 3) and the trapezoidal rule (index 2).

A mechanical model M(t,p) p'' = force(t,p,v) - G' lam, 0 = g(t,p) becomes a generic object and a connector,
whose functions are plain Python, called back; Jacobians of forces are the library's differences. Fixed steps,
as its users run it: its step control only answers failures of Newton's method. Newton's method is iterated to
1e-10, so that the error is the method's. Neither method drifts off the constraint it is given:
generalized-alpha keeps positions on g = 0, the trapezoidal rule velocities on its derivative.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from baselines.adapter import Points, Rival, TimeUpError, Watch, finished, note, silence
from baselines.prepared import Prepared
from baselines.second_order.solvers import deliver
from herk.core import InputError, Problem, Reason, Settings, Solution
from herk.core.dae import Array

NEWTON = 1e-10
SPECTRAL_RADIUS = 0.9  # of generalized-alpha at infinity, the library's usual choice


def scales(expressions: dict[str, Any]) -> list[float]:
    """Return s_k with force = ... - s_k G_k' lam_k; raise InputError where multipliers act otherwise."""
    import sympy as sp

    g, p = expressions["g"], expressions["p"]
    if set(expressions["v"] + expressions["lam"]) & g.free_symbols or not len(g):
        raise InputError("its constraints are not on positions alone")
    G, B = g.jacobian(p), expressions["force"].jacobian(expressions["lam"])
    found = []
    for k in range(len(g)):
        ratios = [(B[j, k], G[k, j]) for j in range(len(p)) if G[k, j] != 0 or B[j, k] != 0]
        if any(right == 0 for _, right in ratios):
            raise InputError("its multipliers do not act along the gradients of its constraints")
        values = {sp.cancel(-left / right) for left, right in ratios}
        values = values if len(values) == 1 else {sp.simplify(value) for value in values}
        if len(values) != 1 or not (value := values.pop()).is_number or value == 0:
            raise InputError("its multipliers do not act along the gradients of its constraints")
        found.append(float(value))
    return found


@dataclass(frozen=True, eq=False)
class Mechanism(Prepared):
    """The second-order form with our functions of (t, p, v)."""

    scale: tuple[float, ...] = ()

    @cached_property
    def functions(self) -> dict[str, Any]:
        """Return M, force without constraints, g, its gradient and its derivative along the motion.

        In plain Python, of (t, *p, *v): what users of the library write, quicker to call than compiled code.
        """
        import sympy as sp

        at = self.form.expressions()
        g, p, v = at["g"], at["p"], at["v"]
        G = g.jacobian(p)
        formulas = {
            "mass": at["M"].tolist(),
            "force": list(at["force"].subs(dict.fromkeys(at["lam"], 0))),
            "constraint": list(g),
            "rate": list(G * sp.Matrix(v) + g.diff(at["t"])),
            "gradient": G.tolist(),
        }
        return {
            name: sp.lambdify([at["t"], *p, *v], values, "math", cse=True)
            for name, values in formulas.items()
        }


class Library:
    """A system of exudyn made from the form."""

    def __init__(self, prepared: Mechanism, watch: Watch) -> None:
        """Add node, object, marker and connector."""
        import exudyn
        from exudyn import itemInterface as items  # noqa: N813 - the library's own name

        self.prepared, self.watch, form = prepared, watch, prepared.form
        y0, n = np.asarray(prepared.start[0]), len(form.positions)
        self.functions = prepared.functions
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        p, v, _ = form.split(y0)
        node = self.system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * n, initialCoordinates=list(p), initialCoordinates_t=list(v),
                numberOfODE2Coordinates=n,
            )
        )  # fmt: skip
        mass = {"massMatrix": np.asarray(form.mass(prepared.t_span[0], y0))}
        if callable(form.E):
            mass["massMatrixUserFunction"] = self.mass
        self.system.AddObject(
            items.ObjectGenericODE2(nodeNumbers=[node], forceUserFunction=self.force, **mass)
        )
        ground = self.system.AddNode(items.NodePointGround())
        ends = [
            self.system.AddMarker(items.MarkerNodeCoordinates(nodeNumber=each)) for each in (ground, node)
        ]
        self.system.AddObject(
            items.ObjectConnectorCoordinateVector(
                markerNumbers=ends, scalingMarker0=[], scalingMarker1=np.zeros((len(form.constraints), n)),
                constraintUserFunction=self.constraint, jacobianUserFunction=self.gradient,
            )
        )  # fmt: skip
        self.system.Assemble()

    def mass(self, _system: Any, t: float, _item: int, q: Any, v: Any) -> Array:
        """Return M."""
        return np.array(self.functions["mass"](t, *q, *v), dtype=float)

    def force(self, _system: Any, t: float, _item: int, q: Any, v: Any) -> list[float]:
        """Return the forces without those of constraints."""
        self.watch.nfev += 1
        if self.watch.limit is not None:
            try:
                self.watch.check()
            except TimeUpError as error:
                self.watch.error = error  # the library wraps what is raised here
                raise
        return self.functions["force"](t, *q, *v)  # type: ignore[no-any-return]

    def constraint(self, _system: Any, t: float, _item: int, q: Any, v: Any, velocity: bool) -> list[float]:
        """Return g, or its derivative along the motion."""
        return self.functions["rate" if velocity else "constraint"](t, *q, *v)  # type: ignore[no-any-return]

    def gradient(self, _system: Any, t: float, _item: int, q: Any, v: Any, _velocity: bool) -> Array:
        """Return G."""
        self.watch.njev += 1
        return np.array(self.functions["gradient"](t, *q, *v), dtype=float)

    def now(self) -> Array:
        """Return positions, velocities and multipliers of the present state as y."""
        data = self.system.systemData
        p, v = data.GetODE2Coordinates(), data.GetODE2Coordinates_t()
        lam = np.asarray(data.GetAECoordinates()) / np.array(self.prepared.scale)
        return np.asarray(self.prepared.form.pack(p, v, lam))


@dataclass(frozen=True)
class Exudyn(Rival):
    """One implicit integrator of exudyn."""

    method: str = ""

    module, package, install = "exudyn", "exudyn", "pip install 'herk[exudyn]'"

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Take mechanical systems with constraints on positions, whose multipliers are their forces."""
        supported, why = super().supports(problem, form)
        if not supported:
            return supported, why
        own: Any = problem.form(form)
        try:
            scales(own.expressions())
        except InputError as error:
            return False, f"{self.name} is for constrained mechanical systems; of {problem.name!r}, {error}"
        return (True, "") if not problem.breakpoints else (False, f"problem {problem.name!r} has breakpoints")

    def prepare(self, problem: Problem, form: str) -> Mechanism:
        """Return the form with its functions compiled."""
        own: Any = problem.form(form)
        return Mechanism.of(problem, own, scale=tuple(scales(own.expressions())))

    def solve(self, prepared: Mechanism, settings: Settings) -> Solution:
        """Solve; whatever happens, the points reached are returned with a reason."""
        watch, points = Watch(settings.time_limit), Points([prepared.t_span[0]], [prepared.start[0]])
        if settings.step is None:
            points.stop(Reason.UNSUPPORTED, f"{self.name} needs settings.step.")
            return finished(prepared, points, watch)
        try:
            self.integrate(prepared, settings, watch, points)
        except Exception as error:  # noqa: BLE001 - a library may fail in any way
            note(points, watch.error or error)
        if settings.t_eval is not None:
            deliver(points, np.asarray(settings.t_eval, dtype=float))
        return finished(prepared, points, watch)

    def integrate(self, prepared: Mechanism, settings: Settings, watch: Watch, points: Points) -> None:
        """Step through the span."""
        import exudyn

        assert settings.step is not None
        (t0, t1), library = prepared.t_span, Library(prepared, watch)
        steps = max(1, round(abs(t1 - t0) / settings.step))
        step = abs(t1 - t0) / steps

        def keep(system: Any, t: float) -> bool:
            del system
            if t > points.t[-1]:  # the start is reported, too
                points.add(t if t < t1 - step / 2 else t1, library.now())
            return True

        library.system.SetPostStepUserFunction(keep)
        asked = exudyn.SimulationSettings()
        each, asked.solution.file.write, asked.solution.sensors.active = asked.timeIntegration, False, False
        each.startTime, each.endTime, each.numberOfSteps, each.verboseMode = t0, t1, steps, 0
        each.adaptiveStep, each.newton.useModifiedNewton = False, False
        each.newton.relativeTolerance = each.newton.absoluteTolerance = NEWTON
        each.generalizedAlpha.spectralRadius = SPECTRAL_RADIUS
        kind = getattr(exudyn.DynamicSolverType, self.method)
        with warnings.catch_warnings(), silence():
            warnings.simplefilter("ignore")
            try:
                library.system.SolveDynamic(asked, solverType=kind, showHints=False, showCausingItems=False)
            except exudyn.SolverError as error:
                points.stop(Reason.NEWTON, f"Newton's method does not converge: {error}")
        points.nstep = len(points.t) - 1


def _solver(name: str, method: str) -> Exudyn:
    tags = frozenset({"implicit", "stiff", "rival"})
    return Exudyn(f"exudyn_{name}", "exudyn", ("second_order",), 2, False, tags, method=method)


SOLVERS = (_solver("alpha", "GeneralizedAlpha"), _solver("trapezoidal", "TrapezoidalIndex2"))
