"""Section: whether the constraints hold, level by level, at equal tolerance and at equal error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from reports import figures, histories
from reports.claims import Claim, none
from reports.contents import GROUPS, KEEPING, STOPPED, Contents, Record
from reports.section import Picture, Section
from reports.tables import Table, seconds, short, tolerance

TITLE = "Drift"
EQUAL = 1e-6  # the error at which drift is compared
NEAR = 10.0**0.5  # runs whose error is closer to it than this factor count
NAMES = ("position", "velocity", "acceleration", "third derivative", "fourth derivative")
WORDS = (
    "Drift is the largest violation of a constraint at any time of the run, measured by the bench and not by"
    " the solver, level by level: level 0 are the constraints as written, level k their k-th derivatives. The"
    " last level determines the multipliers: its violation is an error of a multiplier and not a drift of the"
    " position. A run that stopped early is shown until there, and no sentence rests on it."
)


def section(contents: Contents) -> Section:
    """Return the section: a sentence for every problem, a table of all levels.

    Sentences on the other levels, tables and figures are with the problems.
    """
    names = [*contents.five, *sorted(set(contents.drifts["problem"]) - set(contents.five))]
    claims = {name: problem_claims(contents, name) for name in names}
    claims = {name: found for name, found in claims.items() if found}
    if not claims:
        tried = Claim("unmeasured", {"what": "drift", "runs": len(contents.drifts), "measured": 0})
        return Section("drift", TITLE, (tried if len(contents.drifts) else none("drift"),))
    others = [
        replace(part, title=name)
        for name in names
        if name not in contents.five
        if (part := of_problem(contents, name)) is not None
    ]
    first = tuple(found[0] for found in claims.values())
    every = [claim for found in claims.values() for claim in found]
    return Section("drift", TITLE, first, (WORDS,), (overview(every),), parts=tuple(others))


def overview(claims: list[Claim]) -> Table:
    """Return all levels of all problems: what methods on all constraints and the others violate."""
    rows = []
    for facts in (claim.facts for claim in claims):
        own, others = facts["keeping"], facts["others"]
        ends = [others["smallest"], others["largest"]] if others else [[None, ""], [None, ""]]
        rows.append(
            (
                facts["problem"],
                facts["t_end"],
                facts["level_name"],
                own["largest"] if own else None,
                *(entry for end in ends for entry in end[:2]),
                facts["stopped"],
                facts["failed"],
            )
        )
    columns = ["problem", "until t", "level", "all constraints kept, largest", "others, smallest", "by",
               "others, largest", "by whom", "stopped by our limit", "failed"]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    numbers = [column for column in columns if column.endswith(("largest", "smallest"))]
    caption = "Violations of the constraints, level by level, of the runs that reached the end."
    return Table(
        "drift_overview",
        caption,
        frame.astype(dict.fromkeys(numbers, float)),
        dict.fromkeys(["until t", *numbers], short),
        {"all constraints kept, largest": grade},
    )


def of_problem(contents: Contents, name: str) -> Section | None:
    """Return the part of one problem, None if nothing was measured."""
    runs = measured(contents, name)
    equal = at_equal_error(contents, name)
    hidden = len(contents.problem(name).get("levels") or [0, 0]) > 1
    if runs.empty and (equal is None or not hidden):
        return None
    tables = ([table(contents, name, runs)] if len(runs) else []) + ([equal] if equal else [])
    claims = problem_claims(contents, name)
    return Section(
        f"drift-{name}",
        "Drift",
        tuple(claims),
        (WORDS,),
        tuple(tables),
        tuple(pictures(contents, name, runs)),
    )


def measured(contents: Contents, name: str) -> pd.DataFrame:
    """Return the runs of the drift study on a problem that have points, those that stopped early too."""
    runs = contents.drifts[contents.drifts["problem"] == name]
    return runs[runs["drift.all"].notna()]


def levels(runs: pd.DataFrame) -> list[str]:
    """Return the columns of drift that hold numbers, the levels if they are known.

    Otherwise all constraints together.
    """
    found = sorted(c for c in runs.columns if c.startswith("drift.level") and runs[c].notna().any())
    return found or ["drift.all"]


def level_name(record: Record, column: str) -> str:
    """Return a level in words."""
    if column == "drift.all":
        return "all constraints"
    k = int(column.removeprefix("drift.level"))
    mechanical = "mechanical" in (record.get("tags") or ())
    word = NAMES[k] if mechanical and k < len(NAMES) else "as written" if k == 0 else "hidden"
    last = record.get("index") == k + 1 and k > 0
    return f"level {k} ({word}{', with the multipliers' if last and mechanical else ''})"


def problem_claims(contents: Contents, name: str) -> list[Claim]:
    """Return a claim for every level over the longest span."""
    runs = contents.drifts[contents.drifts["problem"] == name]
    runs = runs[~runs["status"].isin(["unsupported", "unavailable"])]
    if not runs["drift.all"].notna().any():
        return []
    last = runs[runs["t_end"] == runs["t_end"].max()]
    changes = last["changes"].iloc[0]
    unsaid = runs[(runs["changes"] == changes) & ~runs["ok"]]
    record = contents.problem(name, changes)
    return [claim(name, record, column, last, unsaid) for column in levels(runs)]


def claim(name: str, record: Record, column: str, runs: pd.DataFrame, unsaid: pd.DataFrame) -> Claim:
    """Return what one level shows: methods on all constraints, then all others.

    Stopped and failed runs are counted.
    """
    done = runs[runs["ok"] & runs[column].notna()]
    keeping = done["form"] == KEEPING
    own, others = done[keeping], done[~keeping].sort_values([column, "curve", "rtol"])
    ends = (
        [
            [float(row[column]), str(row["curve"]), float(row["rtol"])]
            for _, row in others.iloc[[0, -1]].iterrows()
        ]
        if len(others)
        else []
    )
    facts = {
        "problem": name,
        "t_end": float(runs["t_end"].max()),
        "column": column,
        "level_name": level_name(record, column),
        "keeping": {"runs": len(own), "largest": float(own[column].max())} if len(own) else None,
        "others": {"runs": len(others), "smallest": ends[0], "largest": ends[1]} if ends else None,
        "stopped": int((unsaid["outcome"] == STOPPED).sum()),
        "failed": int((unsaid["outcome"] == "failed").sum()),
    }
    return Claim("drift", facts)


def table(contents: Contents, name: str, runs: pd.DataFrame) -> Table:
    """Return a row for every run: until when it came, how it ended, and its drift level by level."""
    columns, record = levels(runs), contents.problem(name)
    heads = {column: level_name(record, column) for column in columns}
    ordered = runs.sort_values(["t_end", columns[0], "curve"], ascending=[False, True, True])
    frame = pd.DataFrame(
        {
            "curve": ordered["curve"],
            "rtol": ordered["rtol"],
            "span": ordered["t_end"],
            "reached": ordered["t_reached"],
            "outcome": ordered["outcome"].where(~ordered["ok"], "end"),
            **{heads[c]: ordered[c] for c in columns},
            "error at the end": ordered["error_end"],
        }
    )
    formats = {
        "rtol": tolerance,
        **dict.fromkeys([*heads.values(), "error at the end"], short),
        **dict.fromkeys(["span", "reached"], "{:.4g}".format),
    }
    marks = {**dict.fromkeys(heads.values(), grade), "outcome": lambda text: "" if text == "end" else "part"}
    caption = f"Drift on {name}: largest violation of the constraints of each level until the run ended."
    return Table(f"drift_{name}", caption, frame.reset_index(drop=True), formats, marks)


def at_equal_error(contents: Contents, name: str) -> Table | None:
    """Return drift and cost at equal error: who keeps the constraints stands first, herk or not.

    Medians over the runs whose mixed error at the end is near the one asked for.
    """
    runs = contents.sweeps[
        (contents.sweeps["problem"] == name) & (contents.sweeps["changes"] == "{}") & contents.sweeps["ok"]
    ]
    near = runs[(runs["mixed"] > EQUAL / NEAR) & (runs["mixed"] < EQUAL * NEAR) & runs["drift.all"].notna()]
    if near.empty:
        return None
    columns, record = levels(near), contents.problem(name)
    rows = [
        (
            curve,
            len(part),
            10 ** np.log10(part["mixed"]).median(),
            *(middle(part[column]) for column in columns),
            part["cpu_min"].median(),
        )
        for curve, part in near.groupby("curve", sort=True)
    ]
    heads = [level_name(record, column) for column in columns]
    frame = pd.DataFrame(rows, columns=["curve", "runs", "error", *heads, "time"]).sort_values(
        [heads[0], "curve"], ignore_index=True
    )
    caption = (
        f"Drift on {name} at equal error: medians over the runs with a mixed error near {tolerance(EQUAL)} at"
        " the end, and their processor time. Whoever keeps the constraints stands first."
    )
    formats = {**dict.fromkeys(["error", *heads], short), "time": seconds}
    name = f"drift_at_equal_error_{name}"
    return Table(name, caption, frame, formats, dict.fromkeys(heads, grade), book="drift_at_equal_error")


def middle(values: pd.Series) -> float:
    """Return the median; of two in the middle the smaller one, because what spans decades has no mean."""
    return float(values.quantile(0.5, interpolation="lower"))


def grade(drift: float) -> str:
    """Return the look of a cell: at rounding, or visible to the naked eye."""
    return "good" if drift < 1e-10 else "bad" if drift > 1e-3 else ""


def pictures(contents: Contents, name: str, runs: pd.DataFrame) -> list[Picture]:
    """Return drift over time for the longest runs that have a series, all curves of them."""
    look = figures.panel_looks(contents)
    kept = np.array(
        [any(n.startswith("drift.") for n in contents.series.get(key, {})) for key in runs["key"]], bool
    )
    stored = runs[kept]
    if stored.empty:
        return []
    last = (
        stored[stored["t_end"] == stored["t_end"].max()]
        .sort_values(["curve", "rtol"])
        .drop_duplicates("curve")
    )
    groups: dict[str, list[histories.Drifting]] = {}
    for row in sorted(last.itertuples(), key=lambda row: GROUPS.index(contents.panel(row.solver))):
        drawn = (row.curve, look[row.curve], contents.series[row.key], row.ok)
        groups.setdefault(contents.panel(row.solver), []).append(drawn)
    titles = {column: level_name(contents.problem(name), column) for column in levels(last)}
    words = (
        f"Largest violation of the constraints so far on {name}: columns are levels, rows groups of solvers;"
        " grey: the curves of the other groups; a cross: the run stopped there."
    )
    return [Picture(f"drift_{name}", words, histories.drift(groups, titles))]
