"""The figures of Schropp's paper redrawn from the study `projection`.

With the counts and orders as pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from herk.reproductions import style
from herk.reproductions.projection import Study
from herk.reproductions.projection.drift import Drift

BLUE, RED, GREEN, PURPLE = style.COLOURS[:4]
FIGURES = {
    "pendulum": "Figures 1 to 3: the pendulum and its deviations d1, d2, d3",
    "andrews": "Figures 4 and 5: Andrews' mechanism and its deviations d1, d2",
    "counts": "Tables 1 and 2 as pictures",
    "orders": "Theorem 2.1: observed orders",
}
SIDES = {False: "without projection", True: "with projection"}
LIMITS = (1e-18, 1e-1)
FAMILIES = {
    "radau_iia": "Radau IIA",
    "radau_ia": "Radau IA",
    "lobatto_iiic": "Lobatto IIIC",
    "gauss": "Gauss (not covered)",
}
ANGLES = ("β", "Θ", "γ", "Φ", "δ", "Ω", "ε")


def size(values: np.ndarray) -> np.ndarray:
    """Return the largest |constraint| at each time.

    Exact zeros, which a logarithmic axis does not have, are left out.
    """
    largest: np.ndarray = np.abs(values).max(axis=0)
    return np.where(largest > 0.0, largest, np.nan)


def deviations(axes: Axes, drift: Drift) -> None:
    """Draw |d1| and |d2| over time."""
    for values, name, colour in zip(drift.deviations, ("|d1|", "|d2|"), (BLUE, RED), strict=False):
        axes.plot(drift.t, size(values), ".-", color=colour, linewidth=0.6, markersize=2, label=name)
    axes.set(title=SIDES[drift.projected], xlabel="t", ylim=LIMITS)
    style.logarithmic(axes.yaxis)
    axes.set_ylim(LIMITS)


def pendulum(study: Study) -> Figure:
    """Draw Figures 1, 2 and 3."""
    drawn = style.figure(9.5, 5.6)
    grid = drawn.subplots(2, 3)
    runs = [study.drifts["pendulum_unit", projected] for projected in (False, True)]
    grid[0, 0].plot(runs[1].y[0], runs[1].y[1], ".-", color=BLUE, markersize=3, linewidth=0.6)
    grid[0, 0].set(title="Path (Fig. 1)", xlabel="u1", ylabel="u2", aspect="equal")
    for name, k, colour in (("u1", 0, BLUE), ("u2", 1, RED), ("λ", 4, GREEN)):
        grid[1, 0].plot(runs[1].t, runs[1].y[k], color=colour, linewidth=0.9, label=name)
    grid[1, 0].set(title="Solution", xlabel="t", ylim=(-1.2, 2.4))
    grid[1, 0].legend(ncols=3, loc="upper center")
    limit = 1.1 * max(np.abs(run.deviations[2]).max() for run in runs)
    for column, run in zip((1, 2), runs, strict=True):
        deviations(grid[0, column], run)
        grid[1, column].plot(run.t, run.deviations[2][0], color=PURPLE, linewidth=0.7)
        grid[1, column].set(title=f"d3 {SIDES[run.projected]} (Fig. 3)", xlabel="t", ylim=(-limit, limit))
    grid[0, 1].set_ylabel("deviation (Fig. 2)")
    grid[0, 2].legend(loc="upper right", markerscale=3)
    return drawn


def andrews(study: Study) -> Figure:
    """Draw Figures 4 and 5."""
    drawn = style.figure(9.5, 3.6)
    angles, *sides = drawn.subplots(1, 3)
    runs = [study.drifts["andrews", projected] for projected in (False, True)]
    for k, name in enumerate(ANGLES):
        angles.plot(
            runs[1].t, np.remainder(runs[1].y[k] + np.pi, 2 * np.pi) - np.pi, ".", markersize=1.8, label=name
        )
    angles.set(title="Angles, modulo 2π (Fig. 4)", xlabel="t", ylim=(-3.3, 5.6))
    angles.legend(ncols=4, loc="upper center", markerscale=4, handletextpad=0.1, columnspacing=0.8)
    for axes, run in zip(sides, runs, strict=True):
        deviations(axes, run)
    sides[0].set_ylabel("deviation (Fig. 5)")
    sides[1].legend(loc="upper right", markerscale=3)
    return drawn


def counts(study: Study) -> Figure:
    """Draw both tables: lines are ours, rings are printed."""
    drawn = style.figure(8.5, 3.8)
    for axes, (problem, title) in zip(
        drawn.subplots(1, 2), (("pendulum_unit", "Pendulum"), ("andrews", "Andrews' mechanism")), strict=True
    ):
        for quantity, marker in (("evaluations", "o"), ("Jacobians", "s")):
            for projected, colour in ((False, RED), (True, BLUE)):
                cells = [
                    c
                    for c in study.cells
                    if (c.problem, c.quantity, c.projected, c.original)
                    == (problem, quantity, projected, False)
                ]
                x = [c.tolerance for c in cells]
                axes.plot(x, [c.ours for c in cells], color=colour, label=f"{quantity}, {SIDES[projected]}")
                axes.plot(
                    x,
                    [c.printed for c in cells],
                    marker,
                    color=colour,
                    markerfacecolor="none",
                    linestyle="none",
                )
        axes.set(title=title, xlabel="tolerance", ylabel="count")
        for axis in (axes.xaxis, axes.yaxis):
            style.logarithmic(axis)
        axes.invert_xaxis()
    drawn.suptitle("Lines are ours, markers are printed", fontsize=9)
    style.legend_below(drawn, drawn.axes[0], 2)
    return drawn


def orders(study: Study) -> Figure:
    """Draw the errors over the step size of the methods with three stages.

    The claimed slope as a dotted line.
    """
    drawn = style.figure(9.5, 3.8)
    shown = [o for o in study.orders if o.method.stages == 3 and o.projected]
    families = list(dict.fromkeys(o.method.family for o in shown))
    for axes, component in zip(drawn.subplots(1, 3), ("u", "v", "lambda"), strict=True):
        for o in (o for o in shown if o.component == component):
            k = families.index(o.method.family)
            h = 1.0 / np.array(o.steps)
            axes.plot(
                h, o.errors, color=style.COLOURS[k], marker=style.MARKERS[k], label=FAMILIES[o.method.family]
            )
            if o.covered:
                axes.plot(
                    h, o.errors[0] * (h / h[0]) ** o.claimed, ":", color=style.COLOURS[k], linewidth=1.0
                )
        axes.set(title=component.replace("lambda", "λ"), xlabel="h")
        for axis in (axes.xaxis, axes.yaxis):
            style.logarithmic(axis)
    drawn.axes[0].set_ylabel("largest error")
    drawn.suptitle("Projected methods with three stages; dotted: order claimed", fontsize=9)
    style.legend_below(drawn, drawn.axes[0], 4)
    return drawn


DRAWINGS: dict[str, Callable[[Study], Figure]] = {
    "pendulum": pendulum,
    "andrews": andrews,
    "counts": counts,
    "orders": orders,
}


def draw(study: Study, folder: Path) -> list[Path]:
    """Draw every figure as SVG and PNG."""
    return style.draw(DRAWINGS, study, folder)
