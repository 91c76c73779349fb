"""Draw the picture of the README.

How far solvers leave the circle of the pendulum, 100 periods at the same tolerance.

Usage: python tools/make_readme_picture.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import baselines
import herk
import testset
from herk.bench import whole_files
from herk.core import Settings

PERIODS, TOLERANCE = 100, 1e-8
# Solver, form, label, colour of Okabe and Ito, marker.
CURVES = (
    ("herk_dop853", "overdetermined", "herk: all constraints kept", "#0072B2", "o"),
    ("herk_dop853", "ode", "same method (DOP853), underlying ODE", "#009E73", "^"),
    ("scipy_lsoda", "ode", "LSODA, underlying ODE", "#D55E00", "P"),
    ("ida_sundae", "index1", "IDA, index-1 form", "#000000", "*"),
)
FLOOR = 1e-17  # a residual of zero is drawn here


def drift(name: str, form: str, problem: herk.Problem) -> np.ndarray:
    """Return the largest |x^2 + y^2 - 1| at the accepted points of each period."""
    solver = baselines.get(name)
    sol = solver.solve(solver.prepare(problem, form), Settings(rtol=TOLERANCE, atol=TOLERANCE))
    residual = np.abs(sol.y[0] ** 2 + sol.y[1] ** 2 - 1.0)
    return np.array(
        [max(FLOOR, residual[(sol.t >= 2 * i) & (sol.t <= 2 * i + 2)].max()) for i in range(PERIODS)]
    )


def draw(target: Path) -> Path:
    """Run the four solvers and write the picture."""
    problem = testset.get("pendulum", t_end=2.0 * PERIODS)
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for name, form, label, colour, marker in CURVES:
        style = {"color": colour, "marker": marker, "markevery": 11, "markersize": 6, "label": label}
        axes.semilogy(np.arange(1, PERIODS + 1), drift(name, form, problem), **style)
    axes.set(
        xlabel="periods of the pendulum",
        ylabel="largest |x² + y² − 1| in the period",
        xlim=(0, PERIODS + 1),
        ylim=(FLOOR, 1e-2),
    )
    axes.set_title(f"Leaving the circle: tolerance {TOLERANCE:.0e} for all")
    axes.grid(alpha=0.3)
    axes.legend(loc="center right", frameon=False)
    return whole_files.replace(target, lambda path: figure.savefig(path, dpi=150))


if __name__ == "__main__":
    published = Path(__file__).parents[1] / "reports" / "published" / "pendulum.png"
    print(draw(Path(sys.argv[1]) if len(sys.argv) > 1 else published))
