"""One candidate at tighter and tighter tolerances: what is asked of the runner, and what one run came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

import baselines
from herk.bench import measure, plugins
from herk.bench.agreement import Candidate
from herk.bench.runner import process
from herk.bench.runner.worker import Again, Finding, Work
from herk.core import Problem, Reason, Settings, Solution, Solver
from herk.core.dae import Array

REPEATS, ENOUGH = 5, 0.3  # timed runs of one setting, and the seconds after which no more are made
DRIFT_POINTS = 300
MOST_TIMES = 20_000  # accepted times beyond this number are not sent


@dataclass(frozen=True)
class Plan:
    """What is asked of every setting.

    Where to compare, what sizes the components have, how long a run may take; `files` bring solvers along.
    """

    path: str
    grid: tuple[float, ...]
    sizes: tuple[float, ...]
    run_limit: float
    timed: bool = True
    files: tuple[str, ...] = ()

    def settings(self, rtol: float) -> Settings:
        """Return tolerances that are fair to small and large components: atol = rtol * size."""
        atol = tuple(rtol * size for size in self.sizes)
        times = None if self.timed else np.array(self.grid)  # what is timed chooses its own points
        return Settings(rtol=rtol, atol=atol, t_eval=times, time_limit=self.run_limit)


@dataclass(frozen=True)
class Run:
    """One solve: `y` is unknowns x grid times, `t` its own points, `drift` the largest |g| at them."""

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

    @property
    def success(self) -> bool:
        """Tell whether the end was reached."""
        return self.reason is Reason.FINISHED


def climb(
    candidate: Candidate, tolerances: Sequence[float], plan: Plan, deadline: float
) -> Iterator[tuple[Run | None, Finding]]:
    """Yield a run for each tolerance that ends in time, with the finding of the runner.

    None in place of a run where the finding is about all tolerances that are left.
    """
    work = Work(
        partial(_load, plan.path, candidate[0], plan.files),
        candidate[1],
        tuple(plan.settings(rtol) for rtol in tolerances),
        partial(observed, grid=plan.grid),
        REPEATS if plan.timed else 1,
        ENOUGH,
        deadline=deadline,
    )
    for number, found in process.sweep(work):
        if number is None:
            yield None, found
            continue
        run = Run(*candidate, tolerances[number], found.reason, found.message)
        if found.observed is not None:
            run = replace(run, **found.observed, seconds=min(found.cpu, default=np.nan))
        yield run, found


def _load(path: str, name: str, files: tuple[str, ...]) -> tuple[Solver, Problem]:
    plugins.load(files)
    return baselines.get(name), plugins.to_solve(path).problem


def observed(
    problem: Problem, settings: Settings, solution: Solution, again: Again, *, grid: Sequence[float]
) -> dict[str, Any]:
    """Return what is sent of a run: values on the grid, own points, counts and drift."""
    on_grid = again(t_eval=np.array(grid)) if settings.t_eval is None and solution.success else solution
    if not on_grid.success:
        return {"reason": on_grid.reason, "message": on_grid.message}
    if on_grid.y.shape[1] != len(grid):
        return {"reason": Reason.EXCEPTION, "message": "The solver left output times out."}
    return {
        "y": on_grid.y,
        "t": solution.t if len(solution.t) <= MOST_TIMES else np.empty(0),
        "nstep": solution.nstep,
        "nreject": solution.nreject,
        "nfev": solution.nfev,
        "drift": measure.largest_residual(problem, solution, DRIFT_POINTS),
    }
