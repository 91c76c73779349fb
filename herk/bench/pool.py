"""Many ladders: one after the other, in processes through joblib, or the same call on a Dask scheduler; records come as they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

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
    with _place(jobs, cluster) as count:
        made = Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1, pre_dispatch="all")(
            delayed(whole)(ladder) for ladder in ladders
        )
        yield from made


def whole(ladder: Ladder) -> Batch:
    """Return all records of a ladder."""
    return ladder, [rec for batch in run.records(ladder) for rec in batch]


def _place(jobs: int, cluster: str | None) -> AbstractContextManager[int]:
    return nullcontext(jobs) if cluster is None else _Cluster(cluster)


class _Cluster(AbstractContextManager[int]):
    """A Dask scheduler in the place of local processes; its workers need herk, and files of the user at the same paths."""

    def __init__(self, address: str) -> None:
        """Connect."""
        try:
            from distributed import Client
        except ImportError as error:
            raise InputError(f"--cluster needs Dask ({error}); pip install 'herk[cluster]'.") from None
        try:
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"No Dask scheduler answers at {address!r}: {error}. Start one with `dask scheduler`.") from None
        self.config = parallel_config(backend="dask", client=self.client, wait_for_workers_timeout=PATIENCE)

    def __enter__(self) -> int:
        """Use the cluster for calls of joblib; -1 means all of its workers."""
        self.config.__enter__()
        return -1

    def __exit__(self, *what: object) -> None:
        """Leave the cluster as it was."""
        self.config.__exit__(*what)  # type: ignore[arg-type]
        self.client.close()
