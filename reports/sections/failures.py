"""Section: which solver fails where, and why."""

from __future__ import annotations

import pandas as pd

from reports.contents import Contents
from reports.section import Section
from reports.tables import Table
from reports.verdicts import counted, listed

TITLE = "Failures"
FINE = "✓"
WORDS = (
    f"{FINE}: every run reached the end. Numbers: runs that reached the end, of all, with the commonest reason of the others. "
    "“Wrong” are runs that reached the end with an error larger than the solution itself (mescd below 0). "
    "A dash: the solver was not asked. Runs with fixed steps are not counted: large steps are meant to fail. "
    "A failure on a hard problem is a result, not a defect of the report."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    runs = asked(contents)
    if runs.empty:
        return Section("failures", TITLE, ("There are no runs with tolerances in these records.",))
    cells = runs.groupby(["curve", "problem"], sort=True).apply(cell, include_groups=False)
    columns, name = "problem", "solver"
    if runs["problem"].nunique() > runs["curve"].nunique():  # a long table is easier to read than a wide one
        columns, name = "curve", "problem"
    frame = cells.unstack(columns).rename_axis(index=None, columns=None)
    frame.insert(0, name, frame.index)
    marks = dict.fromkeys(frame.columns[1:], mark)
    matrix = Table("failures", "Runs that reached the end, for every solver and problem.", frame, {}, marks)
    return Section("failures", TITLE, tuple(lines(contents)), (WORDS,), (matrix, reasons(runs)))


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
    causes = bad["reason"].where(bad["status"] != "ok", "wrong").replace("", "unknown").where(bad["status"] != "unavailable", "unavailable")
    cause = causes.value_counts().sort_index().idxmax().replace("_", " ")
    return cause if (bad["status"].isin(["unsupported", "unavailable"])).all() else f"{len(runs) - len(bad)} of {len(runs)}: {cause}"


def mark(text: str) -> str:
    """Return the look of a cell."""
    if text in ("unsupported", "unavailable"):
        return "dim"
    return "good" if text == FINE else "bad" if text.startswith("0 of") else "part"


def lines(contents: Contents) -> list[str]:
    """Return the verdicts."""
    runs = asked(contents)
    runs = runs[~runs["status"].isin(["unsupported", "unavailable"])]
    bad = runs[~runs["ok"] | wrong(runs)]
    found = [f"{len(runs) - len(bad)} of {counted(len(runs), 'run')} reached the end with a result that is not wrong."]
    mine = bad[bad["solver"].isin(contents.ours)]
    places = list(dict.fromkeys(f"{row.curve} on {row.case}" for row in mine.itertuples()))
    if contents.ours:
        found.append(f"Of ours {counted(len(mine), 'run')} failed: {listed(places)}." if places else "None of ours failed.")
    return found


def reasons(runs: pd.DataFrame) -> Table:
    """Return every failure with its message, equal ones counted."""
    bad = runs[~runs["status"].isin(["ok", "unsupported"])]
    columns = ["case", "curve", "reason", "message"]
    counts = bad.assign(message=bad["message"].str.slice(0, 200)).groupby(columns, sort=True).size().rename("runs").reset_index()
    return Table(
        "reasons", "Failures in the words of the solvers.", counts.rename(columns={"case": "problem", "curve": "solver"}), folded=True
    )
