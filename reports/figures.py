"""Figures of work against error, of tolerances and of orders, drawn from the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from herk.reproductions import style
from reports import curves
from reports.contents import FOREIGN, GROUPS, HALF_EXPLICIT, KEEPING, OUR_IMPLICIT, Contents
from reports.orders import Sweep

COSTS = {"time": "CPU time (s)", "nfev": "evaluations of f", "nstep": "accepted steps"}
LARGEST = 10.0  # errors above are no convergence
NEAR = 0.01  # a floor farther below the curves would only squeeze them
MOST = 10  # curves in one picture; more cannot be told apart
PANELS = {
    HALF_EXPLICIT: "half-explicit (ours), default, control",
    OUR_IMPLICIT: "implicit (ours)",
    FOREIGN: "foreign solvers",
}
Looks = Mapping[str, style.Look]


def looks(contents: Contents) -> dict[str, style.Look]:
    """Return a look for every curve of the records, the same in every figure."""
    pairs = contents.runs[["curve", "solver", "form"]].drop_duplicates().sort_values("curve")
    known = style.looks(
        zip(pairs["solver"], pairs["form"], strict=True), contents.ours, set(contents.tried["solver"])
    )
    return {row.curve: known[row.solver, row.form] for row in pairs.itertuples()}


def panel_looks(contents: Contents) -> dict[str, style.Look]:
    """Return looks for figures with a panel for each group: no two curves of a group share a colour."""
    found, taken, first = {}, dict.fromkeys(GROUPS, 0), set(contents.tried["curve"])
    for name, look in sorted(looks(contents).items(), key=lambda item: (item[0] not in first, item[0])):
        group = contents.panel(name.split(" · ")[0])
        found[name] = replace(look, colour=style.COLOURS[taken[group] % len(style.COLOURS)])
        taken[group] += 1
    return found


def chosen(contents: Contents, runs: pd.DataFrame) -> list[str]:
    """Return the curves worth a picture.

    Of every solver its best form, of every family its best solvers, at most MOST.

    Best: the least time for the error that most curves reach, then the smallest error.
    """
    scores = {}
    goal = (
        10.0 ** np.ceil(np.log10(runs.groupby("curve")["mixed"].min().median()))
        if runs["mixed"].notna().any()
        else 1e-6
    )
    for name, part in runs.groupby("curve", sort=True):
        found = curves.medians(part, "time", "mixed")
        if len(found):
            cost = curves.work_at(found, goal)
            scores[name] = (np.inf if cost is None else cost, found.error.min(), name)
    solver = runs.drop_duplicates("curve").set_index("curve")["solver"]
    best = {solver[name]: name for name in sorted(scores, key=scores.__getitem__, reverse=True)}
    ranks: dict[str, int] = {}
    order = []
    for name in sorted(best.values(), key=scores.__getitem__):
        family = contents.family(solver[name])
        ranks[family] = ranks.get(family, 0) + 1
        order.append((ranks[family], scores[name], name))
    return [name for *_, name in sorted(order)[:MOST]]


def work_precision(
    contents: Contents, runs: pd.DataFrame, look: Looks, error: str = "mixed", floor: float | None = None
) -> Figure:
    """Draw error against time and evaluations.

    Medians over a decade, bars for the range, the reference's digits as a floor.
    """
    figure = style.figure(8.4, 4.4)
    names = chosen(contents, runs)
    for axes, cost in zip(figure.subplots(1, 2, sharey=True), ("time", "nfev"), strict=True):
        for name in names:
            _median_curve(axes, curves.medians(runs[runs["curve"] == name], cost, error), name, look[name])
        if floor is not None and floor > NEAR * min(
            (line.get_ydata().min() for line in axes.get_lines()), default=np.inf
        ):
            axes.axhline(
                floor, color=style.GREY, linewidth=1, linestyle=(0, (2, 2)), label="digits of the reference"
            )
        style.logarithmic(axes.xaxis)
        axes.set_xlabel(COSTS[cost])
    style.logarithmic(figure.axes[0].yaxis)
    figure.axes[0].set_ylabel("mixed error at the end" if error == "mixed" else "error at the end")
    style.legend_below(figure, figure.axes[0])
    return figure


def by_group(
    contents: Contents, runs: pd.DataFrame, look: Looks, cost: str, floor: float | None = None
) -> Figure:
    """Draw error against one cost for every curve.

    A panel for each group of solvers, the curves of the other groups grey behind.
    """
    found: dict[str, list[tuple[str, curves.Curve]]] = {}
    for _, name, part in curves.each(runs):
        curve = curves.medians(part, cost, "mixed")
        if len(curve):
            found.setdefault(contents.panel(part["solver"].iloc[0]), []).append((name, curve))
    groups = [group for group in GROUPS if group in found]
    lines = max(10, *map(len, found.values()), 0)  # of the longest legend: it takes no room from the curves
    figure = style.figure(1.6 + 3.1 * len(groups), 3.2 + 0.17 * lines)
    panels = np.atleast_1d(np.asarray(figure.subplots(1, len(groups), sharex=True, sharey=True)))
    for axes, group in zip(panels, groups, strict=True):
        for other in groups:
            for name, curve in found[other]:
                if other == group:
                    _median_curve(axes, curve, name, look[name])
                else:
                    axes.plot(curve.cost, curve.error, color=style.GHOST, linewidth=0.8, zorder=1.2)
        lowest = min(curve.error.min() for each in found.values() for _, curve in each)
        if floor is not None and floor > NEAR * lowest:
            axes.axhline(floor, color=style.GREY, linewidth=1, linestyle=(0, (2, 2)))
        axes.set(title=PANELS[group], xlabel=COSTS[cost])
    style.logarithmic(panels[0].xaxis)
    style.logarithmic(panels[0].yaxis)
    low, high = panels[0].get_ylim()
    panels[0].set(ylabel="mixed error at the end", ylim=(low, min(high, LARGEST)))
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(
            handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=7.5, handlelength=3.2
        )
    return figure


def _median_curve(axes: Axes, found: curves.Curve, name: str, look: style.Look) -> None:
    if len(found):
        axes.vlines(found.cost, found.low, found.high, colors=look.colour, linewidth=0.7, alpha=0.5)
        axes.plot(found.cost, found.error, label=name, **look.line())


def proportionality(contents: Contents, runs: pd.DataFrame, look: Looks) -> Figure:
    """Draw the error reached against the tolerance asked for.

    Medians over problems, the band of the middle half for ours.
    """
    figure = style.figure(7.2, 4.6)
    axes = figure.subplots()
    for name in chosen(contents, runs):
        part = curves.usable(runs[runs["curve"] == name], "rtol", "mixed")
        if part.empty:
            continue
        groups = np.log10(part["mixed"]).groupby(part["rtol"])
        middle, low, high = (10 ** groups.quantile(q) for q in (0.5, 0.25, 0.75))
        axes.plot(middle.index, middle, label=name, markevery=2, **look[name].line())
        if look[name].ours:
            axes.fill_between(middle.index, low, high, color=look[name].colour, alpha=0.12, linewidth=0)
    span = [runs["rtol"].min(), runs["rtol"].max()]
    axes.plot(span, span, color=style.GREY, linewidth=1, linestyle=(0, (2, 2)), label="error = tolerance")
    style.logarithmic(axes.xaxis)
    style.logarithmic(axes.yaxis)
    axes.invert_xaxis()
    axes.set(xlabel="tolerance asked for (rtol)", ylabel="mixed error reached")
    style.legend_below(figure, axes)
    return figure


def order_looks(sweeps: Iterable[Sweep], orders: Mapping[str, float | None]) -> dict[str, style.Look]:
    """Return looks by order: a colour for each order, a marker for each method of that order.

    Implicit methods hollow and dashed.
    """
    methods = sorted(
        {(orders.get(sweep.solver) or 0.0, sweep.form != KEEPING, sweep.curve) for sweep in sweeps}
    )
    colours = {
        order: style.COLOURS[k % len(style.COLOURS)]
        for k, order in enumerate(sorted({order for order, *_ in methods}))
    }
    ranks: dict[float, int] = {}
    found = {}
    for order, other, curve in methods:
        rank = ranks[order] = ranks.get(order, -1) + 1
        found[curve] = style.Look(
            colours[order], style.MARKERS[rank % len(style.MARKERS)], (4, 2) if other else (), not other
        )
    return found


def convergence(
    sweeps: Sequence[Sweep], claims: Mapping[str, float | None], orders: Mapping[str, float | None]
) -> Figure:
    """Draw error against step for one problem, one panel for each group.

    With a triangle for each claimed order.
    """
    look = order_looks(sweeps, orders)
    panels: dict[str, list[Sweep]] = {}
    for sweep in sweeps:
        panels.setdefault(sweep.group, []).append(sweep)
    names = [name for name in panels if name != "all"] or ["all"]
    figure = style.figure(2.0 + 2.8 * len(names), 4.6)
    for axes, name in zip(
        np.atleast_1d(np.asarray(figure.subplots(1, len(names), sharex=True, sharey=True))),
        names,
        strict=True,
    ):
        for sweep in panels[name]:
            errors = np.where((sweep.errors > 0) & (sweep.errors < LARGEST), sweep.errors, np.nan)
            axes.plot(sweep.steps, errors, label=sweep.curve, **look[sweep.curve].line())
        for order in {claims.get(sweep.solver) for sweep in panels[name]} - {None}:
            _triangle(axes, [sweep for sweep in panels[name] if claims.get(sweep.solver) == order], order)
        style.logarithmic(axes.xaxis)
        axes.set(title=name, xlabel="step")
    style.logarithmic(figure.axes[0].yaxis)
    figure.axes[0].set_ylabel("largest error")
    ranks = {name: k for k, name in enumerate(look)}
    style.legend_below(figure, figure.axes[0], columns=4 if len(names) > 2 else 3, rank=ranks.__getitem__)
    return figure


def _triangle(axes: Any, sweeps: list[Sweep], order: float) -> None:
    """Draw a right-angled triangle whose long side has the slope `order`.

    Under the small steps of the most accurate sweep.
    """
    ends = [
        (sweep.errors[above[-1]], sweep, above)
        for sweep in sweeps
        if len(above := np.flatnonzero(sweep.errors > 1e-11)) > 2
    ]
    if not ends:
        return
    _, sweep, above = min(ends, key=lambda end: end[0])
    left, right = sweep.steps[above[-1]], sweep.steps[above[-2]]
    top = sweep.errors[above[-2]] / 5
    bottom = top * (left / right) ** order
    axes.fill(
        [left, right, right],
        [bottom, bottom, top],
        facecolor="#EEEEEE",
        edgecolor=style.GREY,
        linewidth=0.7,
        zorder=1.5,
    )
    axes.text(
        right * 1.08,
        np.sqrt(top * bottom),
        f"{order:g}",
        fontsize=8,
        va="center",
        color="#333333",
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
    )
