"""A study of a document as text: tables for the terminal and for Markdown, rows and errata as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from herk.bench import whole_files
from herk.reproductions.published import Erratum, Row, SeedStudy, by_origin

COLUMNS = (
    "part",
    "case",
    "quantity",
    "origin",
    "printed",
    "ours",
    "verdict",
    "why",
    "modern_method",
    "modern_error",
    "modern_steps",
    "modern_ms",
)
HEAD = (*COLUMNS[1:8], "modern", "error", "steps", "ms")  # of a table in Markdown, one for each part
ERRATUM_COLUMNS = ("where", "printed", "right", "evidence", "holds")


def value(entry: float | str | None) -> str:
    """Return a number with four digits, counts in full."""
    if isinstance(entry, float):
        return f"{entry:.4f}" if 0.01 <= abs(entry) < 100 else f"{entry:.2e}"
    return "" if entry is None else str(entry)


def flat(row: Row) -> tuple[str, ...]:
    """Return a row as texts in the order of COLUMNS."""
    beside = ("", "", "", "")
    if row.modern:
        beside = (row.modern.method, f"{row.modern.error:.1e}", str(row.modern.steps), f"{row.modern.ms:.1f}")
    values = (value(row.printed), value(row.ours), row.verdict.value)
    return (row.part, row.case, row.quantity, row.origin.value, *values, row.why, *beside)


def plain_rows(rows: Iterable[Row]) -> list[str]:
    """Return the rows for the terminal, in columns."""
    lines = [COLUMNS[:7], *(flat(row)[:7] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(7)]
    return [
        "  ".join(entry.ljust(width) for entry, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def plain_claims(study: SeedStudy) -> list[str]:
    """Return PASS or FAIL before every claim."""
    return [f"{'PASS' if holds else 'FAIL'}  {text}" for text, holds in study.claims()]


def plain_errata(errata: Iterable[Erratum]) -> list[str]:
    """Return every erratum with its evidence."""
    return [
        f"{'shown' if e.holds else 'NOT SHOWN'}: {e.where}: {e.printed} -> {e.right}\n       {e.evidence}"
        for e in errata
    ]


def plain(study: SeedStudy, *more: str) -> str:
    """Return the report for the terminal; `more` are further tables of the study."""
    wrong = ["Errata", *plain_errata(study.errata), ""] if study.errata else []
    return "\n".join(
        [
            study.title,
            "",
            *plain_rows(study.rows),
            "",
            origins(study),
            "",
            *more,
            *wrong,
            *plain_claims(study),
        ]
    )


def origins(study: SeedStudy) -> str:
    """Return how many rows there are of each origin."""
    return (
        "Rows by origin: "
        + ", ".join(f"{origin.value}: {number}" for origin, number in by_origin(study.rows).items())
        + "."
    )


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    texts = [[entry.replace("|", "\\|") for entry in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *texts))


def markdown(study: SeedStudy, figures: Mapping[str, str], *notes: str) -> str:
    """Return the report as Markdown.

    Claims, notes, a table for every part, errata, figures (name -> caption).
    """
    parts = [
        f"# {study.title}",
        "",
        *(f"- {'PASS' if holds else '**FAIL**'}: {text}" for text, holds in study.claims()),
        "",
    ]
    parts += [text for note in (*notes, origins(study)) for text in (note, "")]
    used = 11 if any(row.modern for row in study.rows) else 7
    for part in dict.fromkeys(row.part for row in study.rows):
        lines = [flat(row)[1 : used + 1] for row in study.rows if row.part == part]
        parts += [f"## {part}", "", markdown_table(HEAD[:used], lines), ""]
    if study.errata:
        lines = [
            (e.where, e.printed, e.right, e.evidence, "yes" if e.holds else "**no**") for e in study.errata
        ]
        parts += [
            "## Errata",
            "",
            markdown_table(("where", "printed", "right", "evidence", "shown"), lines),
            "",
        ]
    return "\n".join(
        [
            *parts,
            "## Figures",
            "",
            *(f"### {caption}\n\n![{caption}]({name}.svg)\n" for name, caption in figures.items()),
        ]
    )


def write_csv(path: Path, head: Sequence[str], lines: Iterable[Sequence[object]]) -> Path:
    """Write a table."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([head, *lines])
    return whole_files.text(path, text.getvalue(), newline="")


def write(study: SeedStudy, folder: Path, figures: Mapping[str, str], *notes: str) -> list[Path]:
    """Write the report as Markdown, rows and errata as CSV."""
    report = whole_files.text(folder / f"{study.name}.md", markdown(study, figures, *notes))
    rows = write_csv(folder / "rows.csv", COLUMNS, [flat(row) for row in study.rows])
    errata = [(e.where, e.printed, e.right, e.evidence, e.holds) for e in study.errata]
    return [report, rows, write_csv(folder / "errata.csv", ERRATUM_COLUMNS, errata)]
