"""A study carried out: what is left to do is run, and every record is on disk before the next one is made."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import baselines
import testset
from herk.bench import describe, environment, estimate, plugins, record, store, sweeps
from herk.bench.progress import Progress
from herk.bench.record import Record
from herk.bench.runner import pool, process, run
from herk.bench.store import Store
from herk.bench.study import Study
from herk.bench.sweeps import Choice, Sweep

Say = Callable[[str], None]
Place = tuple[str, str, tuple[str, ...]]  # problem, its changed parameters, files of the user
MEASURED = ("run", "series")  # a run that is made again brings its own curves, those of the failed one go
SAME = ("herk", "commit")  # a description made by another state of the program is made again


@dataclass
class Tally:
    """What a session did: runs by status, and runs that were there already."""

    wanted: int = 0
    before: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def ran(self) -> int:
        """Return the number of runs of this session."""
        return self.counts.total()

    def __str__(self) -> str:
        """Say it in words."""
        made = (
            ", ".join(f"{count} {status}" for status, count in sorted(self.counts.items())) or "nothing new"
        )
        return f"{made}; {self.before} were there before" if self.before else made


def carry_out(
    study: Study,
    choice: Choice,
    out: Path,
    *,
    say: Say,
    jobs: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    whole: bool = True,
) -> Tally:
    """Run what is left of a study, or all of it anew.

    whole: problems of the test set that take no part are described too, so that the report tells of them all.
    """
    kept = Store(out / store.NAME)
    with store.alone(out, say):
        known, notes = kept.read()
        for note in notes:
            say(note)
        every = sweeps.expand(study, choice)
        done = set() if fresh else finished(known)
        todo = [left for sweep in every if (left := run.remaining(sweep, done)) is not None]
        wanted = sum(len(sweep.settings) for sweep in every)
        tally = Tally(wanted, before=wanted - sum(len(sweep.settings) for sweep in todo))
        jobs = jobs or (1 if study.timed else os.cpu_count() or 1)
        expected = estimate.from_records(known)
        announce(study, every, todo, expected, jobs, cluster, say)
        more = others(every, choice, known) if whole else []
        kept.append(_changed(descriptions(todo, more, study.name, say), known))
        keys = set() if fresh else {rec["key"] for rec in known}
        with Progress(study.name, todo, expected) as progress:
            for sweep, batch in pool.batches(todo, jobs, cluster) if todo else ():
                kept.append(rec for rec in batch if rec["kind"] in MEASURED or rec["key"] not in keys)
                tally.counts.update(rec["status"] for rec in batch if rec["kind"] == "run")
                progress.advance(sweep, batch)
    return tally


def finished(records: Iterable[Record]) -> set[str]:
    """Return the keys of runs not to be run again: ok, unsupported, or of solvers still not installed."""
    runs = [rec for rec in store.latest(records) if rec["kind"] == "run"]
    absent = {
        name
        for name in {rec["solver"] for rec in runs}
        if name in baselines.names() and not baselines.get(name).available()[0]
    }
    return {
        rec["key"]
        for rec in runs
        if rec["status"] in run.DONE or (rec["status"] == "unavailable" and rec["solver"] in absent)
    }


def announce(
    study: Study,
    every: Sequence[Sweep],
    todo: Sequence[Sweep],
    expected: estimate.Estimate,
    jobs: int,
    cluster: str | None,
    say: Say,
) -> None:
    """Say what is going to happen, and how long it will take."""
    count, whole = (sum(len(sweep.settings) for sweep in part) for part in (todo, every))
    if not todo:
        say(
            f"{study.name}: all {whole} runs are there already; --fresh runs them again."
            if every
            else f"{study.name}: nothing to run."
        )
        return
    basis = (
        "from earlier runs"
        if expected.seen(todo) > 0.5
        else "a rough guess; code that must be compiled comes on top"
    )
    there = f", {whole - count} are there already" if whole > count else ""
    time, solvers = estimate.words(expected.total(todo, jobs)), len({sweep.solver for sweep in todo})
    say(
        f"{study.name}: {_counted(count, 'run')} of {_counted(solvers, 'solver')}{there}; about {time}"
        f" ({basis})."
    )
    if study.timed and (jobs > 1 or cluster):
        say(
            f"{study.name} is timed, and its processes share the machine: times are not to be trusted; --jobs"
            " 1 gives each run a core."
        )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def others(every: Sequence[Sweep], choice: Choice, known: Iterable[Record]) -> list[Place]:
    """Return the problems of the test set that take no part and are not described yet.

    A report tells of them all.

    None if problems were chosen: then the report is about those.
    """
    if not every or choice.problem or choice.tag or choice.own_problems:
        return []
    now = environment.fields()
    told = {
        (rec["problem"], rec["changes"])
        for rec in known
        if rec["kind"] == "problem" and all(rec[name] == now[name] for name in SAME)
    }
    taking_part = {(sweep.problem, sweep.changes) for sweep in every}
    return [
        (name, "{}", choice.files)
        for name in testset.names()
        if (name, "{}") not in told | taking_part and not testset.further(name)
    ]


def descriptions(todo: Sequence[Sweep], more: Sequence[Place], study: str, say: Say) -> list[Record]:
    """Return records of solvers and problems that take part, each looked at in a process of its own."""
    made = [
        record.make("solver", study=study, **describe.solver(name))
        for name in dict.fromkeys(sweep.solver for sweep in todo)
    ]
    places = [*dict.fromkeys((sweep.problem, sweep.changes, sweep.files) for sweep in todo), *more]
    if more:
        say(f"{study}: for the report, a look at {_counted(len(more), 'problem')} of the test set besides.")
    found = Parallel(n_jobs=os.cpu_count() or 1, backend="threading")(
        delayed(process.call)(partial(_described, *each)) for each in places
    )
    for (problem, changes, _), (about, why) in zip(places, found, strict=True):
        if about is None:
            say(f"Problem {problem!r} cannot be described: {why}")
        else:
            made.append(record.make("problem", study=study, problem=problem, changes=changes, **about))
    return made


def _described(problem: str, changes: str, files: tuple[str, ...]) -> Record:
    plugins.load(files)
    return describe.problem(testset.get(problem, **json.loads(changes)))


def _changed(made: Iterable[Record], known: Iterable[Record]) -> list[Record]:
    """Return the records that say something that the latest ones of the same key do not."""
    before = {rec["key"]: _content(rec) for rec in store.latest(known)}
    return [rec for rec in made if before.get(rec["key"]) != _content(rec)]


def _content(rec: Record) -> dict[str, Any]:
    return {name: value for name, value in rec.items() if name in SAME or name not in record.ALWAYS}
