"""Section: whether the constraints hold, over 10, 100 and 1000 periods."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports import figures, histories, verdicts
from reports.contents import Contents
from reports.section import Picture, Section
from reports.tables import Table, short, tolerance

TITLE = "Drift"
PERIODS = {"pendulum": 2.0}  # seconds; the pendulum's g is chosen for this period
KEEPING = "overdetermined"  # the form that holds all constraints, the hidden ones too
MOST = 8
WORDS = (
    "Drift is the largest violation of any constraint, hidden ones included, at any time of the run, "
    "measured by the bench and not by the solver."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    runs = contents.drifts[(contents.drifts["status"] == "ok") & contents.drifts["drift.all"].notna()]
    if runs.empty:
        tried = f"None of the {len(contents.drifts)} runs of the drift study reached the end; see Failures."
        return Section("drift", TITLE, (tried if len(contents.drifts) else "There are no runs of the drift study in these records.",))
    facts = runs.assign(drift=runs["drift.all"], kept=runs["form"] == KEEPING)
    failed = len(contents.drifts) - len(runs)
    lines = verdicts.drift_words(facts, contents.ours)
    lines += [f"{verdicts.counted(failed, 'run')} of the study did not reach the end; see Failures."] if failed else []
    tables = tuple(table(str(problem), part) for problem, part in facts.groupby("problem", sort=True))
    return Section("drift", TITLE, tuple(lines), (WORDS,), tables, tuple(pictures(contents, runs)))


def table(problem: str, runs: pd.DataFrame) -> Table:
    """Return drift by length of the run: one row for every curve and tolerance, ours first, then by the drift of the longest."""
    wide = runs.pivot_table(index=["curve", "rtol"], columns="t_end", values="drift", aggfunc="max")
    errors = runs.pivot_table(index=["curve", "rtol"], columns="t_end", values="error_end", aggfunc="max")
    last = wide.columns[-1]
    wide = wide.rename(columns=lambda end: span(problem, end))
    wide[f"error at t = {last:g}"] = errors[last] if last in errors else float("nan")
    frame = wide.sort_values(span(problem, last)).reset_index()
    formats = {"rtol": tolerance, **dict.fromkeys(frame.columns[2:], short)}
    marks = dict.fromkeys(frame.columns[2:-1], grade)
    caption = f"Drift on {problem}: largest violation of the constraints at any time."
    return Table(f"drift_{problem}", caption, frame, formats, marks)


def grade(drift: float) -> str:
    """Return the look of a cell: at rounding, or visible to the naked eye."""
    return "good" if drift < 1e-10 else "bad" if drift > 1e-3 else ""


def span(problem: str, end: float) -> str:
    """Return the head of a column, in periods where the problem has a known one."""
    return f"{end / PERIODS[problem]:g} periods" if problem in PERIODS else f"t = {end:g}"


def pictures(contents: Contents, runs: pd.DataFrame) -> list[Picture]:
    """Return drift over time for the longest runs that have a series."""
    look, found = figures.looks(contents), []
    stored = runs[np.array([any(name.startswith("drift.") for name in contents.series.get(key, {})) for key in runs["key"]], bool)]
    for problem, part in stored.groupby("problem", sort=True):
        last = part[part["t_end"] == part["t_end"].max()].sort_values(["drift.all", "curve"]).drop_duplicates("curve")
        spread = last.iloc[[round(k * (len(last) - 1) / (MOST - 1)) for k in range(MOST)]] if len(last) > MOST else last
        named = [(row.curve, look[row.curve], contents.series[row.key]) for row in spread.itertuples()]
        caption = f"Largest violation of the constraints so far on {problem}, level by level (0: as written; 1, 2: hidden)."
        found.append(Picture(f"drift_{problem}", caption, histories.drift(named)))
    return found
