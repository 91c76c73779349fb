"""The figures of the lecture redrawn from its study.

Accuracy by index, condition numbers, wrong start, drift, Baumgarte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from herk.reproductions import style
from herk.reproductions.lecture import Study
from herk.reproductions.lecture.conditions import STEPS
from herk.reproductions.lecture.orders import Slopes
from herk.reproductions.lecture.pictures import DAMPED, decay
from herk.reproductions.style import COLOURS, GREY, MARKERS

FIGURES = {
    "accuracy": (
        "Error of x over the step size: the spherical pendulum as ODE and with index 1, 2, 3, by number of"
        " stages n_s"
    ),
    "components": (
        "Order reduction by component with two stages: positions and velocities x, y and multiplier z of the"
        " spherical pendulum"
    ),
    "condition": (
        "Condition number of the Newton matrix over the step size, and what other unknowns and scaling make"
        " of it"
    ),
    "wrong_start": (
        "Index 1 from a start that violates q·v = 0 runs to a wrong solution: the pendulum becomes longer and"
        " longer"
    ),
    "drift": (
        "Drift of the constraint |q·q − 1|: differentiated constraints are left, the index-3 form stays at"
        " rounding"
    ),
    "baumgarte": (
        "Baumgarte's stabilisation with (κ0, κ1): drift stays bounded, an error of the start dies out by its"
        " equation"
    ),
}
TITLES = {0: "ODE", 1: "index 1", 2: "index 2", 3: "index 3"}
NAMES = {"radau_iia": "Radau IIA", "gauss": "Gauss"}


def accuracy(study: Study) -> Figure:
    """Draw the error of x over h for Radau IIA and Gauss in every index."""
    drawn = style.figure(9.5, 5.6)
    grid = drawn.subplots(2, 4, sharex=True, sharey=True)
    stages = sorted({s for _, _, s in study.orders})
    for row, family in zip(grid, NAMES, strict=True):
        for index, axes in enumerate(row):
            for place, s in enumerate(stages):
                slopes = study.orders[index, family, s].pendulum
                _curve(axes, slopes, ["x"], [f"n_s = {s}"], first=place)
            axes.set_title(f"{NAMES[family]}, {TITLES[index]}")
    _finish(grid, "largest error of x")
    return drawn


def components(study: Study) -> Figure:
    """Draw the error of x, y and z over h with two stages."""
    drawn = style.figure(9.5, 5.6)
    grid = drawn.subplots(2, 3, sharex=True, sharey=True)
    for row, family in zip(grid, NAMES, strict=True):
        for index, axes in zip((1, 2, 3), row, strict=True):
            slopes = study.orders[index, family, 2].pendulum
            groups = list(slopes.errors or {})
            _curve(axes, slopes, groups, groups)
            axes.set_title(f"{NAMES[family]}, n_s = 2, {TITLES[index]}")
    _finish(grid, "largest error")
    return drawn


def condition(study: Study) -> Figure:
    """Draw condition numbers over h."""
    drawn = style.figure(9.5, 3.4)
    grid = drawn.subplots(1, 3, sharey=True)
    words = {
        "alike": "derivatives of all components",
        "slides": "k and z of the slides",
        "scaled": "rows and columns equilibrated",
    }
    for axes, (which, title) in zip(grid, words.items(), strict=True):
        for place, growth in enumerate(study.growth):
            label = f"{TITLES[growth.index]}: {_power(-growth.exponent(which))}"
            axes.loglog(
                STEPS,
                getattr(growth, which),
                color=COLOURS[place],
                marker=MARKERS[place],
                markersize=4,
                label=label,
            )
        axes.set(title=title, xlabel="step h", ylim=(0.5, 1e14))
        axes.legend(loc="upper right")
        _logarithmic(axes)
    grid[0].set_ylabel("condition number")
    return drawn


def wrong_start(study: Study) -> Figure:
    """Draw the paths, and the length of the pendulum."""
    drawn = style.figure(9.5, 4.0)
    path, length = drawn.subplots(1, 2)
    for place, (label, trace) in enumerate(study.pictures.wrong.items()):
        colour = COLOURS[1 - place]
        path.plot(trace.y[0], trace.y[2], color=colour, label=label)
        path.plot(trace.y[0, 0], trace.y[2, 0], "o", color=colour)
        length.plot(trace.t, np.sqrt(1 + trace.length), color=colour, label=label)
    path.add_patch(mpl.patches.Circle((0, 0), 1, fill=False, color=GREY, linestyle=":"))
    path.set(title="path, seen from the side", xlabel="q1", ylabel="q3", aspect="equal")
    wrong = next(iter(study.pictures.wrong.values()))
    law = 1 + wrong.length[0] + 2 * wrong.speed[0] * wrong.t
    length.plot(
        wrong.t, np.sqrt(law), color="black", linestyle=":", linewidth=2.2, label="law: |q|² = 1 + 2 (q·v)₀ t"
    )
    length.set(title="length |q|", xlabel="t")
    length.legend(loc="upper left")
    return drawn


def drift(study: Study) -> Figure:
    """Draw the violation of the length and of the speed over time."""
    drawn = style.figure(9.5, 3.6)
    left, right = drawn.subplots(1, 2, sharey=True)
    for place, (label, trace) in enumerate(study.pictures.drift.items()):
        for axes, values in ((left, trace.length), (right, trace.speed)):
            _violation(axes, trace.t, values, label.replace("index", "index "), place)
    left.set(title="|q·q − 1|", xlabel="t", ylim=(1e-17, 1e-2))
    right.set(title="|q·v|", xlabel="t")
    left.legend(loc="center right")
    style.logarithmic(left.yaxis)
    return drawn


def baumgarte(study: Study) -> Figure:
    """Draw the drift for some (kappa_0, kappa_1), and the decay of an error of the start."""
    drawn = style.figure(9.5, 3.6)
    left, right = drawn.subplots(1, 2)
    for place, trace in enumerate(study.pictures.stabilised.values()):
        _violation(left, trace.t, trace.length, f"(κ0, κ1) = {trace.label}", place)
    left.set(title="|q·q − 1|", xlabel="t", ylim=(1e-8, 1e-2))
    left.legend(loc="lower right", ncols=2)
    style.logarithmic(left.yaxis)
    decaying = study.pictures.decaying
    right.plot(
        decaying.t,
        decaying.length,
        color=COLOURS[0],
        linewidth=3,
        alpha=0.5,
        label="q·q − 1, start too long by 5 %",
    )
    law = decay(decaying.t, decaying.length[0], 2 * decaying.speed[0])
    right.plot(
        decaying.t, law, color="black", linestyle=":", label=f"g'' + {DAMPED[1]:g} g' + {DAMPED[0]:g} g = 0"
    )
    right.set(title=f"(κ0, κ1) = {decaying.label}", xlabel="t")
    right.legend()
    return drawn


def _curve(axes: Axes, slopes: Slopes, groups: Sequence[str], labels: Sequence[str], first: int = 0) -> None:
    h = 1 / np.array(slopes.steps)
    if slopes.errors is None:
        axes.text(0.5, 0.5, "no solution found", transform=axes.transAxes, ha="center", color=GREY)
        return
    for place, (group, label) in enumerate(zip(groups, labels, strict=True), first):
        text = f"{label}: {_power(slopes.order(group) or 0.0)}"
        axes.loglog(h, slopes.errors[group], color=COLOURS[place], marker=MARKERS[place], label=text)


def _power(exponent: float) -> str:
    return f"h^{round(exponent, 1) + 0.0:.1f}"


def _violation(axes: Axes, t: np.ndarray, values: np.ndarray, label: str, place: int) -> None:
    """Draw the largest violation so far.

    The sign changes of the violation itself would hide everything else.
    """
    some = slice(None, None, max(1, len(t) // 1000))
    largest = np.maximum(np.maximum.accumulate(np.abs(values)), 1e-17)[some]
    axes.semilogy(
        t[some], largest, color=COLOURS[place], label=label, linewidth=3.0 - 0.6 * place, zorder=2 + place
    )  # curves may coincide


def _finish(grid: np.ndarray, what: str) -> None:
    for axes in grid.flat:
        axes.legend(loc="lower right", fontsize=7)
        _logarithmic(axes)
    for axes in grid[-1]:
        axes.set_xlabel("step h")
    for axes in grid[:, 0]:
        axes.set_ylabel(what)


def _logarithmic(axes: Axes) -> None:
    style.logarithmic(axes.xaxis)
    style.logarithmic(axes.yaxis)


DRAWINGS: dict[str, Callable[[Study], Figure]] = {
    "accuracy": accuracy,
    "components": components,
    "condition": condition,
    "wrong_start": wrong_start,
    "drift": drift,
    "baumgarte": baumgarte,
}


def draw(study: Study, folder: Path) -> list[Path]:
    """Draw every figure as SVG and PNG."""
    return style.draw(DRAWINGS, study, folder)
