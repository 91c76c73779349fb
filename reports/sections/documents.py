"""Section: what documents print, and what we get; a part for each study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reports.contents import Contents, Record
from reports.section import Picture, Section
from reports.seed_text import value
from reports.tables import Table
from reports.verdicts import counted

TITLE = "Documents"
TITLES = {
    "thesis": "S. Bäse: half-explicit Runge-Kutta methods (thesis, 2017)",
    "second_order": "L. Wunderlich: second order systems",
    "projection": "J. Schropp: projected Runge-Kutta methods",
    "lecture": "M. Diehl, A. Nurkanović: lecture on DAEs",
}
AGREE = ("same", "within rounding")
MARKS = {"same": "good", "within rounding": "good", "not reproduced": "bad", "misprint": "part", "wrong in print": "part"}


def section(contents: Contents) -> Section:
    """Return the section."""
    parts = tuple(part(study, kinds) for study, kinds in sorted(contents.documents.items()))
    if not parts:
        return Section("documents", TITLE, ("There are no studies of documents in these records.",))
    rows = [row for kinds in contents.documents.values() for row in kinds.get("published", [])]
    claims = [claim for kinds in contents.documents.values() for claim in kinds.get("claim", [])]
    lines = [*counts(rows), *claim_words(claims)]
    return Section("documents", TITLE, tuple(lines), parts=parts)


def counts(rows: list[Record]) -> list[str]:
    """Return how many printed values are reproduced."""
    if not rows:
        return []
    same = sum(row.get("verdict") in AGREE for row in rows)
    others = {name: sum(row.get("verdict") == name for row in rows) for name in ("misprint", "wrong in print", "not reproduced")}
    rest = ", ".join(f"{number} {name}" for name, number in others.items() if number)
    return [f"{same} of {counted(len(rows), 'printed value')} come out the same or within rounding" + (f"; {rest}." if rest else ".")]


def claim_words(claims: list[Record]) -> list[str]:
    """Return how many claims hold, and those that do not."""
    failed = [f"FAIL: {claim['text']}" for claim in claims if not claim.get("holds")]
    return [f"{len(claims) - len(failed)} of {counted(len(claims), 'claim')} hold.", *failed] if claims else []


def part(study: str, kinds: Mapping[str, list[Record]]) -> Section:
    """Return the part of one document: claims, printed against ours, errata, figures."""
    rows, claims = kinds.get("published", []), kinds.get("claim", [])
    tables = [*claim_table(study, claims), *published_tables(study, rows), *errata_table(study, kinds.get("erratum", []))]
    pictures = [
        Picture(f"{study}_{each['name']}", str(each.get("caption") or each["name"]), path=str(each.get("path") or ""))
        for each in kinds.get("figure", [])
    ]
    lines = (*counts(rows), *claim_words(claims))
    return Section(
        f"study-{study}", TITLES.get(study, study), lines, tables=tuple(tables), pictures=tuple(pictures), folded=True, label=study
    )


def published_tables(study: str, rows: list[Record]) -> list[Table]:
    """Return one table for each part of the document, and all rows in one for the files."""
    columns = ["case", "quantity", "printed", "ours", "verdict", "why"]
    found = []
    for name in dict.fromkeys(str(row["part"]) for row in rows):
        inside = [row for row in rows if str(row["part"]) == name]
        frame = pd.DataFrame([[cell(row.get(column)) for column in columns] for row in inside], columns=columns)
        found.append(
            Table(f"{study}_{name}", f"{name}: printed and ours.", frame, {}, {"verdict": lambda text: MARKS.get(text, "")}, folded=True)
        )
    return found


def errata_table(study: str, errata: list[Record]) -> list[Table]:
    """Return the errata with the numbers that show them."""
    if not errata:
        return []
    rows = [
        (each["where"], cell(each["printed"]), cell(each.get("right")), cell(each.get("evidence")), "yes" if each.get("holds") else "no")
        for each in errata
    ]
    frame = pd.DataFrame(rows, columns=["where", "printed", "right", "evidence", "shown"])
    return [
        Table(
            f"{study}_errata",
            "Errata: what is printed, what is right, and the numbers that show it.",
            frame,
            {},
            {"shown": yes},
            folded=True,
        )
    ]


def claim_table(study: str, claims: list[Record]) -> list[Table]:
    """Return the claims as PASS or FAIL."""
    if not claims:
        return []
    rows = [("PASS" if claim.get("holds") else "FAIL", str(claim["text"]), cell(claim.get("evidence"))) for claim in claims]
    frame = pd.DataFrame(rows, columns=["", "claim", "evidence"])
    if not frame["evidence"].any():
        frame = frame.drop(columns="evidence")
    return [Table(f"{study}_claims", "Claims.", frame, {}, {"": yes})]


def cell(entry: Any) -> str:
    """Return a value of a document as text."""
    return value(entry)


def yes(text: str) -> str:
    """Return the look of a yes or no."""
    return "good" if text in ("yes", "PASS") else "bad"
