"""Tables for other programs: texts that a spreadsheet would run are marked as texts, numbers stay numbers.

Files are whole or old.
"""

from __future__ import annotations

import csv
import resource
from pathlib import Path

import pandas
import pytest

from herk.bench import record, store
from herk.bench.store import Store, StoreError
from reports import export
from reports.tables import Table

HOSTILE = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1+1", "\n=1+1", "-x")
HARMLESS = ("-1.5", "+2", "-1e-300", "x=1", "a@b", "1-1", "", "-inf")


def run(message: str, **more: object):
    identity = dict.fromkeys(record.IDENTITY["run"], "x") | {
        "rtol": 1e-3,
        "atol": 1e-3,
        "step": None,
        "problem": message,
    }
    return record.make("run", **identity, status="failed", message=message, **more)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_no_cell_of_the_exported_runs_begins_a_formula(tmp_path):
    written = (*HOSTILE, *HARMLESS, "a row\r=1+1,=2+2")
    Store(tmp_path / store.NAME).append([run(text, **{"=header()": -1.5}) for text in written])
    [file, *_], _ = export.runs(tmp_path)
    found = rows(file)
    assert [row["message"] for row in found] == [
        *(f"'{text}" for text in HOSTILE),
        *HARMLESS,
        "a row\n=1+1,=2+2",
    ]
    assert {row["'=header()"] for row in found} == {"-1.5"}
    assert set(found[0]) & {"rtol", "status", "date"}


def test_no_cell_of_a_table_of_the_report_begins_a_formula():
    frame = pandas.DataFrame({"solver": ["=1+1", "radau"], 1e-3: [-1.5, float("nan")], "@c": [-1, 2]})
    assert Table("t", "A table.", frame).csv() == "solver,0.001,'@c\n'=1+1,-1.5,-1\nradau,,2\n"


def test_when_the_disk_is_full_the_old_table_stays_and_a_sentence_says_so(tmp_path):
    kept = Store(tmp_path / store.NAME)
    kept.append([run("first")])
    [file, *_], _ = export.runs(tmp_path)
    before = file.read_bytes()
    kept.append([run(f"{k}" * 500) for k in range(40)])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (8192, hard)
    )  # larger files cannot be written, as on a full disk
    try:
        with pytest.raises(StoreError, match=r"runs.csv could not be written: .*Records are kept"):
            export.runs(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
