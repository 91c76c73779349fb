"""A function in a process of its own that reports as it goes.

What a user's file or a solver does there can hurt nothing else.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from herk.bench.runner.worker import settle

TIME_UP = "It was ended: the time allowed was used up."
GRACE = 2.0  # seconds between asking a process to end and ending it
MEMORY = 4e9  # bytes a process may ask for
# Loaded once by the server that forks the processes, so that each starts in milliseconds.
PRELOAD = ["baselines", "herk.bench.recommend.examine", "herk.bench.recommend.trial"]

Report = tuple[str, Any]
Send = Callable[[str, Any], None]


def reports(target: Callable[..., None], *arguments: Any, deadline: float) -> Iterator[Report]:
    """Yield what `target(send, *arguments)` sends, then ("done", None), ("failed", traceback) or a sentence.

    The sentence comes as ("ended", sentence), when the process ended without a word. `deadline` is a value of
    time.monotonic(). Whoever stops listening ends the process.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    mine, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(theirs, target, arguments), daemon=True)
    worker.start()
    theirs.close()
    try:
        yield from _listen(mine, worker, deadline)
    finally:
        _end(worker)
        mine.close()


def _listen(pipe: Connection, worker: Any, deadline: float) -> Iterator[Report]:
    while True:
        if not pipe.poll(max(0.0, deadline - time.monotonic())):
            yield "ended", TIME_UP
            return
        try:
            kind, content = pipe.recv()
        except (EOFError, OSError):
            worker.join(GRACE)
            yield "ended", _last_words(worker.exitcode)
            return
        yield kind, content
        if kind in ("done", "failed"):
            return


def _last_words(code: int | None) -> str:
    if code is not None and code < 0:
        return f"Its process was killed by signal {signal.Signals(-code).name}."
    return f"Its process ended without an answer, exit code {code}."


def _end(worker: Any) -> None:
    if worker.is_alive():
        worker.terminate()
        worker.join(GRACE)
    if worker.is_alive():
        worker.kill()
    worker.join()
    worker.close()


def _work(pipe: Connection, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run in the other process: silent, with limited memory, on one core.

    And not beyond the end of the bench.
    """
    from threadpoolctl import threadpool_limits

    with contextlib.suppress(BrokenPipeError):
        settle(dict(os.environ), MEMORY)
        try:
            with threadpool_limits(1):
                target(lambda kind, content: pipe.send((kind, content)), *arguments)
        except BaseException:  # noqa: BLE001 - a foreign file may raise anything, SystemExit too
            pipe.send(("failed", traceback.format_exc()))
        else:
            pipe.send(("done", None))
