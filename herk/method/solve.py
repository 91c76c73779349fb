"""solve_dae: integrate E(t,y) y' = f(t,y), 0 = g(t,y) with SciPy's manners and every constraint kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from herk.core import Dae, InputError, Solution
from herk.core.dae import Array
from herk.method import memory as at
from herk.method.options import Request, request
from herk.method.ready import ready
from herk.method.run import Run
from herk.method.tableau import Tableau
from herk.model.evaluate import Linearisation, linearise
from herk.model.start import completed_start, consistent_start, contradictions, inconsistency


def solve_dae(
    system: Any,
    t_span: tuple[float, float] | None = None,
    y0: Sequence[float | None] | Array | None = None,
    *,
    method: str | Tableau = "dopri5",
    rtol: float = 1e-6,
    atol: float | Sequence[float] | Array = 1e-9,
    step: float | None = None,
    t_eval: Sequence[float] | Array | None = None,
    dense_output: bool = False,
    events: Callable[[float, Array], float] | Sequence[Callable[[float, Array], float]] | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    time_limit: float | None = None,
    consistent: str = "check",
    callback: Callable[[float, Array], Any] | None = None,
    **method_options: Any,
) -> Solution:
    """Integrate a DAE with a half-explicit Runge-Kutta method; all constraints in g hold to rounding at every point returned.

    system        a herk.Dae, a herk.Model (its hidden constraints are found) or a problem of the test set
    t_span, y0    (t0, t_end), t_end < t0 allowed, and the start; None entries of y0 are computed from the constraints
    method        a name in herk.METHODS, or a Tableau
    rtol, atol    tolerances of the local error in every component, multipliers too; atol a number or one per component
    step          a number: fixed step, the last one shortened to hit t_end
    t_eval        times to return instead of the accepted points; dense_output=True lets the solution be called with a time
    events        functions (t, y) -> float by SciPy's rules: attributes `terminal` (True or a count) and `direction`
    first_step, max_step, max_steps, time_limit   limits; the run ends with a reason and the points reached
    consistent    "check" refuses an inconsistent y0 with the rows at fault, "project" repairs it, "trust" takes it as it is
    callback      callback(t, y) after every accepted step; returning True stops
    method_options   newton="simplified" or "full"; selection="sparse" or "complete" (Procedure 3.11 to the letter, at every step);
                  generate=False: no kernel generated for the model; interpret=True: no compilation; project_output=False: values
                  at t_eval and of dense output are polynomials through the run, not put on g = 0, and need neither f nor g afterwards
    """
    options = {
        "rtol": rtol, "atol": atol, "step": step, "t_eval": t_eval, "dense_output": dense_output, "events": events,
        "first_step": first_step, "max_step": max_step, "max_steps": max_steps, "time_limit": time_limit,
        "consistent": consistent, "callback": callback,
    }  # fmt: skip
    asked = request(system, t_span, y0, method, options, method_options)
    run = _start(asked)
    run.go()
    return _solution(run)


def _start(asked: Request) -> Run:
    """Settle the start values, check that the problem is well posed there, and make the machine ready."""
    dae = asked.dae
    y = consistent_start(dae, asked.t0, asked.y0) if asked.consistent == "project" else completed_start(dae, asked.t0, asked.y0)
    here = linearise(dae, asked.t0, y)
    _check_posed(dae, here)
    if asked.consistent == "check":
        _check_start(asked, y, here)
    machine = ready(asked, y, here)
    machine.slot(machine.first_selection(here.jac) if dae.m else ())
    return Run(asked, machine, y)


def _check_posed(dae: Dae, here: Linearisation) -> None:
    """Refuse a system whose y' is not determined."""
    stacked = np.vstack([here.E, here.jac])
    sizes = np.abs(stacked).max(axis=1, keepdims=True, initial=0.0)
    if np.linalg.matrix_rank(stacked / np.where(sizes > 0, sizes, 1.0)) < dae.n:
        free = [dae.names[i] for i in range(dae.n) if not stacked[:, i].any()]
        which = f" Nothing determines {', '.join(free)}." if free else ""
        rank = f"[E; dg/dy] has rank below n = {dae.n}"
        raise InputError(f"E and g leave y' undetermined: {rank}.{which} Add the missing (hidden) constraints to g.")


def _check_start(asked: Request, y: Array, here: Linearisation) -> None:
    wrong = inconsistency(asked.dae, asked.t0, y, asked.rtol, asked.atol, here)
    if wrong:
        raise InputError(f'{wrong} Repair it with consistent="project" or herk.consistent_start, or insist with consistent="trust".')
    contrary = contradictions(here, asked.t0)
    if contrary:
        raise InputError(f'{" ".join(contrary)} Correct g, or insist with consistent="trust".')


def _solution(run: Run) -> Solution:
    ints = run.machine.memory.ints
    counts = {name.lower(): int(ints[getattr(at, name)]) for name in ("NREJECT", "NFEV", "NGEV", "NJEV", "NLU", "NIT")}
    t_events, y_events = run.watch.results() if run.watch else (None, None)
    t, y = run.output.results()
    residual = float(run.machine.memory.floats[at.WORST_RESIDUAL])
    assert run.reason is not None
    return Solution(
        t=t, y=y, reason=run.reason, message=run.message, sol=run.output.dense() if run.request.dense_output else None,
        t_events=t_events, y_events=y_events, residual=residual, selections=tuple(run.output.selections), nstep=run.output.steps, **counts,
    )  # fmt: skip
