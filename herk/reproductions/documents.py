"""Studies of documents and of fits: which there are; their rows, errata, claims, figures as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from herk.bench import record
from herk.bench.record import Record
from herk.reproductions.published import SeedStudy

NAMES = ("thesis", "lecture", "projection", "second_order", "fitting")


def records(study: SeedStudy, captions: Mapping[str, str], drawn: Iterable[Path], out: Path) -> list[Record]:
    """Return all records of a study, with one date; paths of figures are relative to OUT."""
    shared: dict[str, Any] = {"study": study.name, "date": record.now()}
    rows = [record.make("published", **shared, **_row(row)) for row in study.rows]
    errata = [record.make("erratum", **shared, **asdict(each)) for each in study.errata]
    claims = [
        record.make("claim", **shared, text=text, holds=bool(holds), evidence=study.title)
        for text, holds in study.claims()
    ]
    figures = [
        record.make(
            "figure",
            **shared,
            name=path.stem,
            caption=captions.get(path.stem, path.stem),
            path=path.relative_to(out).as_posix(),
        )
        for path in drawn
        if path.suffix == ".svg"
    ]
    return [*rows, *errata, *claims, *figures]


def _row(row: Any) -> dict[str, Any]:
    """Return a row flat: what the modern mode gives stands in fields of its own."""
    beside = {f"modern_{name}": value for name, value in asdict(row.modern).items()} if row.modern else {}
    fields = {name: value for name, value in vars(row).items() if name != "modern"}
    return {**fields, "verdict": row.verdict.value, "origin": row.origin.value, **beside}
