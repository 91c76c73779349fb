"""The figures of Wunderlich's paper redrawn from the study `second_order`.

With tables and orders as pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from herk.reproductions import style
from herk.reproductions.second_order import Study, circle, circuit

BLUE, RED, GREEN, PURPLE, ORANGE = style.COLOURS[:5]
FIGURES = {
    "tables": "Tables 1 and 2: error of λ where steps and orders change",
    "bdf": "Figures 2 and 3: BDF with rising order and with changing steps",
    "runge_kutta": "Figures 4 and 5: Radau IIA, constant and changing steps",
    "general_linear": "Figures 6 and 7: general linear methods, constant and changing steps",
    "controlled": "Figures 3, 5 and 7 under error control, λ not in the error test",
    "errors": "Largest errors of every method and variable, Figures 2 to 7",
    "circuit": "Figure 8: the circuit",
    "raised": "Example 1.2: what a change of the step does",
    "orders": "Orders on the circuit (index 1) and on the circular track (index 3)",
}
KINDS = {True: ("second order", BLUE, "-"), False: ("first order", RED, "--")}
SHOWN = {"y1": 0, "y2": 1, "λ": 4}


def positive(values: np.ndarray) -> np.ndarray:
    """Return values for a logarithmic axis, which has no zero."""
    return np.where(values > 0, values, np.nan)


def tables(study: Study) -> Figure:
    """Draw the errors of lambda step by step."""
    drawn = style.figure(9.5, 3.6)
    for axes, each in zip(drawn.subplots(1, 3), study.jumps[:3], strict=True):
        steps = np.arange(1, len(each.t) + 1)
        axes.plot(steps, each.ordinary, "s--", color=RED, label="BDF for first order (printed)")
        axes.plot(steps, each.modified, "o-", color=BLUE, label="modified BDF for second order")
        axes.set(title=each.case, xlabel="step")
        axes.set_ylim(5e-5, 2e1)
        axes.set_xticks(steps)
        style.logarithmic(axes.yaxis)
    drawn.axes[0].set_ylabel("error of λ")
    style.legend_below(drawn, drawn.axes[0], 2)
    return drawn


def errors(axes: Axes, study: Study, figure: int, component: int) -> None:
    """Draw the errors of one component in both ways."""
    for curve in circle.pair(study.curves, figure):
        name, colour, line = KINDS[curve.second_order]
        axes.plot(
            curve.t[1:],
            positive(curve.errors[1:, component]),
            line,
            color=colour,
            linewidth=1.2,
            label=f"method for {name}",
        )
    style.logarithmic(axes.yaxis)


def controlled(study: Study) -> Figure:
    """Draw the errors of lambda where the methods choose their steps."""
    drawn = style.figure(9.5, 3.6)
    for axes, figure in zip(drawn.subplots(1, 3, sharey=True), (3, 5, 7), strict=True):
        for run in (each for each in study.controlled if each.figure == figure and not each.whole):
            name, colour, line = KINDS[run.second_order]
            wrong = np.abs(run.z - circle.reference(run.t))[1:, SHOWN["λ"]]
            axes.plot(
                run.t[1:], positive(wrong), f"o{line}", color=colour, markersize=4, label=f"method for {name}"
            )
            axes.set(title=f"Figure {figure}: {run.method}", xlabel="t")
        style.logarithmic(axes.yaxis)
    drawn.axes[0].set_ylabel("error of λ")
    style.legend_below(drawn, drawn.axes[0], 2)
    return drawn


def panels(study: Study, figures: tuple[int, int]) -> Figure:
    """Draw the numerical lambda and the errors of y1, y2 and lambda for two figures."""
    drawn = style.figure(10.5, 5.6)
    for row, figure in zip(drawn.subplots(2, 4), figures, strict=True):
        second, first = circle.pair(study.curves, figure)
        for curve in (first, second):
            name, colour, line = KINDS[curve.second_order]
            row[0].plot(curve.t, curve.z[:, -1], line, color=colour, label=f"method for {name}")
        row[0].set_title(f"Fig. {figure}: λ as computed")
        if figure in (2, 3):  # the spikes are in the first steps
            row[0].set_xlim(0.0, 0.02)
            for line in row[0].get_lines():
                line.set_marker(".")
        for axes, (name, component) in zip(row[1:], SHOWN.items(), strict=True):
            errors(axes, study, figure, component)
            axes.set_title(f"error of {name}")
    for axes in drawn.axes[4:]:
        axes.set_xlabel("t")
    style.legend_below(drawn, drawn.axes[1], 2)
    return drawn


def table_of_errors(study: Study) -> Figure:
    """Draw the table of largest errors, one line for each run."""
    drawn = style.figure(8.4, 3.9)
    axes = drawn.subplots()
    axes.set_axis_off()
    cells = [
        [
            f"{c.figure}",
            c.method,
            KINDS[c.second_order][0],
            "constant" if c.figure % 2 == 0 else "changing",
            *(f"{e:.1e}" for e in c.largest),
        ]
        for c in sorted(study.curves, key=lambda c: (c.figure, not c.second_order))
    ]
    head = ["Fig.", "method", "for", "steps", *circle.NAMES]
    widths = [0.05, 0.17, 0.16, 0.12, *[0.1] * 5]
    table = axes.table(
        cellText=cells, colLabels=head, colWidths=widths, loc="center", cellLoc="right", edges="horizontal"
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1.0, 1.45)
    for (row, column), cell in table.get_celld().items():
        cell.set_edgecolor("#CCCCCC")
        cell.set_text_props(
            weight="bold" if row == 0 else "normal",
            horizontalalignment="left" if 1 <= column <= 3 else "right",
        )
    return drawn


def the_circuit(study: Study) -> Figure:
    """Draw Figure 8: solution and errors of the three voltages."""
    drawn = style.figure(10.5, 3.6)
    solution, *parts = drawn.subplots(1, 4)
    some = study.circuit["Radau IIA"]
    for k, colour in enumerate((GREEN, PURPLE, ORANGE)):
        solution.plot(some.t, some.z[:, k], color=colour, label=circuit.NAMES[k])
    solution.set(title="Solution (Fig. 8)", xlabel="t")
    solution.legend()
    looks = {"BDF2": (RED, "--"), "Radau IIA": (BLUE, "-"), "general linear": (GREEN, "-.")}
    for k, axes in enumerate(parts):
        for method, (colour, line) in looks.items():
            run = study.circuit[method]
            off = np.abs(run.z - circuit.exact("rlc", run.t))[1:, k]
            axes.plot(run.t[1:], positive(off), line, color=colour, label=method)
        axes.set(title=f"error of {circuit.NAMES[k]}", xlabel="t")
        style.logarithmic(axes.yaxis)
        axes.set_ylim(1e-14, 1e-2)
    style.legend_below(drawn, parts[0], 3)
    return drawn


def raised_index(study: Study) -> Figure:
    """Draw the errors right after the step was halved, over the step."""
    drawn = style.figure(6.4, 4.2)
    axes = drawn.subplots()
    looks = ((BLUE, "o-"), (GREEN, "^:"), (RED, "s--"))
    for way, (colour, line) in zip(study.ways, looks, strict=True):
        hollow = {"markersize": 9, "markerfacecolor": "none"} if line.startswith("^") else {}
        axes.plot(way.steps, way.x2, line, color=colour, label=f"x2, {way.way} (index {way.index})", **hollow)
        if way.v2 is not None:
            axes.plot(way.steps, way.v2, "D-.", color=PURPLE, label=f"v2, {way.way} (index {way.index})")
    axes.set(
        title="Example 1.2: error after the step is halved, order 1",
        xlabel="h",
        ylabel="largest error in 8 steps",
    )
    style.logarithmic(axes.xaxis)
    style.logarithmic(axes.yaxis)
    style.legend_below(drawn, axes, 1)
    return drawn


def orders(study: Study) -> Figure:
    """Draw errors over steps, circuit and track, with the orders they show."""
    drawn = style.figure(10.5, 4.6)
    names = {"rlc": ("voltages",), "circular_track": ("positions", "velocities", "multipliers")}
    places = [(problem, group) for problem, groups in names.items() for group in groups]
    looks = dict(
        zip(
            dict.fromkeys(o.method for o in study.orders),
            zip(style.COLOURS, style.MARKERS, strict=False),
            strict=False,
        )
    )
    for axes, (problem, group) in zip(drawn.subplots(1, 4), places, strict=True):
        for each in (o for o in study.orders if o.problem == problem):
            colour, marker = looks[each.method]
            k = each.groups.index(group)
            axes.plot(
                each.steps,
                each.errors[:, k],
                marker=marker,
                color=colour,
                label=f"{each.method}: {round(each.observed[k], 2) + 0.0:.2f}",
            )
        axes.set(title=f"{'circuit' if problem == 'rlc' else 'track'}: {group}", xlabel="h")
        style.logarithmic(axes.xaxis)
        axes.set_xticks(each.steps, [f"{h:.4f}" for h in each.steps])
        style.logarithmic(axes.yaxis)
        axes.legend(
            fontsize=7,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=1,
            title="order",
            title_fontsize=7,
        )
    drawn.axes[0].set_ylabel("largest error")
    return drawn


DRAWINGS: dict[str, Callable[[Study], Figure]] = {
    "tables": tables,
    "bdf": lambda study: panels(study, (2, 3)),
    "runge_kutta": lambda study: panels(study, (4, 5)),
    "general_linear": lambda study: panels(study, (6, 7)),
    "controlled": controlled,
    "errors": table_of_errors,
    "circuit": the_circuit,
    "raised": raised_index,
    "orders": orders,
}


def draw(study: Study, folder: Path) -> list[Path]:
    """Draw every figure as SVG and PNG."""
    return style.draw(DRAWINGS, study, folder)
