"""Runs as tables for other programs: CSV always, Parquet where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas

from herk.bench import store, whole_files
from herk.bench.store import Store, StoreError

FORMULA = ("=", "+", "-", "@", "\t", "\n")  # what spreadsheets take for the beginning of a formula


def runs(out: Path) -> tuple[list[Path], str]:
    """Write the latest record of every run as OUT/runs.csv and .parquet; return files and what is missing."""
    records, _ = Store(out / store.NAME).read()
    table = pandas.DataFrame([rec for rec in store.latest(records) if rec["kind"] == "run"])
    csv, parquet = out / "runs.csv", out / "runs.parquet"
    _write(csv, lambda path: harmless(table).to_csv(path, index=False))
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return [csv], "runs.parquet was not written: it needs pyarrow; pip install 'herk[parquet]'."
    plain = table.astype(
        {name: "string" for name in table.columns if table[name].dtype == object}
    )  # lists of tolerances among numbers
    _write(parquet, lambda path: plain.to_parquet(path, index=False))
    return [csv, parquet], ""


def harmless(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the table, texts that a spreadsheet would run as formulas marked by an apostrophe."""
    return table.map(_cell).rename(columns=_cell)


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # a lone return would not be quoted, and begin a row
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not text[0].isspace()


def _write(path: Path, write: Callable[[Path], object]) -> None:
    """Write the file whole or not at all; a full disk is told in a sentence."""
    try:
        whole_files.replace(path, write)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror}. Records are kept; make room and run `report`"
            " again."
        ) from None
