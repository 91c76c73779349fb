"""Solves in processes of their own: a hang, a crash or a flood of memory costs one result and nothing else.

A process takes a whole sweep of settings, because what costs time is its start and the preparation. If it
dies, the setting it was at is a failure, and another process takes the rest.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pkgutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing.connection import Connection
from multiprocessing.process import current_process
from typing import Any

import baselines
from herk.bench.runner import worker
from herk.bench.runner.worker import Finding, Work
from herk.core import Problem, Reason, Settings, Solution, Solver

GRACE = (
    60.0  # seconds until a process that does not honour its time limit itself is ended; it may be compiling
)
GOODBYE = 2.0  # seconds to end when asked to
PREPARE_LIMIT = 300.0  # seconds for derivation and compilation
OBSERVE_LIMIT = 60.0  # seconds for measuring, another solve with output times included
MEMORY_LIMIT = 4e9  # bytes beyond what the process has at the start
MOST_LATE = 3  # runs in a row that may run out of time before one has succeeded
MOST_DEATHS = 3  # processes that one sweep may cost
_STARTING = threading.Lock()  # several sweeps may be waited for in threads
_STARTED: set[Any] = set()  # processes that are waited for at the moment
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class NotSentError(Exception):
    """What was to be done in another process could not be sent there."""


@dataclass(frozen=True)
class Outcome:
    """What came back: the solution (without dense output), seconds of every run, seconds of preparation.

    Never an exception.
    """

    solution: Solution
    seconds: tuple[float, ...] = ()
    prepare_seconds: float = float("nan")

    @property
    def success(self) -> bool:
        """Tell whether the run reached its end."""
        return self.solution.success


def solve(
    solver: Solver,
    problem: Problem,
    form: str,
    settings: Settings,
    *,
    repeats: int = 1,
    memory_limit: float = MEMORY_LIMIT,
) -> Outcome:
    """Prepare and solve in a process of its own.

    Settings.time_limit holds for each run, and is enforced from outside.
    """
    work = Work(
        partial(_given, solver, problem), form, (settings,), _solution, repeats, memory_limit=memory_limit
    )
    [(_, found)] = sweep(work)
    solution = (
        found.observed if found.observed is not None else worker.failed(problem, found.reason, found.message)
    )
    return Outcome(
        solution, found.wall, float("nan") if found.prepare_seconds is None else found.prepare_seconds
    )


def sweep(work: Work) -> Iterator[tuple[int | None, Finding]]:
    """Yield (number of the setting, finding) as settings end; number None stands for all settings left.

    Settings are ordered, cheap ones first.

    The rest is not run when a setting hangs, when it runs out of time after a cheaper one succeeded, or when
    several in a row run out of time: a loose tolerance alone may cost more than a tight one, because a run
    that goes astray never ends.
    """
    left, deaths, late, solved = list(range(len(work.settings))), 0, 0, work.solved
    while left:
        for number, found in _session(work, tuple(left)):
            yield number, found
            if number is None:
                return
            left.remove(number)
            solved = solved or found.reason is Reason.FINISHED
            deaths += found.reason is Reason.CRASHED
            late = late + 1 if found.reason is Reason.TIME_LIMIT else 0
            hung = late and found.observed is None
            if left and (late >= (1 if solved or hung else MOST_LATE) or deaths >= MOST_DEATHS):
                why = "a cheaper setting ran out of time" if late else f"the process died {deaths} times"
                yield None, Finding(found.reason, f"Not run: {why}.")
                return


def call(function: Callable[[], Any], limit: float = PREPARE_LIMIT) -> tuple[Any, str]:
    """Return what a function returns in a process of its own, and an empty text.

    Or None and in words why there is nothing.
    """
    with _started(worker.answer, function) as (pipe, process):
        try:
            return pipe.recv() if pipe.poll(limit) else (None, f"It took longer than {limit:g} s.")
        except (EOFError, OSError):
            process.join(GOODBYE)
            return None, _last_words(process.exitcode)


def hang_up() -> None:
    """Ask every process that is waited for to end; whoever waits hears of its death."""
    for process in tuple(_STARTED):
        with contextlib.suppress(ValueError):  # it has ended meanwhile
            process.terminate()


def _session(work: Work, todo: Sequence[int]) -> Iterator[tuple[int | None, Finding]]:
    """Start one process and pass on what it reports, until it is done or dead."""
    try:
        with _started(worker.serve, work, todo) as (pipe, process):
            yield from _listen(pipe, process, work)
    except NotSentError as error:
        yield None, Finding(Reason.EXCEPTION, f"The solver could not be sent to its process: {error}")


@contextlib.contextmanager
def _started(target: Callable[..., None], *content: Any) -> Iterator[tuple[Connection, Any]]:
    """Start a process that reports through a pipe; it is ended when it is no longer listened to."""
    context = _context()
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=target, args=(theirs, {**os.environ, **ONE_THREAD}, *content), daemon=True
    )
    with mine:
        with theirs, _STARTING, _one_thread(), _allowed_to_have_children():
            try:
                process.start()
            except Exception as error:  # noqa: BLE001 - a solver that cannot be pickled
                raise NotSentError(f"{type(error).__name__}: {error}") from None
        try:
            _STARTED.add(process)
            yield mine, process
        finally:
            _STARTED.discard(process)
            _end(process)


def _listen(pipe: Connection, process: Any, work: Work) -> Iterator[tuple[int | None, Finding]]:
    """Pass on findings; what is silent for too long is late, what hangs up has died."""
    number: int | None = None
    prepared: float | None = None
    patience: float | None = PREPARE_LIMIT
    while True:
        try:
            if not pipe.poll(patience):
                what = "preparing" if number is None else "solving"
                yield (
                    number,
                    Finding(
                        Reason.TIME_LIMIT, f"The process was ended: {what} took longer than {patience:g} s."
                    ),
                )
                return
            kind, content = pipe.recv()
        except (EOFError, OSError):
            process.join(GOODBYE)
            yield number, Finding(Reason.CRASHED, _last_words(process.exitcode))
            return
        if kind == "prepared":
            prepared = content
        elif kind == "begins":
            number, limit = content, work.settings[content].time_limit
            patience = None if limit is None else limit + GRACE
        elif kind == "ended":
            yield number, replace(content, prepare_seconds=prepared)
            number = None
        elif kind == "whole":
            yield None, content
        elif kind == "observes":
            patience = OBSERVE_LIMIT
        if kind in ("whole", "done"):
            return


def _last_words(code: int | None) -> str:
    if code is not None and code < 0:
        return f"The process was killed by signal {signal.Signals(-code).name}."
    return f"The process ended without a result, exit code {code}."


def _end(process: Any) -> None:
    """End the process we started, politely if it lets us."""
    if process.is_alive():
        process.terminate()
        process.join(GOODBYE)
    if process.is_alive():
        process.kill()
    process.join()
    process.close()


@cache
def _context() -> Any:
    """Return a way to start processes.

    Forked from a server that has imported everything, so that a start takes milliseconds.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    own = [f"baselines.{module.name}" for module in pkgutil.iter_modules(baselines.__path__)]
    context.set_forkserver_preload(
        [
            "herk.bench.runner.run",
            "testset",
            "herk.model.regularize",
            "herk.model.forms",
            "herk.integrate.solve",
            *own,
        ]
    )
    return context


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let libraries of a process that starts now use one thread: they look when they are loaded."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _allowed_to_have_children() -> Iterator[None]:
    """Lift the ban that daemonic processes, such as workers of Dask, have on children.

    Ours end with their parent in any case.
    """
    config = current_process()._config  # type: ignore[attr-defined]
    before = config.get("daemon", False)
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = before


def _given(solver: Solver, problem: Problem) -> tuple[Solver, Problem]:
    return solver, problem


def _solution(problem: Problem, settings: Settings, solution: Solution, again: Any) -> Solution:  # noqa: ARG001
    return solution
