"""Who reaches the accuracy asked for, at which tolerance, and in how much processor time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from herk.bench.agreement import Agreement, Candidate, difference
from herk.bench.recommend.trial import Run
from herk.core import Reason

GIVEN_UP = "given up:"  # how the note of a solver begins that was too slow to go on
# HERK starts anew at a switch with consistent values; it is chosen if it takes at most so many times as long
RESTART_PRICE = 3.0


@dataclass(frozen=True)
class Measured:
    """A run with its error."""

    run: Run
    error: float


@dataclass(frozen=True)
class Trial:
    """All runs of one candidate, tolerances falling; `note` says why there are none or no more."""

    candidate: Candidate
    runs: tuple[Measured, ...] = ()
    prepare_seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One line of the ranking; who does not reach the accuracy has a best run and no rank."""

    solver: str
    form: str
    rank: int | None
    rtol: float | None
    error: float | None
    seconds: float | None
    nstep: int | None
    nfev: int | None
    drift: float | None
    prepare_seconds: float
    note: str = ""


def measured(runs: Sequence[Run], reference: Agreement, sizes: Sequence[float]) -> tuple[Measured, ...]:
    """Return the runs with their errors; failed ones have none."""
    return tuple(
        Measured(run, float(difference(run.y, reference.y, sizes).max()) if run.success else math.inf)
        for run in runs
    )


def reached(trial: Trial, wanted: float) -> Measured | None:
    """Return the run with the loosest tolerance at which the error is small enough.

    And stays so at every tighter one.

    One lucky run proves nothing: errors of adaptive runs scatter by a decade when the tolerance moves a
    little. A tighter run that was cut off by its time limit says nothing about the accuracy.
    """
    best = None
    for each in reversed([each for each in trial.runs if each.run.reason is not Reason.TIME_LIMIT]):
        if not each.error <= wanted:
            break
        best = each
    return best


def ranking(trials: Sequence[Trial], wanted: float) -> tuple[Row, ...]:
    """Return a row for every candidate: the fastest first, then those that fall short, then those not run."""
    found = [(trial, reached(trial, wanted)) for trial in trials]
    winners = sorted(((trial, at) for trial, at in found if at), key=lambda pair: pair[1].run.seconds)
    rows = [_row(trial, at, rank, _merit(trial)) for rank, (trial, at) in enumerate(winners, 1)]
    short = [
        (trial, min(trial.runs, key=lambda each: each.error))
        for trial, at in found
        if at is None and trial.runs
    ]
    rows += [
        _row(trial, at, None, _shortfall(trial, at))
        for trial, at in sorted(short, key=lambda pair: pair[1].error)
    ]
    rows += [_row(trial, None, None, trial.note) for trial, at in found if at is None and not trial.runs]
    return tuple(rows)


def choose(rows: Sequence[Row], *, restarts: bool) -> Row | None:
    """Return the row to recommend: the fastest, or HERK where a solution is to be pieced together."""
    ranked = [row for row in rows if row.rank]
    if not ranked:
        return None
    ours = next(
        (row for row in ranked if row.solver.startswith("herk_") and row.form == "overdetermined"), None
    )
    affordable = (
        restarts and ours is not None and (ours.seconds or 0.0) <= RESTART_PRICE * (ranked[0].seconds or 0.0)
    )
    return ours if affordable else ranked[0]


def _merit(trial: Trial) -> str:
    """Return the note of a solver that got there; that tighter runs were too slow is no blame."""
    return "" if trial.note.startswith(GIVEN_UP) else trial.note


def _shortfall(trial: Trial, best: Measured) -> str:
    if trial.note.startswith(GIVEN_UP):
        return trial.note
    if not best.run.success:
        return best.run.message or best.run.reason.value
    failed = next((each.run for each in trial.runs if not each.run.success), None)
    why = f"at rtol {failed.rtol:.0e}: {failed.message}" if failed else trial.note
    return f"does not reach the accuracy; {why}" if why else "does not reach the accuracy"


def _row(trial: Trial, at: Measured | None, rank: int | None, note: str) -> Row:
    solver, form = trial.candidate
    if at is None or not at.run.success:
        return Row(solver, form, *[None] * 7, trial.prepare_seconds, note)
    run = at.run
    drift = None if math.isnan(run.drift) else run.drift
    numbers = (run.rtol, at.error, run.seconds, run.nstep, run.nfev, drift)
    return Row(solver, form, rank, *numbers, trial.prepare_seconds, note)
