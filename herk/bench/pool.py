"""Many ladders: one after the other, several at a time in processes through joblib.

Or the same call on a Dask scheduler.

A process of the pool waits for the isolated one in which a ladder is solved, and turns what comes back into
records. It never runs code of a solver, so that nothing but a lack of memory ends it early; what it was at is
then run again. Each has a server of its own that forks the isolated processes, so that a job costs a few
seconds at the start and a few hundred megabytes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from herk.bench import orphans, run
from herk.bench.record import Record
from herk.bench.sweeps import Ladder
from herk.core import HerkError, InputError

Batch = tuple[Ladder, list[Record]]
PATIENCE = 10.0  # seconds until a scheduler must have answered
MOST_DEATHS = 3  # times that a process of the pool may be lost


def batches(ladders: Sequence[Ladder], jobs: int = 1, cluster: str | None = None) -> Iterator[Batch]:
    """Yield (ladder, records) run by run when serial, ladder by ladder otherwise.

    In the order in which they end.
    """
    jobs = min(jobs, len(ladders))
    if cluster is not None:
        with _scheduler(cluster):
            yield from _calls(whole, ladders)
    elif jobs > 1:
        with parallel_config(backend="loky", n_jobs=jobs):
            yield from _processes(ladders)
    else:
        yield from ((ladder, batch) for ladder in ladders for batch in run.records(ladder))


def whole(ladder: Ladder) -> Batch:
    """Return all records of a ladder."""
    return ladder, [rec for batch in run.records(ladder) for rec in batch]


def _processes(ladders: Sequence[Ladder]) -> Iterator[Batch]:
    """Yield from processes of ours; if one is lost, what it and its neighbours were at is run again."""
    left = list(ladders)
    for _ in range(MOST_DEATHS):
        try:
            for batch in _calls(partial(_mortal, os.getpid()), left):
                left = [ladder for ladder in left if ladder != batch[0]]
                yield batch
        except TerminatedWorkerError:
            continue
        return
    raise HerkError(
        f"Processes of the pool were killed {MOST_DEATHS} times, most likely for want of memory. What has"
        " been run is stored; go on with fewer --jobs."
    )


def _mortal(bench: int, ladder: Ladder) -> Batch:
    """Return all records of a ladder, in a process that ends when the bench, its parent, does."""
    orphans.die_with_parent()
    if os.getppid() != bench:  # it has ended already
        os._exit(1)
    multiprocessing.set_start_method(
        "spawn", force=True
    )  # what joblib has set here is unknown in processes that isolate a ladder
    return whole(ladder)


def _calls(function: Callable[[Ladder], Batch], ladders: Sequence[Ladder]) -> Iterator[Batch]:
    """Yield from where joblib has been told to work."""
    with _leaving_ctrl_c_to_us():
        found = Parallel(return_as="generator_unordered", batch_size=1)(
            delayed(function)(ladder) for ladder in ladders
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
