"""Solves in processes of their own: a hang, a crash or a flood of memory costs one result and nothing else.

A process takes a whole sweep of settings, because what costs time is its start and the preparation. If it
dies, the setting it was at is a failure, and another process takes the rest.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pkgutil
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import current_process
from typing import Any

import baselines
from herk.bench.runner import worker
from herk.bench.runner.worker import Finding, Work
from herk.core import Reason

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


Report = tuple[str, Any]


class NotSentError(Exception):
    """What was to be done in another process could not be sent there."""


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


def reports(
    target: Callable[..., None],
    *content: Any,
    patience: Callable[[], float | None],
    memory_limit: float = MEMORY_LIMIT,
) -> Iterator[Report]:
    """Yield what `target(send, *content)` sends from a process of its own, and how that ended.

    The last report is ("done", None), ("failed", what was thrown), ("late", seconds) when nothing came for
    the seconds `patience` returns, or ("died", in which way). Whoever stops listening ends the process.
    """
    with _started(worker.begin, memory_limit, target, content) as (pipe, process):
        while True:
            seconds = patience()
            try:
                if not pipe.poll(seconds):
                    yield "late", seconds
                    return
                kind, what = pipe.recv()
            except (EOFError, OSError):
                process.join(GOODBYE)
                yield "died", _last_words(process.exitcode)
                return
            yield kind, what
            if kind in ("done", "failed"):
                return


def until(deadline: float) -> Callable[[], float]:
    """Return the patience of one who listens until a moment of time.monotonic()."""
    return lambda: max(0.0, deadline - time.monotonic())


def call(function: Callable[[], Any], limit: float = PREPARE_LIMIT) -> tuple[Any, str]:
    """Return what a function returns in a process of its own and no text, or None and in words why."""
    kind, what = next(reports(worker.answer, function, patience=lambda: limit))
    if kind == "answer":
        return what, ""
    return None, f"It took longer than {limit:g} s." if kind == "late" else what


def hang_up() -> None:
    """Ask every process that is waited for to end; whoever waits hears of its death."""
    for process in tuple(_STARTED):
        with contextlib.suppress(ValueError):  # it has ended meanwhile
            process.terminate()


def _session(work: Work, todo: Sequence[int]) -> Iterator[tuple[int | None, Finding]]:
    """Start one process and pass on what it finds; what is silent for too long is late."""
    number: int | None = None
    prepared: float | None = None
    limit = PREPARE_LIMIT

    def patience() -> float | None:
        least = min(limit, max(0.0, work.deadline - time.monotonic()))
        return None if least == math.inf else least

    try:
        for kind, what in reports(
            worker.serve, work, todo, patience=patience, memory_limit=work.memory_limit
        ):
            if kind == "prepared":
                prepared = what
            elif kind == "begins":
                number, own = what, work.settings[what].time_limit
                limit = math.inf if own is None else own + GRACE
            elif kind == "observes":
                limit = OBSERVE_LIMIT
            elif kind == "ended":
                yield number, replace(what, prepare_seconds=prepared)
                number = None
            elif kind == "whole":
                yield None, what
            elif kind in LAST_WORDS:
                yield number, LAST_WORDS[kind]("preparing" if number is None else "solving", what)
    except NotSentError as error:
        yield None, Finding(Reason.EXCEPTION, f"The solver could not be sent to its process: {error}")


# How a process that does not say "done" ends what it was at.
LAST_WORDS: dict[str, Callable[[str, Any], Finding]] = {
    "late": lambda doing, seconds: Finding(
        Reason.TIME_LIMIT, f"The process was ended: {doing} took longer than {seconds:.3g} s."
    ),
    "died": lambda _, words: Finding(Reason.CRASHED, words),
    "failed": lambda _, words: Finding(Reason.EXCEPTION, words),
}


@contextlib.contextmanager
def _started(target: Callable[..., None], *content: Any) -> Iterator[tuple[Connection, Any]]:
    """Start a process that reports through a pipe; it is ended when it is no longer listened to.

    Its temporary files, and those of what it starts, lie in a folder that goes with it.
    """
    context = _context()
    mine, theirs = context.Pipe(duplex=False)
    folder = tempfile.mkdtemp(prefix="herk_run_")
    environment = {**os.environ, **ONE_THREAD, "TMPDIR": folder}
    process = context.Process(target=target, args=(theirs, environment, *content), daemon=True)
    with mine:
        with theirs, _STARTING, _one_thread(), _allowed_to_have_children():
            try:
                process.start()
            except Exception as error:  # noqa: BLE001 - a solver that cannot be pickled
                shutil.rmtree(folder, ignore_errors=True)
                raise NotSentError(f"{type(error).__name__}: {error}") from None
        try:
            _STARTED.add(process)
            yield mine, process
        finally:
            _STARTED.discard(process)
            _end(process)
            shutil.rmtree(folder, ignore_errors=True)


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
    """Return a way to start processes in milliseconds: forks of a server that has imported everything."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    own = [f"baselines.{module.name}" for module in pkgutil.iter_modules(baselines.__path__)]
    context.set_forkserver_preload(
        [
            "herk.bench.runner.run",
            "testset",
            "herk.model.index_reduction.regularize",
            "herk.model.forms.forms",
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
    """Lift the ban of daemonic processes, as workers of Dask, on children: ours end with their parent."""
    config = current_process()._config  # type: ignore[attr-defined]
    before = config.get("daemon", False)
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = before
