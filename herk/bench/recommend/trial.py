"""One solver on one form at tighter and tighter tolerances, in a process of its own.

Values on the grid, processor time, counters, drift.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from herk.bench.recommend.candidates import Candidate, solver
from herk.bench.recommend.load import load
from herk.bench.recommend.process import Send
from herk.core import Problem, Reason, Settings, Solution
from herk.core.dae import Array

REPEATS, ENOUGH = 5, 0.3  # a run is repeated until it was made so often, or took so many seconds in all
DRIFT_POINTS = 200
MOST_TIMES = 20_000  # accepted times beyond this number are not sent


@dataclass(frozen=True)
class Plan:
    """What is asked of every setting.

    Where to compare, what sizes the components have, how long a run may take.
    """

    path: str
    grid: tuple[float, ...]
    sizes: tuple[float, ...]
    run_limit: float
    timed: bool = True

    def settings(self, rtol: float, on_grid: bool) -> Settings:
        """Return tolerances that are fair to small and large components: atol = rtol * size."""
        atol = tuple(rtol * size for size in self.sizes)
        return Settings(
            rtol=rtol, atol=atol, t_eval=np.array(self.grid) if on_grid else None, time_limit=self.run_limit
        )


@dataclass(frozen=True)
class Run:
    """What one solve came to; `y` is unknowns x grid times, `t` the solver's own points.

    `drift` the largest |g| at them, if any.
    """

    solver: str
    form: str
    rtol: float
    reason: Reason
    message: str = ""
    y: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    t: Array = field(default_factory=lambda: np.empty(0), repr=False)
    seconds: float = np.nan
    nstep: int = 0
    nreject: int = 0
    nfev: int = 0
    drift: float = np.nan
    spent: float = 0.0  # processor time of all runs of the sweep so far

    @property
    def success(self) -> bool:
        """Tell whether the end was reached."""
        return self.reason is Reason.FINISHED


def climb(send: Send, candidate: Candidate, tolerances: Sequence[float], plan: Plan) -> None:
    """Send a remark for every warning, the seconds of preparing, then a run for each tolerance in time.

    They come as ("remark", text), ("prepared", seconds) and ("run", run). A solver that does not take the
    problem sends ("unfit", why) instead. The first run that is late gets a second chance, because it may have
    compiled what is needed from then on.
    """
    name, form = candidate
    problem, own = load(plan.path).problem, solver(name)
    fits, why = own.supports(problem, form)
    if not fits:
        send("unfit", why)
        return
    start = time.process_time()
    with warnings.catch_warnings(record=True) as heard:  # that callables cannot be compiled, for example
        warnings.simplefilter("always")
        prepared = own.prepare(problem, form)
    for text in dict.fromkeys(str(each.message).partition(". ")[0] for each in heard):
        send("remark", text)
    ready = time.process_time()
    send("prepared", ready - start)
    patient = True
    for rtol in tolerances:
        on_grid = own.solve(prepared, plan.settings(rtol, on_grid=True))
        if on_grid.reason is Reason.TIME_LIMIT and patient:
            patient, on_grid = False, own.solve(prepared, plan.settings(rtol, on_grid=True))
        whole = (
            on_grid.success
            and on_grid.y.shape == (len(problem.y0), len(plan.grid))
            and np.isfinite(on_grid.y).all()
        )
        if whole:
            free, seconds = _timed(own, prepared, plan, rtol) if plan.timed else (on_grid, np.nan)
            run = _run(candidate, rtol, problem, on_grid, free, seconds)
        else:
            reason = on_grid.reason if not on_grid.success else Reason.NONFINITE
            run = Run(name, form, rtol, reason, on_grid.message)
        send("run", replace(run, spent=time.process_time() - ready))
        if run.reason is Reason.TIME_LIMIT:
            return


def _timed(own: object, prepared: object, plan: Plan, rtol: float) -> tuple[Solution, float]:
    """Return the solve at the solver's own points and the least processor time of several."""
    spent: list[float] = []
    while len(spent) < REPEATS and sum(spent) < ENOUGH:
        start = time.process_time()
        solution = own.solve(prepared, plan.settings(rtol, on_grid=False))  # type: ignore[attr-defined]
        spent.append(time.process_time() - start)
    return solution, min(spent)


def _run(
    candidate: Candidate, rtol: float, problem: Problem, on_grid: Solution, free: Solution, seconds: float
) -> Run:
    t = free.t if len(free.t) <= MOST_TIMES else np.empty(0)
    counts = {"nstep": free.nstep, "nreject": free.nreject, "nfev": free.nfev}
    return Run(
        *candidate,
        rtol,
        free.reason,
        free.message,
        on_grid.y,
        t,
        seconds,
        **counts,
        drift=_drift(problem, free),
    )


def _drift(problem: Problem, solution: Solution) -> float:
    dae = problem.dae
    if not dae.m or not len(solution.t):
        return float("nan")
    at = np.unique(np.linspace(0, len(solution.t) - 1, DRIFT_POINTS).astype(int))
    return max(float(np.abs(dae.g(solution.t[k], np.ascontiguousarray(solution.y[:, k]))).max()) for k in at)
