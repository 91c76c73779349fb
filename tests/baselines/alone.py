"""One solve in a process of its own, as the bench makes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from herk.bench.runner import process, worker
from herk.bench.runner.worker import Work
from herk.core import Problem, Settings, Solution, Solver


@dataclass(frozen=True)
class Outcome:
    """What came back: a solution whatever happened, and the seconds of every run and of preparing."""

    solution: Solution
    seconds: tuple[float, ...]
    prepare_seconds: float | None


def solve(solver: Solver, problem: Problem, form: str, settings: Settings, repeats: int = 1) -> Outcome:
    [(_, found)] = process.sweep(Work(partial(given, solver, problem), form, (settings,), solution, repeats))
    failed = worker.failed(problem, found.reason, found.message)
    return Outcome(found.observed or failed, found.wall, found.prepare_seconds)


def given(solver: Solver, problem: Problem) -> tuple[Solver, Problem]:
    return solver, problem


def solution(problem: Problem, settings: Settings, found: Solution, again: Any) -> Solution:
    return found
