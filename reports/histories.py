"""Figures over time: drift, step sizes, selections, trajectories with the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from herk.reproductions import style
from reports.curves import TINY

Series = Mapping[str, tuple[list[float], list[Any]]]
Named = Sequence[tuple[str, style.Look, Series]]  # label, look, series of one run
Drifting = tuple[str, style.Look, Series, bool]  # the same, and whether it reached the end
MOST_COMPONENTS = 7
MOST_SELECTIONS = 6  # that are named at the axis
MOST_POINTS = 160  # of a curve of step sizes
LEAST = 1e-17  # zero is drawn here
GROWTH = 1.1  # less is hardly seen on a logarithmic axis of several decades


def numbers(values: Sequence[Any]) -> np.ndarray:
    """Return values as numbers, NaN for what is none."""
    return np.array([value if isinstance(value, (int, float)) else np.nan for value in values], float)


def drift(groups: Mapping[str, Sequence[Drifting]], titles: Mapping[str, str]) -> Figure:
    """Draw the largest violation of the constraints so far: a column for each level, a row for each group.

    The curves of the other groups are grey behind. A cross ends a run that stopped early.
    """
    figure = style.figure(2.4 + (2.4 if len(titles) < 4 else 1.9) * len(titles), 0.6 + 2.1 * len(groups))
    grid = figure.subplots(len(groups), len(titles), sharex=True, sharey=True, squeeze=False)
    for row, (group, mine) in zip(grid, groups.items(), strict=True):
        behind = [run for other, runs in groups.items() if other != group for run in runs]
        for axes, name in zip(row, titles, strict=True):
            for label, look, series, ended in (*behind, *mine):
                if name in series:
                    shown = look if any(label == own for own, *_ in mine) else None
                    _violation(axes, series[name], label, shown, ended)
        row[0].set_ylabel(f"{group}\nlargest |g| so far")
        style.legend_beside(row)
    for axes, title in zip(grid[0], titles.values(), strict=True):
        axes.set_title(fill(title, 24 if len(titles) < 4 else 20) if len(titles) > 2 else title, fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("t")
    style.logarithmic(grid[0, 0].yaxis)
    every = [series for runs in groups.values() for *_, series, _ in runs]
    ends = [series[name][0][-1] for series in every for name in titles if series.get(name, ([],))[0]]
    if ends and max(ends) > 0:  # violations grow with powers of time
        style.logarithmic(grid[0, 0].xaxis)
        grid[0, 0].set_xlim(max(ends) / 1000, max(ends) * 1.05)
    return figure


def _violation(
    axes: Any, series: tuple[list[float], list[Any]], label: str, look: style.Look | None, ended: bool
) -> None:
    """Draw one curve, grey if it has no look here."""
    t, top = largest_so_far([series])
    if len(t) > 1 and top[0] <= LEAST < top[1]:  # the start, where all is consistent
        t, top = t[1:], top[1:]
    if look is None:
        axes.step(t, top, where="post", color=style.GHOST, linewidth=0.8, zorder=1.2)
        return
    axes.step(t, top, where="post", label=label, **_plain(look))
    if not ended:
        axes.plot(t[-1:], top[-1:], color=look.colour, marker="x", markersize=8, markeredgewidth=2)


def kept(runs: Named) -> Figure | None:
    """Draw how far constraints and invariants have moved at most so far, a panel for each.

    None if nothing is recorded.
    """
    found = {}
    for label, look, series in runs:
        drifts = [series[name] for name in sorted(series) if name.startswith("drift.level")]
        if drifts:
            found.setdefault("constraints", []).append((label, look, *largest_so_far(drifts)))
        for name in sorted(series):
            if name.startswith("invariant."):
                found.setdefault(name.removeprefix("invariant."), []).append(
                    (label, look, *largest_so_far([series[name]]))
                )
    if not found:
        return None
    figure = style.figure(9.6 if len(found) > 1 else 7.2, 3.6)
    for axes, (name, lines) in zip(
        np.atleast_1d(np.asarray(figure.subplots(1, len(found)))), found.items(), strict=True
    ):
        for label, look, t, values in lines:
            axes.step(t, values, where="post", label=label, **_plain(look))
        style.logarithmic(axes.yaxis)
        axes.set(title=name, xlabel="t")
    figure.axes[0].set_ylabel("largest deviation so far")
    stretch(figure, _shortest(runs, "step"))
    style.legend_below(figure, max(figure.axes, key=lambda axes: len(axes.get_legend_handles_labels()[1])))
    return figure


def largest_so_far(series: Sequence[tuple[list[float], list[Any]]]) -> tuple[np.ndarray, np.ndarray]:
    """Return when the largest absolute value of all series grew, and what it was then.

    The start and the end are always there.
    """
    t = np.concatenate([numbers(times) for times, _ in series])
    order = np.argsort(t, kind="stable")
    t, values = t[order], np.concatenate([np.abs(numbers(values)) for _, values in series])[order]
    top = np.maximum(np.fmax.accumulate(values), LEAST)
    kept = [0]
    for k in range(1, len(top)):
        if (
            top[k] > top[kept[-1]] * GROWTH or k == len(top) - 1
        ):  # since the last point kept: slow growth is growth, too
            kept.append(k)
    return t[kept], top[kept]


def stretch(figure: Figure, times: Sequence[Any]) -> None:
    """Draw time on a logarithmic axis if half of these points lie in the first thousandth of it.

    There nearly all happens.
    """
    t = numbers(times)
    positive = t[t > 0]
    if positive.size and positive.size >= t.size - 1 and np.median(t) < positive.max() / 1000:
        for axes in figure.axes:
            style.logarithmic(axes.xaxis)
            axes.set_xlim(positive.min(), positive.max())


def fewer(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most MOST_POINTS points.

    Of each stretch the smallest and the largest value, so that extremes survive.
    """
    if len(t) <= MOST_POINTS:
        return t, values
    known = np.flatnonzero(np.isfinite(values))
    parts = [part for part in np.array_split(known, MOST_POINTS // 2) if len(part)]
    places = np.unique(
        [part[pick(values[part])] for part in parts for pick in (np.argmin, np.argmax)]
    ).astype(int)
    return t[places], values[places]


def steps(runs: Named) -> Figure:
    """Draw step sizes over time, and under them the selections where they change."""
    changing = [
        run for run in runs if "selection" in run[2] and len(set(map(str, run[2]["selection"][1]))) > 1
    ]
    figure = style.figure(7.2, 3.4 + 1.6 * bool(changing))
    grid = figure.subplots(
        1 + bool(changing), 1, sharex=True, squeeze=False, height_ratios=(3, 1.2)[: 1 + bool(changing)]
    )
    for label, look, series in runs:
        if "step" in series:
            t, values = fewer(*map(numbers, series["step"]))
            grid[0, 0].plot(t, np.maximum(np.abs(values), TINY), label=label, **_plain(look))
    style.logarithmic(grid[0, 0].yaxis)
    grid[0, 0].set_ylabel("step")
    if changing:
        _selections(grid[1, 0], changing)
    figure.axes[-1].set_xlabel("t")
    stretch(figure, _shortest(runs, "step"))
    style.legend_below(figure, figure.axes[0])
    return figure


def _shortest(runs: Named, name: str) -> Sequence[float]:
    """Return the times of the run with the fewest points in this series."""
    return min((series[name][0] for *_, series in runs if name in series), key=len, default=())


def _selections(axes: Any, runs: Named) -> None:
    """Draw which selection is in use: a line for each run that jumps between the selections it uses."""
    names = sorted({str(value) for *_, series in runs for value in series["selection"][1]})
    for _, look, series in runs:
        t, values = series["selection"]
        end = max((series.get("step") or series["selection"])[0])
        axes.step(
            [*t, end],
            [names.index(str(value)) for value in (*values, values[-1])],
            where="post",
            **_plain(look),
        )
    if len(names) > MOST_SELECTIONS:  # names would cover each other
        axes.set_ylabel(f"one of {len(names)}\nselections")
        axes.set_yticks([])
        return
    axes.set_yticks(range(len(names)), [fill(name, 36) for name in names], fontsize=7)
    axes.set_ylabel("selection")


def trajectory(series: Series, groups: Mapping[str, Sequence[int]], components: Sequence[str]) -> Figure:
    """Draw the components of one run, one panel for each group, the reference dotted on top."""
    members = {
        name: [components[k] for k in indices if k < len(components)] for name, indices in groups.items()
    }
    drawn = {
        name: [c for c in inside if f"y.{c}" in series][:MOST_COMPONENTS] for name, inside in members.items()
    }
    free = [
        c for c in components if f"y.{c}" in series and not any(c in inside for inside in members.values())
    ]
    panels = {
        name: inside
        for name, inside in {**drawn, "other components": free[:MOST_COMPONENTS]}.items()
        if inside
    }
    figure = style.figure(7.2, 1.0 + 1.6 * len(panels))
    for axes, (name, inside) in zip(
        figure.subplots(len(panels), 1, sharex=True, squeeze=False).flat, panels.items(), strict=True
    ):
        for k, component in enumerate(inside):
            t, values = series[f"y.{component}"]
            axes.plot(t, numbers(values), color=style.COLOURS[k], linewidth=1.2, label=component)
            if f"reference.{component}" in series:
                t, values = series[f"reference.{component}"]
                axes.plot(
                    t[::2], numbers(values)[::2], color="black", linewidth=1.2, linestyle=(0, (1, 3))
                )  # dots need fewer points
        axes.set_ylabel(name)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
    figure.axes[-1].set_xlabel("t")
    stretch(figure, next((times for name, (times, _) in series.items() if name.startswith("y.")), ()))
    return figure


def _plain(look: style.Look) -> dict[str, Any]:
    """Return the look of a curve with many points: a marker now and then."""
    return {**look.line(), "markevery": 0.2, "linewidth": 1.0, "markersize": 4}
