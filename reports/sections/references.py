"""Section: whether the references can be trusted, and what is wrong in print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from reports.claims import Claim, none
from reports.contents import Contents, Record, case
from reports.section import Section
from reports.tables import Table

TITLE = "References"
RIGHT = "digits right in print"
GOOD = (
    13.0  # digits; stored in double precision, printed values cannot be seen to agree to more than 15 to 16
)
WORDS = (
    "Ours are exact solutions or were computed in quadruple precision by two independent methods; “digits” is"
    " what both agree on. “Digits right in print” is the worst component of the published end values against"
    " ours, up to the 16 digits of double precision."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    known = [contents.problem(name, min(changes)) for name, changes in places(contents).items()]
    if not known:
        return Section("references", TITLE, (none("problems"),))
    check, ours = published(known), sources(known)
    return Section(
        "references",
        TITLE,
        tuple(lines(ours.frame, check.frame)),
        (WORDS,),
        (*([check] if len(check.frame) else []), ours),
    )


def places(contents: Contents) -> dict[str, list[str]]:
    """Return problems with the changes they are recorded with.

    As it stands, where it is, a problem comes first.
    """
    found: dict[str, list[str]] = {}
    for problem, changes in sorted(contents.problems):
        found.setdefault(problem, []).append(changes)
    return {problem: ["{}"] if "{}" in changes else changes for problem, changes in found.items()}


def name(problem: Record) -> str:
    """Return the name of a problem with its changes."""
    return case(problem["problem"], problem.get("changes") or "{}")


def sources(known: list[Record]) -> Table:
    """Return where each reference comes from."""
    rows = [(name(each), each.get("reference_digits"), each.get("reference_how") or "") for each in known]
    frame = pd.DataFrame(rows, columns=["problem", "digits", "how"]).astype({"digits": float})
    return Table(
        "references",
        "Our references: digits, and how they were obtained.",
        frame,
        {"digits": "{:.0f}".format},
        folded=True,
    )


def published(known: list[Record]) -> Table:
    """Return the published end values against ours: the component that agrees least."""
    rows = []
    for each in known:
        ours, printed, names = (
            each.get(column) or [] for column in ("reference_y", "published_y", "components")
        )
        worst = worst_component(ours, printed)
        if worst is not None:
            k, digits = worst
            component = str(names[k]) if k < len(names) else str(k)
            rows.append(
                (
                    name(each),
                    digits,
                    component,
                    float(printed[k]),
                    float(ours[k]),
                    each.get("published_note") or "",
                )
            )
    frame = pd.DataFrame(
        rows, columns=["problem", RIGHT, "worst component", "printed there", "ours there", "note"]
    )
    frame = frame.astype({RIGHT: float}).sort_values([RIGHT, "problem"], ignore_index=True)
    formats = {RIGHT: "{:.1f}".format, "printed there": "{:.16g}".format, "ours there": "{:.16g}".format}
    marks = {RIGHT: lambda value: "bad" if value < GOOD else "good"}
    return Table(
        "published_references",
        "Published end values against ours: the component that agrees least.",
        frame,
        formats,
        marks,
    )


def worst_component(ours: Sequence[Any], printed: Sequence[Any]) -> tuple[int, float] | None:
    """Return index and digits of the published component that agrees least, None if nothing is in print."""
    digits = {
        k: agreement(float(a), float(b))
        for k, (a, b) in enumerate(zip(ours, printed, strict=False))
        if a is not None and b is not None
    }
    return min(digits.items(), key=lambda item: item[1]) if digits else None


def agreement(ours: float, printed: float) -> float:
    """Return the number of digits to which two numbers agree, at most the 16 of double precision."""
    off = abs(ours - printed) / (abs(ours) or 1.0)
    return 16.0 if off < 1e-16 else -math.log10(off)


def lines(ours: pd.DataFrame, printed: pd.DataFrame) -> list[Claim]:
    """Return the verdicts."""
    digits = ours["digits"].dropna()
    least = float(digits.min()) if len(digits) else None
    known = Claim("references", {"known": len(digits), "problems": len(ours), "least": least})
    if printed.empty:
        return [known, none("printed")]
    wrong = printed[printed[RIGHT] < GOOD]
    fewer = [[name, float(right)] for name, right in zip(wrong["problem"], wrong[RIGHT], strict=True)]
    facts = {"digits": GOOD, "agree": len(printed) - len(wrong), "fewer": fewer}
    return [known, Claim("printed_ends", facts)]
