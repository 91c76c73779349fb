"""One solve in a process of its own: a hang, a crash or a flood of memory costs one result and nothing else."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import resource
import signal
import time
from dataclasses import dataclass, fields
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from herk.core import Problem, Reason, Settings, Solution, Solver, Stats
from herk.core.dae import Array

GRACE = 2.0  # seconds a solver may take to honour its time limit itself before its process is ended
PREPARE_LIMIT = 300.0  # seconds for derivation and compilation
MEMORY_LIMIT = 4e9  # bytes beyond what the process has at the start


@dataclass(frozen=True)
class Outcome:
    """What came back: the solution (without dense output), seconds of every run, seconds of preparation; never an exception."""

    solution: Solution
    seconds: tuple[float, ...] = ()
    prepare_seconds: float = math.nan

    @property
    def success(self) -> bool:
        """Tell whether the run reached its end."""
        return self.solution.success


def solve(
    solver: Solver, problem: Problem, form: str, settings: Settings, *, repeats: int = 1, memory_limit: float = MEMORY_LIMIT
) -> Outcome:
    """Prepare and solve in a fresh process; settings.time_limit holds for each run, and is enforced from outside."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(theirs, solver, problem, form, settings, repeats, memory_limit), daemon=True)
    try:
        worker.start()
    except Exception as error:  # noqa: BLE001 - a solver that cannot be pickled
        return Outcome(_failed(problem, Reason.EXCEPTION, f"The solver could not be sent to its process: {type(error).__name__}: {error}"))
    finally:
        theirs.close()
    try:
        return _listen(mine, worker, problem, settings.time_limit)
    finally:
        _end(worker)
        mine.close()


def _listen(pipe: Connection, worker: Any, problem: Problem, limit: float | None) -> Outcome:
    """Wait for `prepared`, then for one message after every run; what is late is ended."""
    prepared, what = math.nan, "preparing"
    patience: float | None = PREPARE_LIMIT
    seconds: list[float] = []
    solution: Solution | None = None
    while True:
        if not pipe.poll(patience):
            message = f"The process was ended: {what} took longer than {patience:g} s."
            return Outcome(_kept(problem, solution, Reason.TIME_LIMIT, message), tuple(seconds), prepared)
        try:
            kind, content = pipe.recv()
        except (EOFError, OSError):
            worker.join(GRACE)
            return Outcome(_kept(problem, solution, Reason.CRASHED, _last_words(worker.exitcode)), tuple(seconds), prepared)
        if kind == "prepared":
            prepared, what, patience = content, "solving", None if limit is None else limit + GRACE
        elif kind == "run":
            solution, spent = content[0], content[1]
            seconds.append(spent)
        elif kind == "failed":
            return Outcome(_failed(problem, *content), tuple(seconds), prepared)
        else:
            return Outcome(solution or _failed(problem, Reason.EXCEPTION, "The process ran nothing."), tuple(seconds), prepared)


def _kept(problem: Problem, solution: Solution | None, reason: Reason, message: str) -> Solution:
    """Return the failure; a repetition that fails spoils the result, because it cannot be trusted."""
    return _failed(problem, reason, message if solution is None else f"{message} An earlier repetition ended otherwise.")


def _last_words(code: int | None) -> str:
    if code is not None and code < 0:
        return f"The process was killed by signal {signal.Signals(-code).name}."
    return f"The process ended without a result, exit code {code}."


def _failed(problem: Problem, reason: Reason, message: str) -> Solution:
    return Solution(t=np.empty(0), y=np.empty((len(problem.y0), 0)), reason=reason, message=message)


def _end(worker: Any) -> None:
    """End the process we started, politely if it lets us."""
    if worker.is_alive():
        worker.terminate()
        worker.join(GRACE)
    if worker.is_alive():
        worker.kill()
    worker.join()
    worker.close()


def _work(pipe: Connection, solver: Solver, problem: Problem, form: str, settings: Settings, repeats: int, memory_limit: float) -> None:
    """Run in the other process: every message is a tuple of plain values and arrays."""
    with contextlib.suppress(BrokenPipeError):
        try:
            _limit_memory(memory_limit)
            start = time.perf_counter()
            prepared = solver.prepare(problem, form)
            pipe.send(("prepared", time.perf_counter() - start))
            for _ in range(repeats):
                start = time.perf_counter()
                solution = solver.solve(prepared, settings)
                spent = time.perf_counter() - start
                pipe.send(("run", (checked(solution, problem), spent)))
        except MemoryError:
            pipe.send(("failed", (Reason.CRASHED, f"More than {memory_limit / 1e9:g} GB of memory were asked for.")))
        except BaseException as error:  # noqa: BLE001 - whatever a solver throws costs one result
            pipe.send(("failed", (Reason.EXCEPTION, f"{type(error).__name__}: {error}")))
        else:
            pipe.send(("done", None))


def _limit_memory(more: float) -> None:
    with contextlib.suppress(OSError, ValueError):  # systems without such limits go without
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (int(now + more), resource.getrlimit(resource.RLIMIT_AS)[1]))


def checked(solution: Any, problem: Problem) -> Solution:
    """Return the solution as arrays and counters only; what is no solution, or not finite, becomes a failure with a reason."""
    if not isinstance(solution, Solution):
        return _failed(problem, Reason.EXCEPTION, f"The solver returned {type(solution).__name__}, not a Solution.")
    t, y = _numbers(solution.t), _numbers(solution.y)
    counts = {f.name: int(getattr(solution, f.name)) for f in fields(Stats)}
    reason, message = solution.reason, solution.message
    if t is None or y is None or y.shape != (len(problem.y0), len(t)):
        return _failed(problem, Reason.EXCEPTION, "The solver returned points of a wrong shape.")
    if solution.success and not (len(t) and np.isfinite(t).all() and np.isfinite(y).all()):
        reason, message = Reason.NONFINITE, "The solver reported success, but its points are missing or not finite."
    return Solution(t=t, y=y, reason=reason, message=message, residual=float(solution.residual), **counts)


def _numbers(values: Any) -> Array | None:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None
