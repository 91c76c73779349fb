"""Runs as tables for other programs: CSV always, Parquet where pyarrow is installed."""

from __future__ import annotations

from pathlib import Path

import pandas

from herk.bench import store
from herk.bench.store import Store


def runs(out: Path) -> tuple[list[Path], str]:
    """Write OUT/runs.csv and OUT/runs.parquet, the latest record of every run; return the files, and a sentence if one is missing."""
    records, _ = Store(out / store.NAME).read()
    table = pandas.DataFrame([rec for rec in store.latest(records) if rec["kind"] == "run"])
    csv, parquet = out / "runs.csv", out / "runs.parquet"
    table.to_csv(csv, index=False)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return [csv], "runs.parquet was not written: it needs pyarrow; pip install 'herk[parquet]'."
    plain = table.astype({name: "string" for name in table.columns if table[name].dtype == object})  # lists of tolerances among numbers
    plain.to_parquet(parquet, index=False)
    return [csv, parquet], ""
