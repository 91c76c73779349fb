"""Section: what the default method costs beside the better of the two it chooses from."""

from __future__ import annotations

import pandas as pd

from reports.contents import KEEPING, Contents
from reports.curves import work_table
from reports.section import Section
from reports.tables import Table, seconds, short, tolerance

TITLE = "The default beside its two methods"
GOALS = (1e-4, 1e-6, 1e-8)
AUTO, CHOICES = "herk_auto", ("herk_dop853", "herk_radau5")
ALLOWED = 1.2  # times the better of the two
WORDS = (
    "solve_dae without a method uses dop853, and radau5 where that pays, from the start or later. The table"
    " has the CPU time of an error for all three, read from the line through medians over a decade of"
    f" tolerances, and the ratio of the default to the better of the two; more than {ALLOWED:g} is marked."
)


def section(contents: Contents) -> Section:
    """Return the section: a line for each problem and error that the default and one of the two reach."""
    found = lines(contents.tried)
    caption = "CPU time of an error: the default, dop853 and radau5 on all constraints."
    formats = {"error": tolerance, "ratio": short} | dict.fromkeys(("auto", "dop853", "radau5"), seconds)
    classes = {"ratio": lambda ratio: "part" if ratio > ALLOWED else ""}
    tables = (Table("default", caption, found, formats, classes, folded=True),) if len(found) else ()
    return Section("default", TITLE, (), (WORDS,) if tables else (), tables, in_summary=False)


def lines(runs: pd.DataFrame) -> pd.DataFrame:
    """Return problem, error, the times of the three (NaN: not reached) and the ratio to the better one."""
    ours = runs[runs["solver"].isin((AUTO, *CHOICES)) & (runs["form"] == KEEPING)]
    times = work_table(ours, GOALS)
    rows = []
    for case, group in times.groupby("case", sort=True):
        known = group.drop_duplicates("solver").set_index("solver").reindex([AUTO, *CHOICES])
        for goal in GOALS:
            auto, explicit, implicit = known[goal]
            best = min((time for time in (explicit, implicit) if time == time), default=float("nan"))
            if auto == auto and best == best:
                rows.append((case, goal, auto, explicit, implicit, auto / best))
    names = ["problem", "error", "auto", "dop853", "radau5", "ratio"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], float))
