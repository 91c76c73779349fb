"""HERK itself behind the protocol.

Every half-explicit method on `overdetermined`, on `ode` (m = 0, the method alone) and on `index1` (it
drifts); Radau on the overdetermined form; and `herk_auto`, what solve_dae does where no method is named.

Tolerances: the weighted RMS of the embedded error estimate of the differential components is kept below 1 in
each step; constraints hold to rounding whatever the tolerance. Methods without an error estimate need
settings.step. Counters are those of the kernel; on compiled code nothing else can count. What belongs to the
problem (breakpoints, switches) is handed to solve_dae.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import herk
from baselines.adapter import Rival, tolerances
from baselines.completion import model_points
from baselines.prepared import Prepared
from herk.core import InputError, Problem, Reason, Settings, Solution, Switches
from herk.model.forms.to_model_states import ToModelStates


@dataclass(frozen=True, eq=False)
class Whole(Prepared):
    """A form with what belongs to the problem.

    Times at which it is not smooth, events at which its equations change.
    """

    breakpoints: tuple[float, ...] = ()
    switches: Switches | None = None


@dataclass(frozen=True)
class Herk(Rival):
    """One method of solve_dae."""

    method: str = ""

    module, package = "herk", "herk"

    def supports(self, problem: Problem, form: str) -> tuple[bool, str]:
        """Add the overdetermined form, which every problem has; take an ODE only from formulas."""
        if problem.model is None and form == "ode":
            return (
                False,
                (
                    f"problem {problem.name!r} is given by callables; {self.name} eliminates no unknowns in"
                    " numbers, take 'index1'"
                ),
            )
        return (
            (True, "")
            if problem.model is None and form == "overdetermined"
            else super().supports(problem, form)
        )

    def prepare(self, problem: Problem, form: str) -> Whole:
        """Return the form; runs in advance compile what the span needs."""
        dae = problem.form(form)
        back = getattr(dae, "to_model_states", None) or ToModelStates(dae.n, tuple(range(dae.n)))
        z0 = np.array(problem.y0)[list(back.kept)]
        switches = problem.switches if form == "overdetermined" else None
        sizes = () if switches is not None else problem.sizes
        ready = Whole(
            dae,
            problem.t_span,
            (z0, z0),
            back,
            sizes=sizes,
            breakpoints=problem.breakpoints,
            switches=switches,
        )
        t0, t1 = problem.t_span
        step = None if self.adaptive else 1e-3 * abs(t1 - t0)
        for t_eval in (
            None,
            np.linspace(t0, t1, 3),
        ):  # the whole span, because a new selection of components is compiled when it comes
            self.solve(
                ready, Settings(rtol=1e-4, atol=1e-7, step=step, t_eval=t_eval, options={"max_steps": 20_000})
            )
        return ready

    def solve(self, prepared: Whole, settings: Settings) -> Solution:
        """Solve and go back to the unknowns of the model; breakpoints are passed by solve_dae itself."""
        start, atol = prepared.start[0], tolerances(prepared, settings.atol)
        options = {**self.options, **settings.options}
        try:
            sol = herk.solve_dae(
                prepared.form,
                prepared.t_span,
                start,
                method=self.method,
                rtol=settings.rtol,
                atol=atol,
                step=settings.step,
                t_eval=settings.t_eval,
                time_limit=settings.time_limit,
                breakpoints=prepared.breakpoints,
                switches=prepared.switches or False,
                **options,
            )
        except InputError as error:
            reason = Reason.INCONSISTENT if "nconsistent" in str(error) else Reason.UNSUPPORTED
            return Solution(
                t=np.empty(0), y=np.empty((prepared.to_model_states.n, 0)), reason=reason, message=str(error)
            )
        return (
            sol
            if not prepared.to_model_states.eliminated
            else replace(sol, y=model_points(prepared.to_model_states, sol.t, sol.y))
        )


def _solver(method: str) -> Herk:
    tableau = herk.METHODS[method]
    tags = {"explicit", "half-explicit", "pair" if tableau.adaptive else "fixed-step"}
    tags |= {"referee"} if method == "dop853" else set()
    return Herk(
        f"herk_{method}",
        "herk",
        ("overdetermined", "ode", "index1"),
        tableau.order,
        tableau.adaptive,
        frozenset(tags),
        method=method,
    )


SOLVERS = (
    *(_solver(method) for method in herk.METHODS),
    Herk("herk_radau5", "radau", ("overdetermined",), 5, True, frozenset({"implicit"}), method="radau5"),
    Herk("herk_auto", "auto", ("overdetermined",), 8, True, frozenset({"default"}), method="auto"),
)
