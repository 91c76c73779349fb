"""Many sweeps: one after the other, several at a time, or the same call on a Dask scheduler.

Every sweep is solved in an isolated process; here it is only waited for, in a thread for each job. No thread
runs code of a solver, and all isolated processes are forked by one server.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from queue import Empty, SimpleQueue
from threading import Event, Thread

from joblib import Parallel, delayed, parallel_config

from herk.bench.record import Record
from herk.bench.runner import process, run
from herk.bench.sweeps import Sweep
from herk.core import InputError

Batch = tuple[Sweep, list[Record]]
PATIENCE = 10.0  # seconds until a scheduler must have answered
GOODBYE = 5.0  # seconds for what is waited for to end


def batches(sweeps: Sequence[Sweep], jobs: int = 1, cluster: str | None = None) -> Iterator[Batch]:
    """Yield (sweep, records) run by run, on a cluster sweep by sweep, in the order in which they end."""
    if cluster is not None:
        with _scheduler(cluster):
            yield from _calls(whole, sweeps)
    elif jobs > 1:
        yield from _at_a_time(sweeps, min(jobs, len(sweeps)))
    else:
        yield from ((sweep, batch) for sweep in sweeps for batch in run.records(sweep))


def whole(sweep: Sweep) -> Batch:
    """Return all records of a sweep."""
    return sweep, [rec for batch in run.records(sweep) for rec in batch]


def _at_a_time(sweeps: Sequence[Sweep], jobs: int) -> Iterator[Batch]:
    """Yield what threads hear of isolated processes; they stop when nobody listens any more."""
    waiting: SimpleQueue[Sweep] = SimpleQueue()
    heard: SimpleQueue[Batch | BaseException | None] = SimpleQueue()
    stop = Event()
    for sweep in sweeps:
        waiting.put(sweep)
    threads = [Thread(target=_wait, args=(waiting, heard, stop), daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        while jobs:
            found = heard.get()
            if isinstance(found, BaseException):
                raise found
            if found is None:
                jobs -= 1
            else:
                yield found
    finally:
        stop.set()
        _end(threads)


def _end(threads: Sequence[Thread]) -> None:
    """End what the threads wait for, so that they end too; a solve may be in its middle after Ctrl-C."""
    last = time.monotonic() + GOODBYE
    while any(thread.is_alive() for thread in threads) and time.monotonic() < last:
        process.hang_up()
        for thread in threads:
            thread.join(0.05)


def _wait(waiting: SimpleQueue[Sweep], heard: SimpleQueue[Batch | BaseException | None], stop: Event) -> None:
    """Take one sweep after the other and pass its records on; None when all are taken."""
    try:
        while not stop.is_set():
            sweep = waiting.get_nowait()
            with closing(run.records(sweep)) as found:
                for batch in found:
                    heard.put((sweep, batch))
                    if stop.is_set():
                        break
    except Empty:
        heard.put(None)
    except BaseException as error:  # noqa: BLE001 - raised again where it is listened to
        heard.put(error)


def _calls(function: Callable[[Sweep], Batch], sweeps: Sequence[Sweep]) -> Iterator[Batch]:
    """Yield from where joblib has been told to work."""
    with _leaving_ctrl_c_to_us():
        found = Parallel(return_as="generator_unordered", batch_size=1)(
            delayed(function)(sweep) for sweep in sweeps
        )
    yield from found


@contextmanager
def _leaving_ctrl_c_to_us() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, from their birth on.

    Who is hit while importing would print a traceback.

    A blocked signal is inherited; the bench itself hears it a moment later.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _scheduler(address: str) -> Iterator[None]:
    """Let joblib work on a scheduler, whose workers need herk, and files of the user at the same paths."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(f"--cluster needs Dask ({error}); pip install 'herk[cluster]'.") from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address!r}: {error}. Start one with `dask scheduler`."
        ) from None
    with client, parallel_config(backend="dask", n_jobs=-1, client=client, wait_for_workers_timeout=PATIENCE):
        yield
