"""Section: whether the references can be trusted, and what is wrong in print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from reports.contents import Contents, Record, case
from reports.section import Section
from reports.tables import Table
from reports.verdicts import counted, listed

TITLE = "References"
GOOD = 13.0  # digits; stored in double precision, printed values cannot be seen to agree to more than 15 to 16
WORDS = (
    "Ours are exact solutions or were computed in quadruple precision by two independent methods; “digits” is what both agree on. "
    "“Digits right in print” is the worst component of the published end values against ours, up to the 16 digits of double precision."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    rows = [row(record) for record in contents.problems.values()]
    if not rows:
        return Section("references", TITLE, ("There are no records of problems, so references cannot be checked.",))
    frame = pd.DataFrame(
        rows, columns=["problem", "digits", "how", "digits right in print", "worst component", "printed there", "ours there", "note"]
    )
    frame = frame.sort_values("problem", ignore_index=True)
    exact = {name: lambda value: f"{value:.16g}" for name in ("printed there", "ours there")}
    formats = {name: lambda value: f"{value:.1f}" for name in ("digits", "digits right in print")} | exact
    marks = {"digits right in print": lambda value: "bad" if value < GOOD else ""}
    check = Table("references", "References, and the published end values against them.", frame, formats, marks, folded=True)
    return Section("references", TITLE, tuple(lines(frame)), (WORDS,), (check,))


def row(problem: Record) -> tuple[Any, ...]:
    """Return what is known about one reference."""
    ours, printed = problem.get("reference_y") or [], problem.get("published_y") or []
    worst = worst_component(ours, printed)
    names = problem.get("components") or []
    shown = (None, None, None, None)
    if worst is not None:
        k, digits = worst
        shown = (digits, names[k] if k < len(names) else str(k), float(printed[k]), float(ours[k]))
    how = problem.get("reference_how") or ("exact or stored" if ours else "none")
    name = case(problem["problem"], problem.get("changes") or "{}")
    return name, problem.get("reference_digits"), how, *shown, problem.get("published_note") or ""


def worst_component(ours: Sequence[Any], printed: Sequence[Any]) -> tuple[int, float] | None:
    """Return index and digits of the published component that agrees least, None if nothing is in print."""
    digits = {
        k: agreement(float(a), float(b)) for k, (a, b) in enumerate(zip(ours, printed, strict=False)) if a is not None and b is not None
    }
    return min(digits.items(), key=lambda item: item[1]) if digits else None


def agreement(ours: float, printed: float) -> float:
    """Return the number of digits to which two numbers agree, at most the 16 of double precision."""
    off = abs(ours - printed) / (abs(ours) or 1.0)
    return 16.0 if off < 1e-16 else -math.log10(off)


def lines(frame: pd.DataFrame) -> list[str]:
    """Return the verdicts."""
    known = frame[frame["digits"].notna()]
    found = [
        f"{len(known)} of {counted(len(frame), 'problem')} have a reference"
        + (f", the least accurate with {known['digits'].min():.0f} digits." if len(known) else ".")
    ]
    printed = frame[frame["digits right in print"].notna()]
    if printed.empty:
        return [*found, "No published end values are in these records."]
    wrong = printed[printed["digits right in print"] < GOOD].sort_values("digits right in print")
    share = f"{len(printed) - len(wrong)} of {counted(len(printed), 'problem')}"
    found.append(f"Published end values agree with ours to {GOOD:g} or more digits on {share}.")
    if len(wrong):
        names = [f"{name} ({digits:.1f} digits)" for name, digits in zip(wrong["problem"], wrong["digits right in print"], strict=True)]
        found.append(f"With fewer right digits in print: {listed(names, 12)}.")
    return found
