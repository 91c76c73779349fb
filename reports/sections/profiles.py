"""Section: performance profiles, the share of problems that a solver solves within a factor of the best."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from herk.reproductions import style
from reports import figures
from reports.claims import Claim, none
from reports.contents import FEW, Contents
from reports.curves import work_table
from reports.section import Picture, Section
from reports.tables import Table, tolerance

TITLE = "Performance profiles"
GOAL, FACTOR = 1e-6, 2.0
FACTORS = (1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)
COSTS = {"time": "CPU time", "nfev": "evaluations of f"}
MOST = 9  # curves in the picture
WORDS = (
    "For every problem the cost of an error is divided by that of the cheapest solver; a profile is the"
    " share of problems for which this ratio is at most the factor below (Dolan and Moré). The error is"
    f" {tolerance(GOAL)}. Problems that nobody solves to it are not counted. The runs are those of the study"
    " of the whole test set, in which every solver is asked the same, if the records have it. Curves that"
    " were asked on fewer than half of the problems are left out. One that was stopped by our limit, or does"
    " not get there, counts as not solving."
)


def section(contents: Contents) -> Section:
    """Return the section."""
    runs = compared(contents)
    ratios = {cost: relative(runs, cost) for cost in COSTS}
    time = ratios["time"]
    if time.shape[0] < 2:
        return Section("profiles", TITLE, (none("profiles"),), in_summary=False)
    claims = tuple(claim(ratios[cost], cost) for cost in COSTS)
    tables = tuple(table(ratios[cost], cost) for cost in COSTS)
    words = (
        "Performance profiles: the share of problems solved within a factor of the best; the curves with the"
        " largest shares."
    )
    return Section(
        "profiles", TITLE, claims, (WORDS,), tables, (Picture("profiles", words, draw(contents, ratios)),)
    )


def compared(contents: Contents) -> pd.DataFrame:
    """Return the runs of curves that were asked on half of the problems or more: equals are compared."""
    known = contents.runs[contents.runs["step"].isna() & (contents.runs["changes"] == "{}")]
    whole = known[known["study"] == FEW]
    runs = whole if len(whole) else contents.tried[contents.tried["changes"] == "{}"]
    runs = runs[runs["status"] != "unavailable"]
    asked = runs.groupby("curve")["case"].nunique()
    return runs[runs["curve"].isin(asked.index[2 * asked >= runs["case"].nunique()])]


def relative(runs: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Return cost over least cost.

    Problems as rows, curves as columns, infinity where a curve does not get there.
    """
    work = work_table(runs, (GOAL,), cost)
    wide = work.pivot_table(index="case", columns="curve", values=GOAL, aggfunc="min").astype(float)
    wide = wide[wide.notna().any(axis=1)]
    return wide.div(wide.min(axis=1), axis=0).fillna(np.inf)


def order(ratios: pd.DataFrame, factor: float = FACTOR) -> list[str]:
    """Return curves, those that solve most problems within the factor first.

    Then those that solve most at all.
    """
    within, ever = (ratios <= factor * (1 + 1e-12)).sum(), np.isfinite(ratios).sum()
    return sorted(ratios.columns, key=lambda name: (-within[name], -ever[name], name))


def claim(ratios: pd.DataFrame, cost: str) -> Claim:
    """Return who solves most problems within the factor."""
    within = (ratios <= FACTOR * (1 + 1e-12)).sum()
    ranked = sorted(
        ((name, int(within[name])) for name in ratios.columns if within[name]),
        key=lambda item: (-item[1], item[0]),
    )
    facts = {"error": GOAL, "factor": FACTOR, "cost": cost, "cost_name": COSTS[cost], "problems": len(ratios)}
    return Claim("profile", {**facts, "within": [list(item) for item in ranked]})


def table(ratios: pd.DataFrame, cost: str) -> Table:
    """Return the number of problems solved within some factors."""
    rows = [
        (
            name,
            *(int((ratios[name] <= factor * (1 + 1e-12)).sum()) for factor in FACTORS),
            int(np.isfinite(ratios[name]).sum()),
        )
        for name in order(ratios)
    ]
    frame = pd.DataFrame(rows, columns=["curve", *(f"within {factor:g}" for factor in FACTORS), "at all"])
    caption = (
        f"Problems of {len(ratios)} solved to {tolerance(GOAL)} within a factor of the least {COSTS[cost]}."
    )
    return Table(f"profile_{cost}", caption, frame, folded=True)


def draw(contents: Contents, ratios: dict[str, pd.DataFrame]) -> Figure:
    """Draw the profiles of both costs as stairs."""
    look = figures.looks(contents)
    figure = style.figure(9.0, 4.6)
    for axes, (cost, words) in zip(figure.subplots(1, 2, sharey=True), COSTS.items(), strict=True):
        for name in order(ratios["time"])[:MOST]:
            if name in ratios[cost]:
                values = np.sort(ratios[cost][name].to_numpy())
                values = values[np.isfinite(values)]
                share = np.arange(1, len(values) + 1) / len(ratios[cost])
                x, y = np.r_[1.0, values, FACTORS[-1]], np.r_[0.0, share, share[-1] if len(share) else 0.0]
                axes.step(x, y, where="post", label=name, **{**look[name].line(), "markevery": 0.2})
        axes.set_xlim(1.0, FACTORS[-1])
        style.logarithmic(axes.xaxis)
        axes.set(xlabel=f"factor of the least {words}", ylim=(0, 1.02))
    figure.axes[0].set_ylabel("share of the problems")
    style.legend_below(figure, figure.axes[0])
    return figure
