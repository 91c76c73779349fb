"""One sweep of runs to records: isolated, timed and measured; whatever happens is a row with a reason."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Generator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import baselines
import testset
from herk.bench import environment, measure, plugins, record, series, stability
from herk.bench.record import Record
from herk.bench.runner import process
from herk.bench.runner.worker import Again, Finding, Work
from herk.bench.sweeps import Setting, Sweep
from herk.core import Problem, Reason, Settings, Solution, Solver, Stats
from herk.core.dae import Array

EARLY = 1e-3  # of the span; a run with half of its points in it is seen on a logarithmic scale only
USUAL = 50  # output intervals of a trajectory where errors are taken at the steps
FINER = 8  # output intervals of a trajectory for one of the grid of errors
MOST_POINTS = 512  # accepted points at which errors over the interval are taken
BRIEF = 0.02  # seconds that they take at least, if runs are repeated at all
EVERY_SETTING = Setting(None, None, None)
DONE = ("ok", "unsupported")  # what a later bench does not run again


def identity(sweep: Sweep, setting: Setting = EVERY_SETTING) -> Record:
    """Return the fields that identify a run; those of EVERY_SETTING speak for the whole sweep."""
    digests = plugins.digests(sweep.files)
    version = " ".join(
        filter(
            None, [str(getattr(baselines.get(sweep.solver), "version", "")), digests.get(sweep.solver, "")]
        )
    )
    options = json.loads(sweep.options) | (
        {"problem_file": digests[sweep.problem]} if sweep.problem in digests else {}
    )
    return {
        "study": sweep.study,
        "problem": sweep.problem,
        "changes": sweep.changes,
        "form": sweep.form,
        "solver": sweep.solver,
        "solver_version": version,
        "rtol": setting.rtol,
        "atol": setting.atol,
        "step": setting.step,
        "options": record.canonical(options),
        "herk": environment.fields()["herk"],
    }


def remaining(sweep: Sweep, done: Collection[str]) -> Sweep | None:
    """Return the sweep without the settings whose keys are done, None if nothing is left."""
    if record.key("run", identity(sweep)) in done:
        return None
    left = tuple(
        setting for setting in sweep.settings if record.key("run", identity(sweep, setting)) not in done
    )
    return replace(sweep, settings=left, solved=left[0] != sweep.settings[0]) if left else None


def records(sweep: Sweep) -> Generator[list[Record]]:
    """Yield what is to be stored of each run as soon as it has ended: its series, last the run itself."""
    plugins.load(sweep.files)
    available, why = baselines.get(sweep.solver).available()
    if not available:
        yield [_row(sweep, EVERY_SETTING, status="unavailable", reason="unavailable", message=why)]
        return
    left = dict(enumerate(sweep.settings))
    start = time.perf_counter()
    for number, found in process.sweep(_work(sweep)):
        spent, start = time.perf_counter() - start, time.perf_counter()
        if number is not None:
            yield _stored(sweep, left.pop(number), found, spent)
        elif found.reason is Reason.UNSUPPORTED:
            why = {"status": "unsupported", "reason": found.reason.value, "message": found.message}
            yield [_row(sweep, EVERY_SETTING, **why)]
        else:
            yield [
                rec for setting in left.values() for rec in _stored(sweep, setting, found, spent / len(left))
            ]


def _work(sweep: Sweep) -> Work:
    settings = tuple(_settings(sweep, setting) for setting in sweep.settings)
    kept = frozenset(setting.rtol for setting in sweep.settings if setting.series)
    bound = stability.limit_of(baselines.get(sweep.solver))
    observe = partial(observed, grid=sweep.grid, series_rtol=kept, paths=sweep.trajectories, bound=bound)
    load = partial(_load, sweep.problem, sweep.changes, sweep.solver, sweep.options, sweep.files)
    times = (sweep.repeats, sweep.repeat_seconds, BRIEF)
    return Work(load, sweep.form, settings, observe, *times, process.MEMORY_LIMIT, sweep.solved)


def _settings(sweep: Sweep, setting: Setting) -> Settings:
    tolerances = {} if setting.rtol is None else {"rtol": setting.rtol, "atol": setting.atol}
    return Settings(
        **tolerances, step=setting.step, time_limit=sweep.time_limit, options=json.loads(sweep.options)
    )


def _load(
    problem: str, changes: str, solver: str, options: str, files: tuple[str, ...]
) -> tuple[Solver, Problem]:
    """Find problem and solver by name, in the process that runs them; options hold while it prepares, too."""
    plugins.load(files)
    own, given = baselines.get(solver), json.loads(options)
    if given and is_dataclass(own) and hasattr(own, "options"):
        own = replace(own, options={**own.options, **given})
    return own, testset.get(problem, **json.loads(changes))


def observed(
    problem: Problem,
    settings: Settings,
    solution: Solution,
    again: Again,
    *,
    grid: int | str,
    series_rtol: frozenset[float | None],
    paths: bool,
    bound: float | None = None,
) -> Record:
    """Measure a run in its process: metrics, counters, and its history if it is kept.

    bound: for an explicit method the step times eigenvalue up to which it is stable.
    """
    kept = settings.step is None and settings.rtol in series_rtol
    fine = _with_output(problem, solution, again, grid, finer=kept and paths)
    coarse = fine and replace(fine, t=fine.t[::FINER], y=fine.y[:, ::FINER]) if kept and paths else fine
    found = {f.name: getattr(solution, f.name) for f in fields(Stats)}
    found |= {"t_reached": solution.t[-1] if len(solution.t) else None, "t_end": problem.t_span[1]}
    found |= measure.metrics(problem, settings, solution, coarse)
    if bound is not None and settings.step is None:
        found |= {"h_lambda": stability.measured(problem, solution), "h_lambda_bound": bound}
    history = series.over_time(problem, solution) if kept else {}
    history |= series.trajectories(problem, fine) if kept and paths and fine else {}
    history |= series.nets(problem, solution)
    return record.plain({"metrics": found, "series": history})


def _with_output(
    problem: Problem, solution: Solution, again: Again, grid: int | str, *, finer: bool
) -> Solution | None:
    """Return the run where errors are taken: points of its own, or output times it interpolates."""
    if not solution.success:
        return None
    if grid == "steps" and not finer:
        some = np.unique(
            np.linspace(0, len(solution.t) - 1, min(MOST_POINTS, len(solution.t) - 1) + 1).round().astype(int)
        )
        return replace(solution, t=solution.t[some], y=solution.y[:, some])
    if not finer and len(solution.t) > 2 and (problem.reference is None or problem.reference.exact is None):
        return None  # nothing would be compared
    count = USUAL if grid == "steps" else int(grid)
    served = again(t_eval=output_times(problem.t_span, solution.t, count * (FINER if finer else 1)))
    return served if served.success else None


def output_times(span: tuple[float, float], points: Array, count: int) -> Array:
    """Return count + 1 times over the span, at equal distances, or in equal ratios if a run is early."""
    lengths = np.abs(points - span[0])
    if len(points) <= 2 or np.median(lengths) > EARLY * abs(span[1] - span[0]):
        return np.linspace(*span, count + 1)
    direction = np.sign(span[1] - span[0])
    later = span[0] + direction * np.geomspace(lengths[1], abs(span[1] - span[0]), count)
    later[-1] = span[1]
    return np.concatenate([[span[0]], later])


def _stored(sweep: Sweep, setting: Setting, found: Finding, spent: float) -> list[Record]:
    """Return the series of a run, and last the run: that is what a later bench takes for done."""
    status = {Reason.FINISHED: "ok", Reason.UNSUPPORTED: "unsupported"}.get(found.reason, "failed")
    what = found.observed or {"metrics": {}, "series": {}}
    ended = {"status": status, "reason": found.reason.value, "message": found.message}
    costs = {"repeats": len(found.wall), "memory_bytes": found.memory, "spent": spent}
    costs |= {"compile_seconds": found.prepare_seconds}
    for clock, seconds in (("wall", found.wall), ("cpu", found.cpu)):
        costs |= {f"{clock}_min": min(seconds, default=None), f"{clock}_median": _median(seconds)}
    row = _row(sweep, setting, **ended, **what["metrics"], **costs)
    about = {"study": sweep.study, "run": row["key"], "date": row["date"]}
    histories = [
        record.make("series", **about, name=name, t=t, values=values)
        for name, (t, values) in what["series"].items()
    ]
    return [*histories, row]


def _row(sweep: Sweep, setting: Setting, **results: Any) -> Record:
    return record.make("run", **identity(sweep, setting), **results)


def _median(seconds: tuple[float, ...]) -> float | None:
    return float(np.median(seconds)) if seconds else None
