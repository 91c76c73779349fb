"""Section: how the cost of a step, of a solve and of getting ready grows with the size of a problem."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from herk.reproductions import style
from reports import figures
from reports.claims import Claim, none
from reports.contents import Contents
from reports.section import Picture, Section
from reports.tables import Table, seconds, short

TITLE = "Scaling"
WORDS = (
    "Problems of any size, each at one tolerance and at growing numbers of unknowns. The exponent is the"
    " slope of the time of a step over the number of unknowns in logarithms, by least squares over all sizes"
    " that reached the end: 1 is work in proportion to the size, 3 that of dense matrices. Getting ready is"
    " what the run met before its first step, two runs in advance included; hidden constraints and machine"
    " code that an earlier look at the problem had left in the cache are read from there, not made again."
)
Moments = tuple[list[float], np.ndarray]  # times, and x, y, z of a net at each
Curves = dict[tuple[str, str], pd.DataFrame]


def section(contents: Contents) -> Section:
    """Return the section."""
    found = measured(contents)
    if not found:
        return Section("scaling", TITLE, (none("scaling"),), in_summary=False)
    names = sorted({problem for problem, _ in found})
    claims = tuple(claim(name, found) for name in names)
    looks = figures.looks(contents)
    pictures = tuple(
        Picture(
            f"scaling_{name}", f"CPU time of a step on {name} against its unknowns.", draw(name, found, looks)
        )
        for name in names
    )
    drawn = (*pictures, *nets(contents))
    return Section("scaling", TITLE, claims, (WORDS,), (table(found), exponents(found)), drawn)


def measured(contents: Contents) -> Curves:
    """Return a row for each size of every problem and curve: unknowns and what was spent, medians."""
    runs = contents.runs[(contents.runs["study"] == "scaling") & contents.runs["ok"]]
    runs = runs[runs["time"].notna() & (runs["nstep"] > 0)]
    found = {}
    for (problem, curve), part in runs.groupby(["problem", "curve"], sort=True):
        sizes = part["changes"].map(lambda changes, name=problem: contents.problem(name, changes).get("n"))
        rows = pd.DataFrame(
            {
                "unknowns": sizes,
                "steps": part["nstep"],
                "time": part["time"],
                "step": part["time"] / part["nstep"],
                "ready": part["compile_seconds"],
                "memory": part["memory_bytes"],
                "error": part["error_end"],
            }
        ).dropna(subset=["unknowns"])
        if len(rows):
            found[str(problem), str(curve)] = rows.groupby("unknowns").median().reset_index()
    return found


def exponent(rows: pd.DataFrame, what: str = "step") -> float | None:
    """Return the slope of log cost over log unknowns to six places; None for a single size."""
    rows = rows[rows[what] > 0]
    if len(rows) < 2:
        return None
    return round(float(np.polyfit(np.log(rows["unknowns"]), np.log(rows[what]), 1)[0]), 6) + 0.0


def claim(name: str, found: Curves) -> Claim:
    """Return how the time of a step grows, curve by curve."""
    curves = [
        [curve, exponent(rows), int(rows["unknowns"].min()), int(rows["unknowns"].max())]
        for (problem, curve), rows in found.items()
        if problem == name
    ]
    return Claim("scaling", {"problem": name, "curves": curves})


def table(found: Curves) -> Table:
    """Return a row for every problem, curve and size."""
    rows = [
        (
            problem,
            curve,
            int(row.unknowns),
            int(row.steps),
            row.step,
            row.step / row.unknowns,
            row.time,
            row.ready,
            row.memory / 2**20,
            row.error,
        )
        for (problem, curve), part in found.items()
        for row in part.itertuples()
    ]
    columns = [
        "problem",
        "curve",
        "unknowns",
        "steps",
        "per step",
        "per step and unknown",
        "solve",
        "getting ready",
        "MiB",
        "error at the end",
    ]
    times = ("per step", "per step and unknown", "solve", "getting ready")
    formats = {**dict.fromkeys(times, seconds), "MiB": "{:.1f}".format, "error at the end": short}
    frame = pd.DataFrame(rows, columns=columns)
    return Table("scaling", "Cost against size: CPU times, medians over the runs of a size.", frame, formats)


def exponents(found: Curves) -> Table:
    """Return how each cost grows: a row for every problem and curve of more than one size."""
    columns = {"step": "a step", "time": "a solve", "ready": "getting ready", "memory": "memory"}
    rows = [
        (problem, curve, *(exponent(part, what) for what in columns))
        for (problem, curve), part in found.items()
        if len(part) > 1
    ]
    frame = pd.DataFrame(rows, columns=["problem", "curve", *columns.values()])
    words = "Fitted exponents of costs over unknowns; spans of some problems are shorter for larger sizes."
    return Table("scaling_exponents", words, frame, dict.fromkeys(columns.values(), short))


def draw(name: str, found: Curves, looks: figures.Looks) -> Figure:
    """Draw the time of a step against the unknowns."""
    figure = style.figure(6.4, 4.2)
    axes = figure.subplots()
    for (problem, curve), rows in found.items():
        if problem == name:
            axes.plot(rows["unknowns"], rows["step"], label=curve, **looks[curve].line())
    axes.set(xlabel="unknowns", ylabel="CPU time of a step (s)")
    style.logarithmic(axes.xaxis)
    style.logarithmic(axes.yaxis)
    style.legend_below(figure, axes)
    return figure


def nets(contents: Contents) -> tuple[Picture, ...]:
    """Return a picture of the net of each problem that has one: that of the run with most points.

    Of several it is the longest.
    """
    runs = contents.runs[(contents.runs["study"] == "scaling") & contents.runs["ok"]]
    furthest: dict[str, tuple[tuple[int, float], Moments]] = {}
    for problem, key in zip(runs["problem"], runs["key"], strict=True):
        series = contents.series.get(key, {})
        if all(f"net.{axis}" in series for axis in "xyz"):
            times = series["net.x"][0]
            points = np.array([series[f"net.{axis}"][1] for axis in "xyz"], dtype=float)
            rank = points.size, times[-1]
            if problem not in furthest or rank > furthest[problem][0]:
                furthest[problem] = rank, (times, points)
    return tuple(
        Picture(f"net_{name}", caption(name, moments), draw_net(*moments))
        for name, (_, moments) in sorted(furthest.items())
    )


def caption(name: str, moments: Moments) -> str:
    """Return what the picture of a net shows."""
    _, _, rows, columns = moments[1].shape
    return f"{name}: {rows - 1} x {columns} masses, rods between neighbours, at four moments of a run."


def draw_net(times: list[float], points: np.ndarray) -> Figure:
    """Draw a net in space at several moments: a line for each row and each column."""
    figure = style.figure(7.2, 6.4)
    grid = figure.subplots(2, 2, subplot_kw={"projection": "3d"})
    low, high = (limit(points, axis=(1, 2, 3)) for limit in (np.min, np.max))
    for axes, t, (x, y, z) in zip(grid.flat, times, np.moveaxis(points, 1, 0), strict=True):
        for rows in ((x, y, z), (x.T, y.T, z.T)):
            for line in zip(*rows, strict=True):
                axes.plot(*line, color=style.COLOURS[0], linewidth=0.5)
        axes.set(
            xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]), title=f"t = {t:.3g} s"
        )
        axes.set_box_aspect(np.maximum(high - low, 0.05 * (high - low).max()))
        axes.view_init(elev=18, azim=-60)
        axes.tick_params(labelsize=7)
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_major_locator(MaxNLocator(3))
    return figure
