"""Section: which solver fails where, and why; what our own limit stopped is told apart."""

from __future__ import annotations

import re

import pandas as pd

from reports import verdicts
from reports.claims import Claim, none
from reports.contents import KEEPING, STOPPED, Contents
from reports.section import Section
from reports.tables import Table
from reports.words import listed

TITLE = "Failures"
FINE = "✓"
SPARED = "Not run:"  # what the bench says of a run that it did not begin
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORDS = (
    f"{FINE}: every run reached the end. Numbers: runs that reached the end, of all, with the commonest"
    " reason of the others. “Wrong” are runs that reached the end with an error larger than the solution"
    f" itself (mescd below 0). “{STOPPED[0].upper()}{STOPPED[1:]}” says that we did not wait, not that the"
    " solver fails. A dash: the solver was not asked. Runs with fixed steps are not counted: large steps are"
    " meant to fail. A failure on a hard problem is a result, not a defect of the report."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    runs = asked(contents)
    if runs.empty:
        return Section("failures", TITLE, (none("asked"),))
    cells = runs.groupby(["curve", "problem"], sort=True).apply(cell, include_groups=False)
    columns, name = "problem", "solver"
    if runs["problem"].nunique() > runs["curve"].nunique():  # a long table is easier to read than a wide one
        columns, name = "curve", "problem"
    frame = cells.unstack(columns).rename_axis(index=None, columns=None)
    frame.insert(0, name, frame.index)
    marks = dict.fromkeys(frame.columns[1:], mark)
    matrix = Table("failures", "Runs that reached the end, for every solver and problem.", frame, {}, marks)
    return Section("failures", TITLE, tuple(lines(contents)), (WORDS,), (causes(runs), matrix))


def asked(contents: Contents) -> pd.DataFrame:
    """Return the runs that were asked for a tolerance: with fixed steps, large ones are meant to fail."""
    return contents.runs[contents.runs["step"].isna()]


def wrong(runs: pd.DataFrame) -> pd.Series:
    """Tell for every run whether it reached the end with a result that has no digit."""
    return (runs["status"] == "ok") & (runs["mescd"] < 0)


def cell(runs: pd.DataFrame) -> str:
    """Return one cell of the matrix."""
    bad = runs[(runs["status"] != "ok") | wrong(runs)]
    if bad.empty:
        return FINE
    reasons = bad["reason"].where(bad["status"] != "ok", "wrong").replace("", "unknown")
    reasons = reasons.where(bad["outcome"] != STOPPED, STOPPED).where(
        bad["status"] != "unavailable", "unavailable"
    )
    cause = reasons.value_counts().sort_index().idxmax().replace("_", " ")
    whole = bad["status"].isin(["unsupported", "unavailable"]).all()
    return cause if whole else f"{len(runs) - len(bad)} of {len(runs)}: {cause}"


def mark(text: str) -> str:
    """Return the look of a cell."""
    if text in ("unsupported", "unavailable"):
        return "dim"
    return (
        "good"
        if text == FINE
        else "bad"
        if text.startswith("0 of") and not text.endswith(STOPPED)
        else "part"
    )


def lines(contents: Contents) -> list[Claim]:
    """Return the verdicts: how all runs ended, and where half-explicit methods failed or were wrong."""
    runs = asked(contents)
    runs = runs[~runs["status"].isin(["unsupported", "unavailable"])]
    bad = runs[(runs["outcome"] == "failed") | wrong(runs)]
    found = [verdicts.endings(contents), verdicts.stiff(contents)]
    mine = bad[bad["solver"].isin(contents.ours) & (bad["form"] == KEEPING)]
    places = sorted({f"{row.curve} on {row.case}" for row in mine.itertuples()})
    return [*found, Claim("own_failures", {"runs": len(mine), "places": places})] if contents.ours else found


def kind(message: str) -> str:
    """Return a message without its numbers, so that one cause is one text."""
    return NUMBER.sub("…", message)[:160]


def causes(runs: pd.DataFrame) -> Table:
    """Return one row for every cause.

    How many runs it ended, how many were not begun because of it, of whom and where.
    """
    bad = runs[~runs["status"].isin(["ok", "unsupported"])]
    spared = bad["message"].str.startswith(SPARED)
    bad = bad.assign(cause=bad["message"].map(kind).where(~spared, ""), spared=spared)
    rows = []
    for (outcome, reason), part in bad.groupby(["outcome", "reason"], sort=True):
        begun = part[~part["spared"]]
        texts = begun["cause"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
        for k, (text, count) in enumerate(texts.items() if len(texts) else [("", 0)]):
            mine = begun[begun["cause"] == text] if len(texts) else part
            rest = int(part["spared"].sum()) if k == 0 else 0
            where = listed(sorted(set(mine["problem"])), 4), listed(sorted(set(mine["curve"])), 4)
            rows.append((outcome, reason.replace("_", " "), text, count, rest, *where))
    columns = [
        "outcome",
        "reason",
        "in the words of the solver",
        "runs",
        "not begun after it",
        "problems",
        "solvers",
    ]
    frame = pd.DataFrame(rows, columns=columns).sort_values(
        ["outcome", "runs"], ascending=[True, False], ignore_index=True
    )
    return Table("causes", "One row for every cause, with the number of runs.", frame)
