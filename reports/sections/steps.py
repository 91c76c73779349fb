"""Section: step sizes and selections of algebraic variables over time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from reports import figures, histories
from reports.claims import Claim, none
from reports.contents import Contents
from reports.section import Picture, Section
from reports.tables import Table, tolerance

TITLE = "Steps"
WORDS = (
    "A half-explicit method solves the constraints for some of the variables: the selection. It is kept until"
    " its pivots deteriorate; every change is recorded. Step sizes are those of the accepted steps, thinned"
    " so that extremes survive."
)


def stored(contents: Contents, runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the runs that have a series of this name, one for each problem and curve.

    The one of the tightest tolerance.
    """
    with_series = runs[np.array([name in contents.series.get(key, {}) for key in runs["key"]], bool)]
    return with_series.sort_values(["case", "curve", "rtol"]).drop_duplicates(["case", "curve"])


def section(contents: Contents) -> Section:
    """Return the section: a table for all, a picture for each problem whose selection changes."""
    runs = stored(contents, contents.runs, "step")
    if runs.empty:
        return Section("steps", TITLE, (none("steps"),), in_summary=False)
    rows = [row(contents, run) for run in runs.itertuples()]
    frame = pd.DataFrame(
        rows,
        columns=[
            "problem",
            "solver",
            "rtol",
            "smallest step",
            "median step",
            "largest step",
            "selections",
            "changes",
        ],
    )
    changing = [
        name
        for name in dict.fromkeys(frame["problem"])
        if (frame.loc[frame["problem"] == name, "changes"] > 0).any()
    ]
    listing = Table(
        "steps",
        "Step sizes and selections, tightest stored tolerance.",
        frame,
        {"rtol": tolerance},
        folded=True,
    )
    first = sorted(changing, key=lambda name: name.split(",")[0] not in contents.five)
    drawn = tuple(picture(contents, runs, name) for name in first[:1])
    return Section("steps", TITLE, (selections(contents),), (WORDS,), (listing,), drawn, in_summary=False)


def selections(contents: Contents) -> Claim:
    """Return on which problems the selection changes, over all runs that recorded theirs."""
    used = {
        row.key: (row.case, set(map(str, contents.series[row.key]["selection"][1])))
        for row in contents.runs.itertuples()
        if "selection" in contents.series.get(row.key, {})
    }
    changing = sorted({case for case, names in used.values() if len(names) > 1})
    return Claim("selections", {"runs": len(used), "changing": changing})


def row(contents: Contents, run: object) -> tuple[object, ...]:
    """Return what the series of one run say."""
    series = contents.series[run.key]  # type: ignore[attr-defined]
    sizes = np.abs(histories.numbers(series["step"][1]))
    sizes = sizes[sizes > 0]
    low, middle, high = (sizes.min(), np.median(sizes), sizes.max()) if len(sizes) else (np.nan,) * 3
    used = [str(value) for value in series.get("selection", ([], []))[1]]
    selections = (len(set(used)), sum(a != b for a, b in pairwise(used))) if used else (np.nan, np.nan)
    return run.case, run.curve, run.rtol, low, middle, high, *selections  # type: ignore[attr-defined]


def picture(contents: Contents, runs: pd.DataFrame, case: str) -> Picture:
    """Return steps and selections of one problem."""
    look = figures.looks(contents)
    here = runs[runs["case"] == case]
    ours = here[here["solver"].isin(contents.ours)]
    named = [
        (run.curve, look[run.curve], contents.series[run.key])
        for run in pd.concat([ours, here]).drop_duplicates("key").head(6).itertuples()
    ]
    return Picture(
        f"steps_{case}",
        f"Step sizes on {case}, and the algebraic variables selected (their indices) where the selection"
        " changes.",
        histories.steps(named),
    )
