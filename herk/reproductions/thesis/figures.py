"""The figures of Chapter 4 redrawn from the thesis study, in one style, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from herk.reproductions import style
from herk.reproductions.thesis import Study
from herk.reproductions.thesis.experiments import errors
from herk.reproductions.thesis.systems import CHAIN, CIRCUIT

# Colours of Okabe and Ito: distinguishable with every kind of colour vision.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
)
CYCLE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK)
STYLE: Any = {**style.RC, "axes.prop_cycle": cycler(color=CYCLE), "lines.markersize": 4}
FIGURES = {
    "orders": "Figures 3, 4 and 9: orders",
    "swings": "Figures 5 to 8: half a period",
    "pendulum": "Figure 10: ten periods",
    "table1": "Table 1 as a picture",
    "wind": "Figure 11: the crane pendulum, as printed and corrected",
    "chain": "Figures 13 to 15: the chain",
    "circuit": "Figures 16 and 17: the circuit",
    "akzo": "Figures 18 to 20: Akzo Nobel",
}
METHODS = {"a": "(a) Euler", "b": "(b) Heun", "c": "(c) Kutta", "d": "(d) classical"}
WIDTH = 9.5


def orders(study: Study) -> Figure:
    """Draw Figures 3, 4 and 9."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for colour, letter in zip(CYCLE, METHODS, strict=False):
        found, noisy, clean = study.academic[letter], study.selector[0][letter], study.selector[1][letter]
        left.loglog(
            found.steps, found.at_end, "o-", color=colour, label=f"{METHODS[letter]}, p = {found.order:.4f}"
        )
        middle.loglog(
            noisy.steps, noisy.at_end, "o-", color=colour, label=f"{METHODS[letter]}, p = {noisy.order:.2f}"
        )
        middle.loglog(clean.steps, clean.largest, ":", color=colour)
    middle.plot([], [], ":", color="#555555", label="largest, exact Jacobian")
    right.loglog(
        study.period.steps,
        study.period.at_end,
        "o-",
        color=GREEN,
        label=f"(c) Kutta, p = {study.period.order:.4f}",
    )
    for axes, title in (
        (left, "Academic example (Fig. 3)"),
        (middle, "Selector change (Fig. 4)"),
        (right, "Pendulum, one period (Fig. 9)"),
    ):
        axes.set(title=title, xlabel="step h")
        axes.legend(fontsize=7, loc="upper left" if axes is right else "lower right")
    for axes in (left, middle):
        axes.set_ylim(1e-19 if axes is middle else 1e-17, None)
    left.set_ylabel("error at the end")
    return figure


def swings(study: Study) -> Figure:
    """Draw Figures 5 to 8: positions over half a period."""
    figure = Figure(figsize=(6.4, 6.8), layout="constrained")
    arc = np.linspace(np.pi, 2 * np.pi, 200)
    for axes, letter in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, METHODS, strict=True):
        axes.plot(np.cos(arc), np.sin(arc), color="#BBBBBB", linewidth=3, label="exact")
        for colour, count in zip((RED, ORANGE, BLUE), (10, 25, 100), strict=True):
            run = study.swings[letter, count]
            axes.plot(run.X[0], run.X[1], ".-", color=colour, linewidth=0.7, label=f"h = 1/{count}")
            if run.failure:
                axes.annotate(
                    "Newton aborts",
                    run.X[:2, -1],
                    xytext=(-0.75, 0.45),
                    color=colour,
                    arrowprops={"arrowstyle": "-", "color": colour},
                )
            axes.plot(run.X[0, -1], run.X[1, -1], "o", color=colour, markersize=6, markerfacecolor="none")
        axes.set(
            title=f"{METHODS[letter]} (Fig. {'abcd'.index(letter) + 5})",
            aspect="equal",
            xlim=(-1.15, 1.15),
            ylim=(-1.15, 1.15),
        )
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    for axes in figure.axes[2:]:
        axes.set_xlabel("x")
    for axes in figure.axes[::2]:
        axes.set_ylabel("y")
    return figure


def pendulum(study: Study) -> Figure:
    """Draw Figure 10: the components over ten periods."""
    figure = Figure(figsize=(WIDTH, 6), layout="constrained")
    names = ("x", "y", "v", "w", "λ")
    for k, axes in enumerate(figure.subplots(5, 1, sharex=True)):
        axes.plot(study.ten_periods.T, study.ten_periods.X[k], color=CYCLE[k])
        axes.set_ylabel(names[k], rotation=0, labelpad=10)
    figure.axes[-1].set_xlabel("t")
    figure.suptitle("System (4.5), ten periods, eps0 = 1e-7, beta = 0.7 (Fig. 10)")
    return figure


def table1(study: Study) -> Figure:
    """Draw Table 1: error over steps, printed (rings) and ours (lines), beside the modern mode."""
    spans = sorted({cell.printed.tf for cell in study.cells})
    figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    modern = {row.case: row.modern for row in study.rows if row.part == "Table 1" and row.modern}
    for axes, tf in zip(np.atleast_1d(figure.subplots(1, len(spans), sharey=True)), spans, strict=True):
        for colour, (system, beta) in zip(
            CYCLE, (("4.5", 0.7), ("4.5", 0.9), ("4.6", 0.7), ("4.6", 0.9)), strict=False
        ):
            line = [cell for cell in study.cells if cell.key[:3] == (system, tf, beta)]
            ended = [cell for cell in line if not cell.newton_abort]
            axes.loglog(
                [c.steps for c in ended],
                [c.error for c in ended],
                "-",
                color=colour,
                label=f"({system}), beta = {beta}",
            )
            filled = [cell.printed for cell in line if cell.printed.error is not None]
            axes.loglog(
                [p.steps for p in filled],
                [p.error for p in filled],
                "o",
                color=colour,
                markerfacecolor="none",
            )
        today = [m for case, m in modern.items() if case.startswith(f"(4.5), t_f = {tf:g}, beta = 0.7")]
        axes.loglog(
            [m.steps for m in today],
            [m.error for m in today],
            "k--",
            label="herk.solve_dae, dop853, on (4.5)",
        )
        axes.set(title=f"t_f = {tf:g}", xlabel="steps")
    figure.axes[0].set_ylabel("error at t_f")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8
    )
    figure.suptitle("Table 1: lines are ours, rings are printed")
    return figure


