"""Section: which solver is right and how fast, at what cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports import verdicts
from reports.contents import Contents
from reports.curves import Curve, each, medians, work_table
from reports.section import Section
from reports.tables import Table, seconds, short, tolerance

GOALS = (1e-4, 1e-6, 1e-8)
MAIN = 1e-6  # the error of the verdict: about six digits, the default tolerance of most programs
MEANING = (
    "Error: |y − reference| / (atol/rtol + |reference|), the largest component at the end (10 to the power −mescd); "
    "five right digits are an error of 1e-5. "
    "Time: CPU time of the solve, smallest of the repeats, without compilation. Points are medians over one decade of tolerances, "
    "because the error of a single run scatters by a decade when the tolerance moves a little; "
    "a decade in which fewer than half of the runs reached the end has none. "
    "Work at a given error is read from the line through these medians. "
    f"Times within a factor of {verdicts.LEVEL:g} are called level."
)


def section(contents: Contents) -> Section:
    """Return the section; the interactive plot stands between its words and its tables."""
    runs = contents.ladders
    work = work_table(runs, GOALS)
    found = {goal: verdicts.duels(work, goal, contents.ours) for goal in GOALS}
    lines = [verdicts.tally(found[MAIN])]
    if work.empty:
        return Section("work-precision", "Work and precision", tuple(lines))
    lines += [verdicts.tally(found[goal]) for goal in GOALS if goal != MAIN]
    others = machines(contents)
    tables = (summary(found), full(runs))
    return Section("work-precision", "Work and precision", tuple(lines + others), (MEANING,), tables)


def machines(contents: Contents) -> list[str]:
    """Return a warning if times come from several machines."""
    names = [name for name in contents.ladders["machine"].unique() if name]
    if len(names) < 2:
        return []
    return [f"Caution: these runs come from {len(names)} machines ({verdicts.listed(names)}); times are not comparable between them."]


def summary(found: dict[float, list[verdicts.Duel]]) -> Table:
    """Return the fastest of ours and the fastest rival for every problem and error asked for."""
    rows = []
    for goal, duels in found.items():
        for duel in duels:
            mine, rival = duel.ours or ("not reached", None), duel.rival or ("not reached", None)
            rows.append((duel.case, goal, *mine, *rival, duel.ratio, duel.outcome))
    columns = ["problem", "error", "fastest of ours", "time", "fastest rival", "its time", "ours / rival", "outcome"]
    frame = pd.DataFrame(rows, columns=columns).sort_values(["problem", "error"], ascending=[True, False], ignore_index=True)
    frame = frame.astype({"time": float, "its time": float, "ours / rival": float})
    marks = {"outcome": lambda value: {"ahead": "good", "behind": "bad"}.get(value, "")}
    formats = {"error": tolerance, "time": seconds, "its time": seconds, "ours / rival": short}
    return Table("fastest", "The fastest of ours and the fastest rival for an error asked for.", frame, formats, marks)


def full(runs: pd.DataFrame) -> Table:
    """Return error against steps, evaluations and time: one row for every problem, curve and decade of tolerances."""
    rows = []
    for case, curve, group in each(runs):
        costs = {name: medians(group, name, "mixed") for name in ("time", "nstep", "nfev", "njev", "nlu")}
        time = costs["time"]
        for k, place in enumerate(time.places):
            shared = [curve_at(costs[name], place) for name in ("nstep", "nfev", "njev", "nlu")]
            spread = time.error[k], time.low[k], time.high[k]
            rows.append((case, curve, f"1e-{place:.0f}", int(time.runs[k]), *spread, *shared, time.cost[k]))
    columns = ["problem", "curve", "tolerance", "runs", "error", "error from", "error to", "nstep", "nfev", "njev", "nlu", "seconds"]
    words = "Medians over a decade of tolerances: error against steps, evaluations and time."
    return Table("work_precision", words, pd.DataFrame(rows, columns=columns), on_page=False)


def curve_at(curve: Curve, place: float) -> float | None:
    """Return the cost of one decade, None if it is not counted."""
    found = np.flatnonzero(curve.places == place)
    return float(curve.cost[found[0]]) if len(found) else None
