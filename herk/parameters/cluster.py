"""Members spread over the workers of a Dask client, by the same call as in one process."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from herk.core import HerkError, InputError
from herk.core.dae import Array
from herk.parameters.crew import Crew
from herk.parameters.ensemble import Ensemble
from herk.parameters.table import Table

PARTS = 4  # for each thread of a worker, so that all are busy to the end
ATTEMPTS = 5  # for a part whose worker is lost


def solved(table: Table, span: tuple[float, float], times: Array, options: dict[str, Any]) -> Ensemble:
    """Return some of the members, solved by one thread: what a worker does."""
    return Crew(table, span, times, options, shown=False).work(1)


def _fetched(future: Any) -> Ensemble | None:
    """Return what a worker found; None if it was lost as often as it was tried."""
    try:
        found: Ensemble = future.result()
    except HerkError:
        raise
    except Exception:  # noqa: BLE001 - whatever happened to the worker, its members are solved here
        return None
    return found


def spread(
    client: Any, table: Table, span: tuple[float, float], times: Array, options: dict[str, Any], shown: bool
) -> Ensemble:
    """Return all members, solved by the workers of the client, or here where those are lost again and again.

    An interrupt carries what came back.
    """
    if not (hasattr(client, "submit") and hasattr(client, "ncores")):
        raise InputError(f"client must be a Dask client, not {type(client).__name__}.")
    started = time.perf_counter()
    whole = Crew(table, span, times, options, shown)
    parts = np.array_split(
        np.arange(table.size), min(table.size, PARTS * max(sum(client.ncores().values()), 1))
    )
    futures = [
        client.submit(solved, table.part(part), span, times, options, pure=False, retries=ATTEMPTS)
        for part in parts
    ]
    try:
        with whole.bar() as bar:
            for part, future in zip(parts, futures, strict=True):
                whole.join(part, _fetched(future) or solved(table.part(part), span, times, options))
                whole.show(bar)
    except KeyboardInterrupt as error:
        client.cancel(futures)
        error.solution = whole.result(time.perf_counter() - started)  # type: ignore[attr-defined]
        raise
    return whole.result(time.perf_counter() - started)
