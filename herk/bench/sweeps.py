"""From a study to what is run: a sweep for each solver on each form of each problem."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache

import baselines
import testset
from herk.bench.record import canonical
from herk.bench.study import Case, Study, rounded
from herk.core import nearest


@dataclass(frozen=True)
class Setting:
    """One setting: tolerances or a fixed step; whether its history is kept."""

    rtol: float | None
    atol: float | None
    step: float | None
    series: bool = False


@dataclass(frozen=True)
class Sweep:
    """One solver on one form of one problem at several settings, cheap ones first: one process."""

    study: str
    problem: str
    changes: str
    form: str
    solver: str
    settings: tuple[Setting, ...]
    repeats: int
    repeat_seconds: float
    time_limit: float
    grid: int | str
    trajectories: bool
    options: str = "{}"
    files: tuple[str, ...] = ()
    solved: bool = False  # cheaper settings, left out because they are done, have succeeded


@dataclass(frozen=True)
class Choice:
    """What the command line asks for: patterns, a tag, and names that files of the user have added."""

    problem: tuple[str, ...] = ()
    solver: tuple[str, ...] = ()
    tag: str | None = None
    files: tuple[str, ...] = ()
    own_problems: tuple[str, ...] = ()
    own_solvers: tuple[str, ...] = ()


EVERYTHING = Choice()


def expand(study: Study, choice: Choice = EVERYTHING) -> list[Sweep]:
    """Return every sweep of the study, or of what is chosen.

    Patterns choose among all problems and solvers. One that no case of the study names is added to all its
    cases, a solver on every form it takes.
    """
    problems = (
        _chosen(choice.problem, testset.names(choice.tag), "problem")
        if choice.problem or choice.tag
        else None
    )
    solvers = _chosen(choice.solver, baselines.names(), "solver") if choice.solver else None
    if problems is None and choice.own_problems:
        problems = list(choice.own_problems)
    elif solvers is None and choice.own_solvers:
        solvers = list(choice.own_solvers)
    new_problems = _strangers(problems or (), [p for case in study.case for p in case.problem])
    asked = choice.own_solvers if solvers is None else solvers
    new_solvers = [name for name in asked if not any(_takes(case, name) for case in study.case)]
    sweeps: dict[Sweep, None] = {}
    for case in (_with_stand_ins(case, study.stand_in) for case in study.case):
        known = [
            name
            for name in testset.names()
            if _matches(name, case.problem) and (_asked(name, case) if problems is None else name in problems)
        ]
        for name, changes in [(p, c) for p in known for c in case.changes] + [(p, {}) for p in new_problems]:
            for solver, form, options in _pairs(case, solvers, new_solvers):
                place = _sweep(study, name, canonical(dict(changes)), solver, form, options, choice.files)
                if case.rtol or case.steps:
                    place = replace(place, settings=_settings_of(study, place, case.rtol, case.steps))
                sweeps[place] = None
    return list(sweeps)


def _asked(problem: str, case: Case) -> bool:
    """Tell whether a case means a problem that it matches; further ones must be named."""
    return problem in case.problem or not testset.further(problem)


def _takes(case: Case, solver: str) -> bool:
    """Tell whether a case means a solver."""
    return _matches(solver, case.solver) and (not case.tag or case.tag in baselines.get(solver).tags)


def _with_stand_ins(case: Case, stand_in: Mapping[str, str]) -> Case:
    """Return the case with others in addition to the solvers that are not installed."""
    missing = [name for name in case.solver if name in stand_in and not baselines.get(name).available()[0]]
    return replace(case, solver=(*case.solver, *(stand_in[name] for name in missing)))


def _pairs(
    case: Case, chosen: Sequence[str] | None, strangers: Sequence[str]
) -> Iterable[tuple[str, str, str]]:
    """Yield solver, form and options of a case; a stranger is taken on every form, as it is."""
    for name in baselines.names():
        solver = baselines.get(name)
        ours = (
            _takes(case, name)
            and (chosen is None or name in chosen)
            and case.adaptive in (None, solver.adaptive)
        )
        for form in solver.forms:
            if (ours and _matches(form, case.form)) or name in strangers:
                yield name, form, "{}" if name in strangers else canonical(dict(case.options))


def _sweep(
    study: Study, problem: str, changes: str, solver: str, form: str, options: str, files: tuple[str, ...]
) -> Sweep:
    sweep = Sweep(
        study.name, problem, changes, form, solver, (),
        study.repeats, study.repeat_seconds, study.time_limit, study.grid,
        _matches(solver, study.trajectories), options, files,
    )  # fmt: skip
    return replace(sweep, settings=_settings_of(study, sweep, study.rtol, study.steps))


def _settings_of(
    study: Study, sweep: Sweep, tolerances: Sequence[float], counts: Sequence[int]
) -> tuple[Setting, ...]:
    if not counts:
        return tuple(
            Setting(rtol, rounded(rtol * study.atol_per_rtol), None, rtol in study.series_rtol)
            for rtol in tolerances
        )
    t0, t1 = _span(sweep.problem, sweep.changes)
    return tuple(Setting(None, None, abs(t1 - t0) / count) for count in counts)


@lru_cache(maxsize=64)
def _span(problem: str, changes: str) -> tuple[float, float]:
    return testset.get(problem, **json.loads(changes)).t_span


def _chosen(patterns: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """Return the names that match; a pattern without a match is an error with the nearest names."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise nearest(pattern, known, what)
    return [name for name in known if not patterns or _matches(name, patterns)]


def _strangers(asked: Sequence[str], patterns: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(asked) if not _matches(name, patterns)]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
