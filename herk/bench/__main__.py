"""`python -m herk.bench`: a first comparison on the pendulum, as a table, a CSV file and a picture; commands run more."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from sksundae.ida import IDA

import herk
import testset
from herk.bench import cli
from herk.core.dae import Array
from herk.model.forms import Form

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
PATIENCE = 2.0  # seconds; a solver that took longer is not asked for more accuracy
REPEATS = 5


@dataclass(frozen=True)
class Rival:
    """A solver on a form: `solve(form, tolerance)` returns times and points (unknowns x times)."""

    name: str
    form: str
    solve: Callable[[Form, float], tuple[Array, Array]]
    colour: str
    marker: str


@dataclass(frozen=True)
class Row:
    """One run, measured here and not by the solver."""

    solver: str
    form: str
    tolerance: float
    error: float
    steps: int
    ms: float
    residual: float


def ours(method: str) -> Callable[[Form, float], tuple[Array, Array]]:
    """Return HERK with this method; without constraints it is the method itself."""

    def solve(form: Form, tolerance: float) -> tuple[Array, Array]:
        sol = herk.solve_dae(form, method=method, rtol=tolerance, atol=tolerance)
        return sol.t, sol.y

    return solve


def scipy(method: str) -> Callable[[Form, float], tuple[Array, Array]]:
    """Return a method of SciPy for ODEs."""

    def solve(form: Form, tolerance: float) -> tuple[Array, Array]:
        sol = solve_ivp(form.rate, form.t_span, form.y0, method=method, rtol=tolerance, atol=tolerance)
        return sol.t, sol.y

    return solve


def ida(form: Form, tolerance: float) -> tuple[Array, Array]:
    """Solve F(t, z, z') = 0 with IDA at its own steps, with the exact Jacobian."""

    def jacobian(t: float, z: Array, zp: Array, _: Array, cj: float, out: Array) -> None:
        form.residual_jacobian(t, z, zp, cj, out)

    solver = IDA(form.residual, jacfn=jacobian, rtol=tolerance, atol=tolerance, algebraic_idx=list(form.algebraic), max_num_steps=1_000_000)
    sol = solver.solve(np.array(form.t_span), *form.start())
    return sol.t, sol.y.T


# Colours of Okabe and Ito: distinguishable with every kind of colour vision.
RIVALS = (
    Rival("herk_dop853", "overdetermined", ours("dop853"), "#0072B2", "o"),
    Rival("herk_dopri5", "overdetermined", ours("dopri5"), "#56B4E9", "s"),
    Rival("dop853", "ode", ours("dop853"), "#009E73", "^"),
    Rival("dopri5", "ode", ours("dopri5"), "#F0E442", "v"),
    Rival("scipy_dop853", "ode", scipy("DOP853"), "#E69F00", "D"),
    Rival("scipy_lsoda", "ode", scipy("LSODA"), "#D55E00", "P"),
    Rival("scipy_radau", "ode", scipy("Radau"), "#CC79A7", "X"),
    Rival("ida_sundae", "index1", ida, "#000000", "*"),
)


def run(rival: Rival, problem: herk.Problem) -> Iterator[Row]:
    """Yield one row for each tolerance: a warm-up, then the shortest of several runs counts."""
    form = problem.model.form(rival.form)
    rival.solve(form, TOLERANCES[0])
    for tolerance in TOLERANCES:
        seconds: list[float] = []
        while len(seconds) < REPEATS and sum(seconds) < PATIENCE:
            start = time.process_time()
            t, z = rival.solve(form, tolerance)
            seconds.append(time.process_time() - start)
        y = form.back(t, z)
        error = np.abs(y[:, -1] - problem.reference.y).max()
        residual = max(np.abs(problem.dae.g(*point)).max() for point in zip(t, y.T, strict=True))
        yield Row(rival.name, rival.form, tolerance, float(error), len(t) - 1, 1e3 * min(seconds), float(residual))
        if min(seconds) > PATIENCE:
            return


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text, a blank line between solvers."""
    lines = [f"{'solver':<14}{'form':<16}{'tolerance':>10}{'error':>10}{'steps':>8}{'ms':>10}{'max |g|':>10}"]
    for before, row in zip((None, *rows), rows, strict=False):
        lines += [""] if before is None or before.solver != row.solver else []
        lines.append(
            f"{row.solver:<14}{row.form:<16}{row.tolerance:>10.0e}{row.error:>10.1e}{row.steps:>8}{row.ms:>10.2f}{row.residual:>10.1e}"
        )
    return "\n".join(lines)


def picture(rows: Sequence[Row], title: str) -> Figure:
    """Return error over time and largest residual over error, one line for each solver."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    work, drift = figure.subplots(1, 2)
    for rival in RIVALS:
        own = [row for row in rows if row.solver == rival.name]
        style = {"color": rival.colour, "marker": rival.marker, "label": f"{rival.name} on {rival.form}", "markeredgecolor": "#555555"}
        work.loglog([row.ms for row in own], [row.error for row in own], **style)
        drift.loglog([row.error for row in own], [row.residual for row in own], **style)
    work.set(xlabel="processor time in ms", ylabel="error at the end", title="Work and precision")
    drift.set(xlabel="error at the end", ylabel="largest residual of a constraint", title="Constraints")
    for axes in (work, drift):
        axes.grid(alpha=0.3)
    figure.suptitle(title)
    figure.legend(*work.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def write(rows: Sequence[Row], folder: Path, title: str) -> None:
    """Write the rows as CSV and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "pendulum.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    picture(rows, title).savefig(folder / "pendulum.png", dpi=150)


def standard(folder: Path) -> int:
    """Run the comparison."""
    problem = testset.get("pendulum")
    title = f"{problem.title}, t = {problem.t_span[0]:g} to {problem.t_span[1]:g}"
    rows: list[Row] = []
    for rival in RIVALS:
        if sys.stderr.isatty():
            print(f"running {rival.name} ...", file=sys.stderr)
        rows += run(rival, problem)
    write(rows, folder, title)
    print(f"{title}\n\n{table(rows)}\n\nWritten: {folder / 'pendulum.csv'}, {folder / 'pendulum.png'}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line; without a command the comparison runs."""
    return cli.main(standard, arguments)


if __name__ == "__main__":
    sys.exit(main())
