"""Many ladders: one after the other, several at a time through joblib, or the same call on a Dask scheduler.

Every ladder is solved in a process of its own in any case; here is only waited for it, for which threads are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from joblib import Parallel, delayed, parallel_config

from herk.bench import run
from herk.bench.ladders import Ladder
from herk.bench.record import Record
from herk.core import InputError

Batch = tuple[Ladder, list[Record]]
PATIENCE = 10.0  # seconds until a scheduler must have answered


def batches(ladders: Sequence[Ladder], jobs: int = 1, cluster: str | None = None) -> Iterator[Batch]:
    """Yield (ladder, records) run by run when serial, ladder by ladder otherwise, in the order in which they end."""
    if cluster is None and jobs == 1:
        yield from ((ladder, batch) for ladder in ladders for batch in run.records(ladder))
        return
    with _place(jobs, cluster):
        yield from Parallel(return_as="generator_unordered", batch_size=1)(delayed(whole)(ladder) for ladder in ladders)


def whole(ladder: Ladder) -> Batch:
    """Return all records of a ladder."""
    return ladder, [rec for batch in run.records(ladder) for rec in batch]


@contextmanager
def _place(jobs: int, cluster: str | None) -> Iterator[None]:
    """Say where joblib is to work: here, or on a scheduler, whose workers need herk, and files of the user at the same paths."""
    if cluster is None:
        with parallel_config(backend="threading", n_jobs=jobs):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(f"--cluster needs Dask ({error}); pip install 'herk[cluster]'.") from None
    try:
        client = Client(cluster, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"No Dask scheduler answers at {cluster!r}: {error}. Start one with `dask scheduler`.") from None
    with client, parallel_config(backend="dask", n_jobs=-1, client=client, wait_for_workers_timeout=PATIENCE):
        yield
