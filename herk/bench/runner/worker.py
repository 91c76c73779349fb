"""Inside an isolated process: prepare once, then solve setting after setting and tell the parent."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from herk.bench.runner import orphans
from herk.core import Problem, Reason, Settings, Solution, Solver, Stats
from herk.core.dae import Array

Again = Callable[..., Solution]
Send = Callable[[str, Any], None]
WARM = 2.0  # seconds of a first run that is made again
OWN_CLOCK = "own_clock"  # the tag of solvers whose Solution.seconds is their time


@dataclass(frozen=True)
class Work:
    """One solver on one form of one problem, at several settings.

    `observe(problem, settings, solution, again)` turns a solution into what is sent back; `again(t_eval=...)`
    solves once more, untimed. When the timed runs have taken `long` seconds together, no more are made; a run
    as long as that is timed once, as it is observed. Runs of microseconds are repeated until they have taken
    `brief` seconds together: their first repetitions are slower than the others.
    """

    load: Callable[[], tuple[Solver, Problem]]
    form: str
    settings: tuple[Settings, ...]
    observe: Callable[[Problem, Settings, Solution, Again], Any]
    repeats: int = 1
    long: float = math.inf
    brief: float = 0.0
    memory_limit: float = 4e9
    solved: bool = False  # a cheaper setting than these has succeeded
    deadline: float = math.inf  # of time.monotonic(), at which all of it ends


@dataclass(frozen=True)
class Finding:
    """How one setting ended: observation, wall and processor seconds, growth of memory, words."""

    reason: Reason
    message: str
    observed: Any = None
    wall: tuple[float, ...] = ()
    cpu: tuple[float, ...] = ()
    memory: int | None = None
    prepare_seconds: float | None = None
    spent: float = 0.0  # processor seconds of all that the setting took


def begin(
    pipe: Connection,
    environment: dict[str, str],
    memory_limit: float,
    target: Callable[..., None],
    content: tuple[Any, ...],
) -> None:
    """Call target(send, *content), then send "done", or "failed" with what was thrown in words."""
    settle(environment, memory_limit)

    def send(kind: str, what: Any) -> None:
        pipe.send((kind, what))

    with contextlib.suppress(BrokenPipeError), threadpool_limits(1):
        try:
            target(send, *content)
            send("done", None)
        except BrokenPipeError:
            raise
        except BaseException as error:  # noqa: BLE001 - a solver or a file of the user may throw anything
            send("failed", f"{type(error).__name__}: {error}")


def serve(send: Send, work: Work, todo: Sequence[int]) -> None:
    """Prepare, then report every setting of `todo` as it ends; whatever is thrown costs one finding."""
    try:
        solver, problem = work.load()
        supported, why = solver.supports(problem, work.form)
        if not supported:
            send("whole", Finding(Reason.UNSUPPORTED, why))
            return
        start = time.perf_counter()
        prepared = solver.prepare(problem, work.form)
        send("prepared", time.perf_counter() - start)
    except BaseException as error:  # noqa: BLE001 - a foreign library may throw anything
        send("whole", _thrown(error, work))
        return
    ready, patient = _Ready(send, work, solver, problem, prepared), True
    for number in todo:
        send("begins", number)
        start = time.process_time()
        found = ready.one(work.settings[number], patient, cold=number == todo[0])
        send("ended", replace(found, spent=time.process_time() - start))
        patient = patient and found.reason is not Reason.TIME_LIMIT


def answer(send: Send, function: Callable[[], Any]) -> None:
    """Send what a function returns."""
    send("answer", function())


@dataclass(frozen=True)
class _Ready:
    """A solver prepared for its problem."""

    send: Send
    work: Work
    solver: Solver
    problem: Problem
    prepared: Any

    def one(self, settings: Settings, patient: bool, cold: bool) -> Finding:
        """Observe one run, which also warms up.

        Then time others that are not slowed down by a watch on their time.

        A run that compiled what is needed only at this setting is made again, so that compiling never counts
        as solving; one that was late gets this second chance with patience only. The first run of a process
        is made again, too, unless it is long: it may have loaded and compiled what nobody sees.
        """
        try:
            with _peak() as grown, _compilations() as compiled:
                solution, *first = self.timed(settings)
            again = solution.success or (bool(compiled) and solution.reason is Reason.TIME_LIMIT and patient)
            if again and (compiled or (cold and self.work.repeats > 1 and first[0] < WARM)):
                solution, *first = self.timed(settings)
            times = [tuple(first)]
            if solution.success and self.work.repeats > 1 and first[0] < self.work.long:
                times = self.repeated(settings)
            self.send("observes", None)
            observed = self.work.observe(self.problem, settings, solution, partial(self.again, settings))
        except BaseException as error:  # noqa: BLE001 - whatever a solver throws costs one finding
            return _thrown(error, self.work)
        wall, cpu = zip(*times, strict=True)
        return Finding(solution.reason, solution.message, observed, wall, cpu, grown[0])

    def timed(self, settings: Settings) -> tuple[Solution, float, float]:
        """Return the solution, wall and processor seconds."""
        self.send("alive", None)
        wall, cpu = time.perf_counter(), time.process_time()
        raw = self.solver.solve(self.prepared, settings)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        if OWN_CLOCK in self.solver.tags:  # it works in a program of its own, whose start is not its work
            wall = cpu = float(getattr(raw, "seconds", None) or wall)
        return checked(raw, self.problem), wall, cpu

    def repeated(self, settings: Settings) -> list[tuple[float, float]]:
        """Return wall and processor seconds of runs that must succeed, as one has before."""
        times: list[tuple[float, float]] = []
        begun, spent = time.perf_counter(), 0.0
        while spent < self.work.brief or (len(times) < self.work.repeats and spent < self.work.long):
            solution, wall, cpu = self.timed(replace(settings, time_limit=None))
            if not solution.success:
                raise RuntimeError(f"A repetition of a run that had succeeded failed: {solution.message}")
            times.append((wall, cpu))
            spent = time.perf_counter() - begun
        return times

    def again(self, settings: Settings, **changes: Any) -> Solution:
        """Solve once more, with other output times."""
        return checked(self.solver.solve(self.prepared, replace(settings, **changes)), self.problem)


def _thrown(error: BaseException, work: Work) -> Finding:
    if isinstance(error, MemoryError):
        return Finding(Reason.CRASHED, f"More than {work.memory_limit / 1e9:g} GB of memory were asked for.")
    return Finding(Reason.EXCEPTION, f"{type(error).__name__}: {error}")


def settle(environment: dict[str, str], memory_limit: float) -> None:
    """Be quiet, leave Ctrl-C to the parent, die with it and all children, and stay within the memory."""
    os.environ.update(environment)
    tempfile.tempdir = None  # the server this process was forked from may have looked at its own
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orphans.die_with_parent()
    orphans.take_children_along(environment["TMPDIR"])
    with contextlib.suppress(OSError, AttributeError, TypeError):
        os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined] # the server ends when the bench alone does
    with contextlib.suppress(OSError, ValueError):  # systems without such limits go without
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(
            resource.RLIMIT_AS, (int(now + memory_limit), resource.getrlimit(resource.RLIMIT_AS)[1])
        )


@contextlib.contextmanager
def _compilations() -> Iterator[list[Any]]:
    """Give a list of what numba compiles meanwhile; what it finds on disk does not count."""
    from numba.core.event import install_recorder

    with install_recorder("numba:compile") as recorder:
        yield recorder.buffer


@contextlib.contextmanager
def _peak() -> Iterator[list[int | None]]:
    """Tell by how many bytes the resident memory grew at most, None where the system does not say."""
    grown: list[int | None] = [None]
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
    before = _status("VmRSS")
    yield grown
    after = _status("VmHWM")
    grown[0] = None if before is None or after is None else max(0, after - before)


def _status(name: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), None)


def checked(solution: Any, problem: Problem) -> Solution:
    """Return the solution as arrays and counters; what is none, or not finite, becomes a failure."""
    if not isinstance(solution, Solution):
        return failed(
            problem, Reason.EXCEPTION, f"The solver returned {type(solution).__name__}, not a Solution."
        )
    t, y = _numbers(solution.t), _numbers(solution.y)
    counts = {f.name: int(getattr(solution, f.name)) for f in fields(Stats)}
    reason, message = solution.reason, solution.message
    if t is None or y is None or y.shape != (len(problem.y0), len(t)):
        return failed(problem, Reason.EXCEPTION, "The solver returned points of a wrong shape.")
    if solution.success and not (len(t) and np.isfinite(t).all() and np.isfinite(y).all()):
        reason, message = (
            Reason.NONFINITE,
            "The solver reported success, but its points are missing or not finite.",
        )
    kept = {"residual": float(solution.residual), "selections": tuple(solution.selections)}
    return Solution(t=t, y=y, reason=reason, message=message, **kept, **counts)


def failed(problem: Problem, reason: Reason, message: str) -> Solution:
    """Return a solution without points."""
    return Solution(t=np.empty(0), y=np.empty((len(problem.y0), 0)), reason=reason, message=message)


def _numbers(values: Any) -> Array | None:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None
