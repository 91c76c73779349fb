"""Section: what documents print, and what we get; a part for each study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from reports.claims import Claim, none
from reports.contents import Contents, Record
from reports.section import Picture, Section
from reports.seed_text import value
from reports.tables import Table

TITLE = "Documents"
TITLES = {
    "thesis": "S. Bäse: half-explicit Runge-Kutta methods (thesis, 2017)",
    "second_order": "L. Wunderlich: second order systems",
    "projection": "J. Schropp: projected Runge-Kutta methods",
    "lecture": "M. Diehl, A. Nurkanović: lecture on DAEs",
}
AGREE = ("same", "within rounding")
PRINTED, WORDS, PICTURE, PROGRAM, NOT_PRINTED = (
    "printed", "said in words", "read from a picture", "from the original program", "not printed",
)  # fmt: skip
SOURCES = (PRINTED, WORDS, PICTURE, PROGRAM, NOT_PRINTED)
MARKS = {
    **dict.fromkeys((*AGREE, "within the band"), "good"),
    "not reproduced": "bad",
    "misprint": "part",
    "wrong in print": "part",
}
COLUMNS = ["case", "quantity", "printed", "source", "ours", "verdict", "why"]
_ORIGINS = {
    "printed value": PRINTED,
    "ours": NOT_PRINTED,
}  # what studies say of their rows, in the words of this section


def section(contents: Contents) -> Section:
    """Return the section."""
    parts = tuple(part(study, kinds) for study, kinds in sorted(contents.documents.items()))
    if not parts:
        return Section("documents", TITLE, (none("documents"),))
    rows = [row for kinds in contents.documents.values() for row in kinds.get("published", [])]
    claims = [claim for kinds in contents.documents.values() for claim in kinds.get("claim", [])]
    return Section("documents", TITLE, (*value_words(rows), *claim_words(claims)), parts=parts)


def checked(rows: list[Record]) -> dict[str, int]:
    """Return how many values of which source were compared, for the summary of the page."""
    found = Counter(source(row) for row in rows)
    return {name: found[name] for name in (*SOURCES, *sorted(set(found) - set(SOURCES))) if found[name]}


def source(row: Record) -> str:
    """Return where a value comes from: as its study says, otherwise as its own words do."""
    origin, said, part = (
        str(row.get("origin") or ""),
        str(row.get("source") or ""),
        str(row.get("part") or ""),
    )
    if origin or said:
        return said or _ORIGINS.get(origin, origin)
    if row.get("printed") is None or str(row["printed"]).startswith(NOT_PRINTED):
        return NOT_PRINTED
    if "original program" in str(row.get("why") or "") or "run again" in part:
        return PROGRAM
    return PICTURE if part.startswith("Fig") else PRINTED


def value_words(rows: list[Record], study: str = "") -> list[Claim]:
    """Return how many values are reproduced, told apart by where they come from."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = found.setdefault(source(row), {})
        counts[str(row.get("verdict"))] = counts.get(str(row.get("verdict")), 0) + 1
    names = sorted(found, key=lambda name: (SOURCES.index(name) if name in SOURCES else len(SOURCES), name))
    return (
        [Claim("documents", {"study": study, "sources": {name: found[name] for name in names}})]
        if rows
        else []
    )


def claim_words(claims: list[Record], study: str = "") -> list[Claim]:
    """Return how many claims hold, and those that do not."""
    failed = sorted(str(claim["text"]).rstrip(".") for claim in claims if not claim.get("holds"))
    return [Claim("held", {"study": study, "claims": len(claims), "failed": failed})] if claims else []


def part(study: str, kinds: Mapping[str, list[Record]]) -> Section:
    """Return the part of one document: claims, printed against ours, errata, figures."""
    rows, claims, errata = (kinds.get(kind, []) for kind in ("published", "claim", "erratum"))
    return Section(
        id=f"study-{study}",
        title=TITLES.get(study, study),
        label=study,
        verdicts=(*value_words(rows, study), *claim_words(claims, study)),
        tables=(*claim_table(study, claims), *errata_table(study, errata), *published_tables(study, rows)),
        pictures=tuple(picture(study, figure) for figure in kinds.get("figure", [])),
        folded=True,
        tables_first=True,
    )


def picture(study: str, figure: Record) -> Picture:
    """Return a figure that the study left."""
    return Picture(
        f"{study}_{figure['name']}",
        str(figure.get("caption") or figure["name"]),
        path=str(figure.get("path") or ""),
    )


def published_tables(study: str, rows: list[Record]) -> list[Table]:
    """Return one table for each part of the document."""
    found = []
    for name in dict.fromkeys(str(row["part"]) for row in rows):
        inside = [row for row in rows if str(row["part"]) == name]
        told = [{**row, "source": source(row)} for row in inside]
        frame = without_empty(
            pd.DataFrame([[value(row.get(column)) for column in COLUMNS] for row in told], columns=COLUMNS)
        )
        marks = {"verdict": lambda text: MARKS.get(text, "")}
        table = Table(
            f"{study}_{name}",
            f"{name}: printed and ours.",
            frame,
            {},
            marks,
            folded=True,
            book=f"{study}_values",
        )
        found.append(table)
    return found


def errata_table(study: str, errata: list[Record]) -> list[Table]:
    """Return the errata with the numbers that show them."""
    columns = ["where", "printed", "right", "evidence"]
    rows = [
        [*(value(each.get(column)) for column in columns), "yes" if each.get("holds") else "no"]
        for each in errata
    ]
    frame = pd.DataFrame(rows, columns=[*columns, "shown"])
    words = "Errata: what is printed, what is right, and the numbers that show it."
    return [Table(f"{study}_errata", words, frame, {}, {"shown": yes}, folded=True)] if errata else []


def claim_table(study: str, claims: list[Record]) -> list[Table]:
    """Return the claims as PASS or FAIL."""
    rows = [
        ("PASS" if claim.get("holds") else "FAIL", str(claim["text"]), value(claim.get("evidence")))
        for claim in claims
    ]
    frame = without_empty(pd.DataFrame(rows, columns=["", "claim", "evidence"]))
    return [Table(f"{study}_claims", "Claims.", frame, {}, {"": yes})] if claims else []


def without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of texts without columns in which nothing stands."""
    return frame[[name for name in frame.columns if frame[name].str.strip().any()]]


def yes(text: str) -> str:
    """Return the look of a yes or no."""
    return "good" if text in ("yes", "PASS") else "bad"
