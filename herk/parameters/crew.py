"""Threads that share the members of an ensemble: batches of compiled runs, the rest one by one."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from herk.core import HerkError, Reason, Solution
from herk.core.dae import Array
from herk.integrate.batch import Batch, suits
from herk.integrate.prepared import Prepared, prepare
from herk.linalg.threads import one_thread
from herk.model.start import consistent_start
from herk.parameters.ensemble import Ensemble
from herk.parameters.table import Table

PATIENCE, SHORTEST = (
    0.05,
    0.002,
)  # seconds of a batch: so long Ctrl-C waits; a shorter one is not worth its call
LARGEST, GROWTH = 256, 4  # members of a batch, and how much more of them the next may have
SHARE = 2  # batches are no longer than this part of what is left for each thread, so that all end together
REACHED = "The end of the span was reached."


class Crew:
    """The members, what was found of them so far, and who works on the others."""

    def __init__(
        self, table: Table, span: tuple[float, float], times: Array, options: dict[str, Any], shown: bool
    ) -> None:
        """Make room for the results."""
        self.table, self.span, self.times, self.options, self.shown = table, span, times, options, shown
        count, n = table.size, len(table.names)
        self.y = np.full((count, n, times.size), np.nan)
        self.reasons: list[Reason] = [Reason.INTERRUPTED] * count
        self.messages = ["Interrupted before this member was solved."] * count
        self.nstep, self.residual = np.zeros(count, dtype=np.int64), np.zeros(count)
        self.left: list[int] = []  # to be done one by one
        self.refused: list[int] = []  # for their starts
        self.y0 = table.y0.copy()
        self.queue = np.arange(count)
        self._next, self._lock, self._stop = 0, threading.Lock(), False
        self._done = 0
        self._share, self._moved = 1, False

    def work(self, threads: int) -> Ensemble:
        """Solve all members; an interrupt carries what was computed."""
        started = time.perf_counter()
        try:
            with one_thread(len(self.table.names)), self.bar() as bar:
                self._solve(threads, bar)
                self.show(bar)
        except KeyboardInterrupt as error:
            error.solution = self.result(time.perf_counter() - started)  # type: ignore[attr-defined]
            raise
        return self.result(time.perf_counter() - started)

    def result(self, seconds: float | None = None) -> Ensemble:
        """Return what was found so far."""
        table = self.table
        how = tuple(self.reasons), tuple(self.messages), self.nstep, self.residual
        return Ensemble(self.times, self.y, table.names, table.given, *how, seconds, table.shape)

    def _solve(self, threads: int, bar: Any) -> None:
        prepared = self._prepared()
        if prepared is None:
            return
        if suits(prepared):
            crew = self._crew(prepared, min(threads, max(self.table.size - self._next, 1)))
            self._batches(crew, bar)
            if crew[0].repairs:
                self._again(crew, bar, sorted(self.refused), moved=True)
            self._again(crew, bar, self._repaired())
            self.left += self.refused
        else:
            self.left += range(self._next, self.table.size)
        for k in sorted(self.left):
            self._one(prepared, k)
            self.show(bar)

    def _prepared(self) -> Prepared | None:
        """Return a machine made for the first member that has a start; those before it have failed."""
        how = {"consistent": "project"} | self.options | {"t_eval": self.times}
        for k in range(self.table.size):
            values = self.table.parameters(k) if self.table.known else None
            try:
                return prepare(self.table.system, self.span, self.table.start(k), parameters=values, **how)
            except HerkError as error:
                if not _is_about_member(error):
                    raise
                self._fail(k, error)
                self._next = k + 1
        return None

    def _crew(self, prepared: Prepared, threads: int) -> list[Batch]:
        """Return a machine for every thread."""
        crew = [Batch(prepared, self.times)]
        for _ in range(threads - 1):
            other = prepared.copy()
            other.machine.spent(np.inf, 0.0)
            crew.append(Batch(other, self.times))
        return crew

    def _again(self, crew: list[Batch], bar: Any, members: list[int], *, moved: bool = False) -> None:
        """Run members whose starts were refused once more."""
        self.queue, self._next, self.refused, self._moved = np.array(members, dtype=np.int64), 0, [], moved
        self._batches(crew, bar)

    def _repaired(self) -> list[int]:
        """Put starts on the constraints; return the members for which that was possible."""
        found, repaired = sorted(self.refused), []
        for k in found:
            model = self.table.system.with_parameters(**self.table.parameters(k))
            try:
                self.y0[k] = consistent_start(model, self.span[0], self.table.start(k))
                repaired.append(k)
            except HerkError:
                self.left.append(k)
        return repaired

    def _batches(self, crew: list[Batch], bar: Any) -> None:
        """Let threads run batches; this one watches, so that Ctrl-C is heard."""
        self._share, self._stop = SHARE * len(crew) if len(crew) > 1 else 1, False
        if self._next == self.queue.size:
            return
        if len(crew) == 1:
            self._worker(crew[0], bar)
            return
        raised: list[BaseException] = []
        workers = [threading.Thread(target=self._guarded, args=(batch, raised)) for batch in crew]
        try:
            for worker in workers:
                worker.start()
            while any(worker.is_alive() for worker in workers):
                workers[0].join(0.02) if workers[0].is_alive() else workers[-1].join(0.02)
                self.show(bar)
        finally:
            self._stop = True
            for worker in workers:
                worker.join()
        if raised:
            raise raised[0]

    def _guarded(self, batch: Batch, raised: list[BaseException]) -> None:
        try:
            self._worker(batch, None)
        except BaseException as error:  # noqa: BLE001 - it is raised again by the thread that waits
            raised.append(error)

    def _worker(self, batch: Batch, bar: Any) -> None:
        """Run batches as long as there are members, longer ones while they are quick."""
        most = least = 1
        while not self._stop:
            which = self._take(most, least)
            if not which.size:
                return
            started = time.thread_time()
            self._run(batch, which)
            rate = which.size / max(time.thread_time() - started, 1e-9)  # members in a second
            most = int(np.clip(PATIENCE * rate, 1, min(GROWTH * most, LARGEST)))
            least = int(np.clip(SHORTEST * rate, 1, most))
            self.show(bar)

    def _take(self, most: int, least: int) -> np.ndarray:
        with self._lock:
            first, left = self._next, self.queue.size - self._next
            self._next = first + min(left, int(np.clip(left // self._share, least, most)))
            return self.queue[first : self._next]

    def _run(self, batch: Batch, which: np.ndarray) -> None:
        values = self.table.values[which] if self.table.known else None
        found = batch.run(batch.prepared.asked, self.y0[which], values, moved=self._moved)
        ended = which[found.finished]
        self.y[ended] = found.y[found.finished].transpose(0, 2, 1)
        self.nstep[ended], self.residual[ended] = found.nstep[found.finished], found.residual[found.finished]
        for k in ended.tolist():
            self.reasons[k], self.messages[k] = Reason.FINISHED, REACHED
        with self._lock:
            self.refused += which[found.refused].tolist()
            self.left += which[~found.finished & ~found.refused].tolist()
            self._done += len(ended)

    def _one(self, prepared: Prepared, k: int) -> None:
        """Solve one member as a run of its own, which says what is wrong if something is."""
        try:
            values = self.table.parameters(k) if self.table.known else None
            self._keep(k, prepared.solve(y0=self.table.start(k), parameters=values))
        except HerkError as error:
            self._fail(k, error)
        except KeyboardInterrupt as error:
            if getattr(error, "solution", None) is not None:
                self._keep(k, error.solution)  # type: ignore[attr-defined]
            raise
        self._done += 1

    def _keep(self, k: int, sol: Solution) -> None:
        at = np.searchsorted(self.times, sol.t) if self.span[1] > self.span[0] else np.arange(sol.t.size)
        inside = at < self.times.size
        self.y[k][:, at[inside]] = sol.y[:, inside]
        self.reasons[k], self.messages[k] = sol.reason, sol.message
        self.nstep[k], self.residual[k] = sol.nstep, sol.residual

    def join(self, which: np.ndarray, part: Ensemble) -> None:
        """Take over members that were solved elsewhere."""
        self.y[which], self.nstep[which], self.residual[which] = part.y, part.nstep, part.residual
        for k, reason, message in zip(which.tolist(), part.reasons, part.messages, strict=True):
            self.reasons[k], self.messages[k] = reason, message
        self._done += len(which)

    def _fail(self, k: int, error: HerkError) -> None:
        self.reasons[k], self.messages[k] = Reason.INCONSISTENT, str(error)

    def bar(self) -> Any:
        """Return a bar to show progress with, if one is wanted."""
        if not self.shown:
            return nullcontext()
        return import_module("tqdm").tqdm(total=self.table.size, unit="run")

    def show(self, bar: Any) -> None:
        """Show how many members are done."""
        if bar is not None:
            bar.update(self._done - bar.n)


def _is_about_member(error: HerkError) -> bool:
    """Tell whether another start or other values may help; a wrong option would stop every member."""
    words = str(error)
    return any(word in words for word in ("start", "y0", "singular", "rank", "undetermined", "not finite"))
