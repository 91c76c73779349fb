"""diffsol through pydiffsol: BDF on M z' = f of index 1, in its language DiffSL.

The library compiles the formulas itself (LLVM) and differentiates them; nothing of ours runs while it solves.
Start values are inputs of the compiled model, so nothing is compiled again for another piece or start.
Tolerances: the weighted RMS of the local error, weights 1/(rtol |z| + atol), is kept below 1 in each step;
there is one atol for all unknowns, the smallest that is asked for. It reports no counts but its steps, and
takes no time limit: a run that is too long is ended from outside. Its ESDIRK methods are not taken: on the
pendulum in index 1 they give up after fifty failures of Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from baselines.adapter import Points, Watch, tolerances
from baselines.formulas import FromFormulas, Written, plain, statements, written
from baselines.prepared import Implicit, implicit
from herk.core import Problem, Reason, Settings


def shown(value: Any) -> str:
    """Return a formula in DiffSL."""
    return plain(value, {"Abs": "abs", "asin": "arcsin", "acos": "arccos"})


def source(system: Written) -> str:
    """Return the model in DiffSL: inputs are z and z' at the start."""
    n = len(system.states)
    names = {system.t: "t"} | {symbol: f"z{j}" for j, symbol in enumerate(system.states)}
    lines, values = statements(list(system.f), names, shown, "{} {{ {} }}")
    rows = []
    for i in range(n):
        terms = [f"{float(system.E[i, j])!r} * r{j}" for j in range(n) if system.E[i, j] != 0]
        rows.append(" + ".join(terms) or "0.0")
    return "\n".join(
        [
            "in_i { " + ", ".join(f"s{j} = 1.0" for j in range(2 * n)) + " }",
            "u_i { " + ", ".join(f"z{j} = s{j}" for j in range(n)) + " }",
            "dudt_i { " + ", ".join(f"r{j} = s{n + j}" for j in range(n)) + " }",
            *lines,
            "M_i { " + ", ".join(rows) + " }",
            "F_i { " + ", ".join(values) + " }",
        ]
    ).replace("common_", "c")


@lru_cache(maxsize=8)
def compiled(text: str, method: str) -> Any:
    """Return the compiled model."""
    import pydiffsol

    return pydiffsol.Ode(text, matrix_type=pydiffsol.nalgebra_dense, ode_solver=getattr(pydiffsol, method))


@dataclass(frozen=True, eq=False)
class Compiled(Implicit):
    """The form with its text in DiffSL."""

    text: str = ""


@dataclass(frozen=True)
class Diffsol(FromFormulas):
    """One method of diffsol."""

    method: str = ""

    module, package, install = "pydiffsol", "pydiffsol", "pip install 'herk[diffsol]'"
    pieces_written = False

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Refuse matrices E that change along a run."""
        supported, why = super().supports(problem, form)
        if supported and callable(problem.form(form).E):
            return False, f"{self.name} takes a constant matrix E, which problem {problem.name!r} has not"
        return supported, why

    def prepare(self, problem: Problem, form: str) -> Compiled:
        """Return the form, compiled by the library."""
        base = implicit(problem, form)
        text = source(written(base.form))
        compiled(text, self.method)
        return Compiled.from_other(base, text=text)

    def integrate(self, prepared: Compiled, settings: Settings, watch: Watch, points: Points) -> None:
        """Solve to the end, or to every output time."""
        del watch  # nothing of ours is called
        solver = compiled(prepared.text, self.method)
        solver.rtol, solver.atol = settings.rtol, float(tolerances(prepared, settings.atol).min())
        (t0, t1), start = prepared.t_span, np.concatenate(prepared.start)
        solver.t0 = t0
        try:
            if settings.t_eval is None:
                found = solver.solve(start, t1)
            else:
                found = solver.solve_dense(start, np.asarray(settings.t_eval, dtype=float))
        except RuntimeError as error:
            points.stop(_reason(str(error)), str(error))
            return
        for t, z in zip(np.asarray(found.ts), np.asarray(found.ys).T, strict=True):
            if settings.t_eval is not None or t != t0:
                points.add(t, z)
        points.nstep = len(points.t) - 1 if settings.t_eval is None else 0


def _reason(message: str) -> Reason:
    known = {
        "step size": Reason.STEP_UNDERFLOW,
        "nonlinear": Reason.NEWTON,
        "error test": Reason.STEP_UNDERFLOW,
    }
    return next((reason for words, reason in known.items() if words in message.lower()), Reason.EXCEPTION)


TAGS = frozenset({"implicit", "stiff", "multistep", "uncounted", "rival"})
SOLVERS = (Diffsol("diffsol_bdf", "diffsol", ("index1",), 5, True, TAGS, method="bdf"),)
