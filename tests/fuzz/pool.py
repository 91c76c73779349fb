"""Workers in processes of their own under a watchdog: what hangs or dies costs one member, no more."""

from __future__ import annotations

import multiprocessing as mp
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

CONTEXT = mp.get_context("spawn")  # a forked child would inherit threads and locks of compilers
START = 120.0  # seconds for a new process to come up
LIFE = 150  # members per worker, because compiled code is never given back
PATIENCE = 10  # times the limit of waiting is the end, however little of it the machine gave


@dataclass
class Worker:
    """A process that answers tasks one by one, and the task it is at."""

    process: Any
    pipe: Connection
    task: Any = None
    deadline: float = 0.0
    done: int = 0
    begun: tuple[float, float] = (0.0, 0.0)  # by the clock, and in seconds of computing before


@dataclass
class Pool:
    """Run `work(task)` for every task in a stream; yields (task, result or None, what happened)."""

    work: Callable[[Any], Any]
    jobs: int = 2
    limit: float = 60.0
    workers: list[Worker] = field(default_factory=list)

    def run(self, tasks: Iterator[Any]) -> Iterator[tuple[Any, Any, str]]:
        """Yield results as they come; the third entry is "done", "hang" or "died"."""
        try:
            while True:
                self._feed(tasks)
                busy = [worker for worker in self.workers if worker.task is not None]
                if not busy:
                    return
                patience = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
                ready = wait([worker.pipe for worker in busy], timeout=patience)
                for worker in busy:
                    if worker.pipe in ready or (time.monotonic() >= worker.deadline and self._hangs(worker)):
                        yield self._collect(worker, worker.pipe in ready)
        finally:
            for worker in list(self.workers):
                self._end(worker)

    def _feed(self, tasks: Iterator[Any]) -> None:
        """Give every free worker a task, as long as there are any; start workers that are missing."""
        idle = [worker for worker in self.workers if worker.task is None]
        while idle or len(self.workers) < self.jobs:
            task = next(tasks, None)
            if task is None:
                return
            worker = idle.pop() if idle else self._start()
            worker.task, worker.deadline = task, time.monotonic() + self.limit
            worker.begun = time.monotonic(), computed(worker.process.pid)
            worker.pipe.send(task)

    def _start(self) -> Worker:
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=_serve, args=(self.work, theirs), daemon=True)
        process.start()
        theirs.close()
        worker = Worker(process, ours)
        self.workers.append(worker)
        if not ours.poll(START):
            raise TimeoutError(f"A new worker did not come up within {START:g} s; is the machine overloaded?")
        ours.recv()  # it is up: what it loads is not charged to its first member
        return worker

    def _hangs(self, worker: Worker) -> bool:
        """Tell whether a worker had its time; on a loaded machine it may have to wait for it."""
        since, before = worker.begun
        left = self.limit - (computed(worker.process.pid) - before)
        worker.deadline = min(time.monotonic() + max(left, 0.1), since + PATIENCE * self.limit)
        return left <= 0.0 or time.monotonic() >= since + PATIENCE * self.limit

    def _collect(self, worker: Worker, ready: bool) -> tuple[Any, Any, str]:
        task, worker.task = worker.task, None
        if not ready:
            self._end(worker)
            return task, None, "hang"
        try:
            result = worker.pipe.recv()
        except (EOFError, OSError):
            self._end(worker)
            return task, None, "died"
        worker.done += 1
        if worker.done >= LIFE:
            self._end(worker)
        return task, result, "done"

    def _end(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def computed(pid: int) -> float:
    """Return how many seconds a process has computed; where nobody knows, the clock."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _serve(work: Callable[[Any], Any], pipe: Connection) -> None:
    """Say that this process is up, then answer tasks until the other end is closed."""
    pipe.send("up")
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(work(task))
