"""rumoca, a compiler for Modelica: equations as written, whatever their index, which it reduces itself.

It is handed the model in Modelica, with the start of every unknown, and differentiates, chooses states and
changes them along the run on its own. Tolerances are its rtol and one atol for all unknowns, the smallest
that is asked for; how it weighs them is not documented. It hands out equidistant output only and reports no
counts. Its solvers: `bdf` (its default) and `rk-like`. Time limits are its own `max_wall_seconds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from baselines.adapter import Points, Watch, tolerances
from baselines.formulas import FromFormulas, Written, plain, written
from baselines.prepared import Implicit, implicit
from herk.core import Problem, Reason, Settings
from herk.core.dae import Array

FORMS = tuple(f"index{k}" for k in range(1, 6))
FUNCTIONS = {"Abs": "abs"}
NAME = "Rival"


def source(system: Written, start: Array) -> str:
    """Return the model in Modelica; unknowns are z1, z2, ...; those with a derivative start as said."""
    import sympy as sp

    n = len(system.states)
    called: dict[Any, Any] = {symbol: sp.Symbol(f"z{j + 1}") for j, symbol in enumerate(system.states)}
    called[system.t] = sp.Symbol("time")
    lines = []
    for j in range(n):
        fixed = any(entry != 0 for entry in system.E[:, j])
        lines.append(f"  Real z{j + 1}(start = {float(start[j])!r}, fixed = {str(fixed).lower()});")
    lines.append("equation")
    for i in range(n):
        terms = [
            f"{_shown(system.E[i, j].xreplace(called))} * der(z{j + 1})"
            for j in range(n)
            if system.E[i, j] != 0
        ]
        lines.append(f"  {' + '.join(terms) or '0.0'} = {_shown(system.f[i].xreplace(called))};")
    return "\n".join([f"model {NAME}", *lines, f"end {NAME};", ""])


def _shown(value: Any) -> str:
    return plain(value, FUNCTIONS, "({}) ^ ({})")


@lru_cache(maxsize=8)
def compiled(text: str) -> Any:
    """Return the compiled model."""
    import rumoca

    return rumoca.Session().loads(text, model=NAME)


@dataclass(frozen=True, eq=False)
class Modelica(Implicit):
    """The form with its text in Modelica."""

    text: str = ""


@dataclass(frozen=True)
class Rumoca(FromFormulas):
    """One solver of rumoca."""

    method: str = ""

    module, package, install = "rumoca", "rumoca", "pip install 'herk[rumoca]'"
    pieces_written = False

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Take the equations as written alone: the index is reduced by another hand here."""
        supported, why = super().supports(problem, form)
        if supported and problem.breakpoints:
            return (
                False,
                f"problem {problem.name!r} has breakpoints, between which {self.name} cannot be started anew",
            )
        if supported and f"index{_index(problem)}" != form:
            return (
                False,
                f"{self.name} reduces the index itself and takes {problem.name!r} as written, not {form!r}",
            )
        return supported, why

    def prepare(self, problem: Problem, form: str) -> Modelica:
        """Return the model, compiled; a first step is simulated, because more is made ready then."""
        base = implicit(problem, form)
        text = source(written(base.form), base.start[0])
        compiled(text)
        return Modelica.from_other(base, text=text)

    def integrate(self, prepared: Modelica, settings: Settings, watch: Watch, points: Points) -> None:
        """Simulate with output on a grid."""
        import rumoca

        del watch  # nothing of ours is called
        (t0, t1), n = prepared.t_span, prepared.form.n
        times = np.array([t0, t1] if settings.t_eval is None else settings.t_eval, dtype=float)
        step = float(np.diff(np.unique([t0, *times, t1])).min())
        grid = t0 + step * np.round((times - t0) / step)
        if np.abs(grid - times).max() > 1e-9 * abs(t1 - t0):
            points.stop(Reason.UNSUPPORTED, f"{self.name} hands out equidistant output times only.")
            return
        asked = rumoca.SimConfig(
            rtol=settings.rtol, atol=float(tolerances(prepared, settings.atol).min()), solver=self.method,
            dt=step, max_wall_seconds=settings.time_limit,
        )  # fmt: skip
        try:
            found = compiled(prepared.text).simulate(t=(t0, t1), config=asked)
        except rumoca.RumocaError as error:
            points.stop(_reason(str(error)), str(error).strip().splitlines()[0])
            return
        own, table = np.asarray(found.time), np.asarray(found.to_numpy())
        columns = [list(found.names).index(f"z{j + 1}") for j in range(n)]
        values = table[:, columns] if table.shape[0] == len(own) else table[columns].T
        for t in times:
            if settings.t_eval is not None or t != t0:
                points.add(t, values[np.abs(own - t).argmin()])


def _index(problem: Problem) -> int:
    from herk.model.forms.forms import analysis

    return analysis(problem.model).index


def _reason(message: str) -> Reason:
    known = {
        "wall": Reason.TIME_LIMIT,
        "time limit": Reason.TIME_LIMIT,
        "timeout": Reason.TIME_LIMIT,
        "step size": Reason.STEP_UNDERFLOW,
        "newton": Reason.NEWTON,
    }
    return next((reason for words, reason in known.items() if words in message.lower()), Reason.EXCEPTION)


TAGS = frozenset({"uncounted", "ends_only", "even_output", "reduces_index", "rival"})
SOLVERS = (
    Rumoca("rumoca_bdf", "rumoca", FORMS, 5, True, TAGS | {"implicit", "stiff", "multistep"}, method="bdf"),
    Rumoca("rumoca_rk", "rumoca", FORMS, 5, True, TAGS | {"explicit"}, method="rk-like"),
)