def wind(study: Study) -> Figure:
    """Draw Figure 11 as printed and corrected, and where they differ."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    path, speed, force = figure.subplots(1, 3)
    for (name, run), colour, width in zip(study.wind.items(), (RED, BLUE), (1.6, 0.8), strict=True):
        path.plot(run.X[0], run.X[1], color=colour, linewidth=width, label=f"constraints {name}")
        speed.plot(run.T, run.X[3], color=colour, linewidth=width)
    both = study.wind["printed"], study.wind["corrected"]
    force.plot(both[0].T, both[0].X[4] - both[1].X[4], color=BLACK)
    path.set(title="Position (Fig. 11)", xlabel="x", ylabel="y")
    speed.set(title="w: the printed one is not y'", xlabel="t", ylabel="w")
    force.set(title="λ printed − λ corrected", xlabel="t")
    figure.legend(*path.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def chain(study: Study) -> Figure:
    """Draw Figures 13 to 15."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    solution, error, steps = figure.subplots(1, 3)
    early = study.chain.T <= 20
    for k, name in ((0, "p1 = p3"), (1, "p2"), (6, "F")):
        solution.plot(study.chain.T[early], study.chain.X[k, early], label=name)
    solution.set(title="Solution (Fig. 13, first 20 s)", xlabel="t")
    solution.set_ylim(-2.2, 3.2)
    solution.legend(loc="upper center", ncols=3)
    error.plot(study.chain.T, 1e5 * errors(CHAIN, study.chain), color=BLUE, linewidth=0.5)
    error.set(title="Error × 10⁵, eps0 = 1e-7 (Fig. 14)", xlabel="t")
    for Nopt, colour in ((0, BLUE), (1, RED)):
        for stop, line in ((False, "o-"), (True, "s:")):
            runs = [
                each
                for each in study.chain_curve
                if each.Nopt == Nopt and each.max_norm == stop and not each.message
            ]
            label = f"Nopt = {Nopt}, {'max |g|' if stop else '|sum g|'} < tol"
            steps.loglog(
                [each.eps0 for each in runs],
                [each.steps for each in runs],
                line,
                color=colour,
                label=label,
                markersize=3,
            )
    steps.invert_xaxis()
    steps.set(title="Steps (Fig. 15), and another stop", xlabel="eps0")
    steps.legend(fontsize=7)
    return figure


def circuit(study: Study) -> Figure:
    """Draw Figures 16 and 17."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    total, parts = figure.subplots(1, 2)
    assert CIRCUIT.exact is not None
    exact = CIRCUIT.exact(study.circuit.T)
    total.plot(study.circuit.T, errors(CIRCUIT, study.circuit), color=BLUE, linewidth=0.8)
    total.set(title="Error (Fig. 16)", xlabel="t")
    for k, name in enumerate(("q1", "q2", "e1", "e2", "iV")):
        off = np.abs(study.circuit.X[k] - exact[k])
        parts.semilogy(
            study.circuit.T,
            np.maximum(off, 1e-18),
            linewidth=0.7,
            label=name if off.any() else f"{name} (none)",
        )
    parts.set(title="Error of the components (Fig. 17)", xlabel="t", ylim=(1e-13, 1e-7))
    parts.legend(loc="lower right", ncols=3)
    return figure


def akzo(study: Study) -> Figure:
    """Draw Figures 18 to 20."""
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    grid = figure.subplots(2, 4)
    for k in range(6):
        axes = grid.flat[k]
        axes.plot(study.akzo.T, study.akzo.X[k], color=CYCLE[k])
        axes.set(title=f"y{k + 1} (Fig. 18)", xlabel="t")
    grid.flat[6].plot(study.akzo.T, study.akzo.H, color=BLACK, linewidth=0.8)
    grid.flat[6].set(title="proposed step (Fig. 19)", xlabel="t")
    grid.flat[7].loglog(
        [steps for _, steps, _ in study.akzo_curve],
        [error for *_, error in study.akzo_curve],
        "o-",
        color=RED,
    )
    grid.flat[7].set(
        title="error over steps (Fig. 20)",
        xlabel="steps",
        xticks=(200, 1000, 5000),
        xticklabels=("200", "1000", "5000"),
    )
    grid.flat[7].xaxis.set_minor_formatter(NullFormatter())
    return figure


DRAWINGS: dict[str, Callable[[Study], Figure]] = {
    "orders": orders,
    "swings": swings,
    "pendulum": pendulum,
    "table1": table1,
    "wind": wind,
    "chain": chain,
    "circuit": circuit,
    "akzo": akzo,
}


def draw(study: Study, folder: Path) -> list[Path]:
    """Draw every figure as SVG and PNG."""
    return style.draw(DRAWINGS, study, folder, STYLE)
