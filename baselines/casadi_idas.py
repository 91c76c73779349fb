"""CasADi's idas (IDA with CasADi's own compiled graph and exact Jacobians) on forms of index 1.

Tolerances: as in scikits_ida; all unknowns take part in the error test. CasADi builds its own functions from
the formulas of the form, so nfev and njev are what idas reports, not counted by wrapping. Steps of its own
are not handed out: without t_eval only start and end are returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from baselines.adapter import Points, Rival, Watch, silence, tolerances
from baselines.prepared import Implicit, implicit
from herk.core import Problem, Reason, Settings
from herk.core.dae import Array


class Graph(Implicit):
    """The form with CasADi's description of it.

    X' = E^-1 f for unknowns with a derivative, 0 = f for the others.
    """

    @cached_property
    def system(self) -> tuple[dict[str, Any], list[int], list[int]]:
        """Return dae, places of the differential and of the algebraic unknowns."""
        import casadi
        import sympy

        equations = self.form.generated.equations()
        symbols = casadi.SX.sym("y", equations.n)
        t = casadi.SX.sym("t")
        function = sympy.lambdify(
            [equations.t, *equations.states],
            [list(equations.f), list(equations.E)],
            modules=[_names(casadi), "math"],
        )
        f, entries = function(t, *(symbols[j] for j in range(equations.n)))
        E = np.array(entries, dtype=object).reshape(equations.n, equations.n)
        algebraic = list(self.form.algebraic)
        kept = [j for j in range(equations.n) if j not in algebraic]
        rows = [i for i in range(equations.n) if any(not casadi.SX(e).is_zero() for e in E[i])]
        inner = casadi.vertcat(*(casadi.horzcat(*(E[i, j] for j in kept)) for i in rows))
        ode = casadi.solve(inner, casadi.vertcat(*(f[i] for i in rows)))
        alg = casadi.vertcat(*(f[i] for i in range(equations.n) if i not in rows))
        x, z = casadi.vertcat(*(symbols[j] for j in kept)), casadi.vertcat(*(symbols[j] for j in algebraic))
        return {"t": t, "x": x, "z": z, "ode": ode, "alg": alg}, kept, algebraic


def _names(casadi: Any) -> dict[str, Any]:
    return {
        name: getattr(casadi, name)
        for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh", "sinh", "cosh", "atan2")
    }


@dataclass(frozen=True)
class Casadi(Rival):
    """casadi.integrator with the plugin idas."""

    module, package, install = "casadi", "casadi", "pip install 'herk[casadi]'"

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Refuse problems without formulas, because the graph is made from them.

        And formulas by pieces, which it has no words for.
        """
        if problem.model is None:
            return (
                False,
                (
                    f"problem {problem.name!r} is given by callables; {self.name} builds its graph from the"
                    " formulas of a model"
                ),
            )
        if any("Piecewise" in str(matrix) for matrix in (problem.model.E, problem.model.f)):
            return (
                False,
                f"problem {problem.name!r} has formulas by pieces, from which {self.name} builds no graph",
            )
        return super().supports(problem, form)

    def prepare(self, problem: Problem, form: str) -> Graph:
        """Return the form with its graph."""
        ready = Graph.from_other(implicit(problem, form))
        _ = ready.system
        return ready

    def integrate(self, prepared: Graph, settings: Settings, watch: Watch, points: Points) -> None:
        """Integrate to every output time."""
        import casadi

        dae, kept, algebraic = prepared.system
        (t0, t1), start = prepared.t_span, prepared.start[0]
        grid = np.array([t1] if settings.t_eval is None else settings.t_eval, dtype=float)
        ahead = [float(t) for t in grid if t != t0]
        options = {
            "reltol": settings.rtol,
            "abstol": float(tolerances(prepared, settings.atol).min()),
            "max_num_steps": 10_000_000,
        }
        with silence():
            solver = casadi.integrator(
                "solver", "idas", dae, t0, ahead, {**options, **self.options, **settings.options}
            )
            try:
                result = solver(x0=start[kept], z0=start[algebraic])
            except RuntimeError as error:
                points.stop(_reason(str(error)), str(error).strip().splitlines()[-1])
                return
        values = np.empty((len(start), len(ahead)))
        values[kept], values[algebraic] = np.asarray(result["xf"]), np.asarray(result["zf"])
        _keep(points, grid, t0, start, values, settings.t_eval is None)
        counts = solver.stats()
        points.nstep, watch.nfev, points.nlu = (
            int(counts["nsteps"]),
            int(counts["nfevals"]),
            int(counts["nlinsetups"]),
        )
        watch.njev = points.nlu


def _keep(points: Points, grid: Array, t0: float, start: Array, values: Array, own: bool) -> None:
    if not own and grid[0] == t0:
        points.add(t0, start)
    for t, column in zip(grid[grid != t0], values.T, strict=True):
        points.add(t, column)


def _reason(message: str) -> Reason:
    known = {"TOO_MUCH_WORK": Reason.MAX_STEPS, "ERR_FAIL": Reason.STEP_UNDERFLOW, "CONV_FAIL": Reason.NEWTON}
    return next((reason for text, reason in known.items() if text in message), Reason.EXCEPTION)


SOLVERS = (
    Casadi(
        "casadi_idas",
        "casadi",
        ("index1",),
        5,
        True,
        frozenset({"implicit", "stiff", "multistep", "sundials"}),
    ),
)
