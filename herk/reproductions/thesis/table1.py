"""Table 1, cell by cell: the pendulum for 10, 100 and 1000 periods with step doubling."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import testset
from herk.reproductions.published import Modern, Origin, Row, Verdict, close, digits_agree
from herk.reproductions.thesis.equations import PRINTED_G
from herk.reproductions.thesis.experiments import NOISE
from herk.reproductions.thesis.modern import modern
from herk.reproductions.thesis.printed import TABLE1, Printed
from herk.reproductions.thesis.systems import DRIFTING, PENDULUM, SETTINGS_43_TABLE
from herk.thesis import Settings, integrate
from herk.thesis.layout import NEWTON

SYSTEMS = {"4.5": PENDULUM, "4.6": DRIFTING}
STEPS_WITHIN, ERRORS_WITHIN = 0.005, 0.05
OUT_OF_PHASE = 2.0  # a factor; errors of 1 and more say that the pendulum is elsewhere, and no more
MISPRINTED_BY = 0.02  # a printed error that is nearer to ours is no misprint
LONGEST = 200.0  # of the quick table
SHORTEST, LOOSE = 20.0, 1e-8  # cells that are run again and again to see what rounding does

Key = tuple[str, float, float, float]


@dataclass(frozen=True)
class Cell:
    """A cell as printed and as computed; steps is accepted + 1, as in the thesis."""

    printed: Printed
    error: float
    steps: int
    rejected: int
    newton_abort: bool
    t_reached: float
    seconds: float

    @property
    def key(self) -> Key:
        """Return what identifies the cell."""
        p = self.printed
        return p.system, p.tf, p.beta, p.eps0

    @property
    def matches(self) -> bool:
        """Tell whether steps are within 0.5 % and errors within 5 %, or both of size 1.

        A failing cell must fail by a Newton abort.
        """
        if self.printed.error is None or self.printed.steps is None or self.newton_abort:
            return self.newton_abort and self.printed.error is None
        return self.near and close(self.steps, self.printed.steps, STEPS_WITHIN)

    @property
    def near(self) -> bool:
        """Tell whether the errors agree.

        Within 5 %, or a factor 2 where both are 1 and more, which is out of phase.
        """
        assert self.printed.error is not None
        if self.printed.error < 1:
            return close(self.error, self.printed.error, ERRORS_WITHIN)
        return self.error >= 1 and 1 / OUT_OF_PHASE <= self.error / self.printed.error <= OUT_OF_PHASE


@dataclass(frozen=True)
class Explanation:
    """Why a cell differs, and what must hold of ours for the reason to be one.

    Misprints and the edge are computed in the errata.
    """

    verdict: Verdict
    why: str
    fits: Callable[[Cell], bool]


def misprint(right: float, why: str) -> Explanation:
    """Return the reason of a cell that has the printed steps and, in three digits.

    Another error than the printed one.
    """

    def fits(cell: Cell) -> bool:
        assert cell.printed.error is not None
        agrees = digits_agree(cell.error, right, 3) and not close(
            cell.error, cell.printed.error, MISPRINTED_BY
        )
        return agrees and cell.steps == cell.printed.steps and not cell.newton_abort

    return Explanation(Verdict.MISPRINT, f"{right:.2e} is meant: {why}", fits)


def noise(low: float, high: float, why: str) -> Explanation:
    """Return the reason of a cell whose error may lie anywhere in a band.

    With the printed steps within 0.5 %.
    """

    def fits(cell: Cell) -> bool:
        assert cell.printed.steps is not None
        return (
            low <= cell.error <= high
            and close(cell.steps, cell.printed.steps, STEPS_WITHIN)
            and not cell.newton_abort
        )

    return Explanation(Verdict.ROUNDING, why, fits)


def edge(after: float, why: str) -> Explanation:
    """Return the reason of a cell in which Newton gives up near the end."""
    return Explanation(
        Verdict.ROUNDING, why, lambda cell: cell.newton_abort and after <= cell.t_reached <= cell.printed.tf
    )


EXPLAINED: dict[Key, Explanation] = {
    ("4.6", 20.0, 0.7, 1e-12): misprint(
        1.99e-7, "same steps, and only so the factor from t_f = 20 to 200 is that of 1e-11"
    ),
    ("4.6", 200.0, 0.7, 1e-12): misprint(1.50e-4, "same steps, exponent misprinted"),
    ("4.6", 20.0, 0.9, 1e-12): misprint(5.25e-7, "same steps, digits transposed"),
    ("4.6", 200.0, 0.9, 1e-6): edge(
        190.0, "an edge: Newton gives up at t = 195 of 200; with delta = 1e-8 the run ends (errata)"
    ),
    ("4.5", 2000.0, 0.9, 1e-6): noise(
        0.69, 0.80, "1000 periods with noisy Jacobians: an error from 0.69 to 0.80 is rounding"
    ),
}


def run_cell(
    system: str, tf: float, beta: float, eps0: float, settings: Settings = SETTINGS_43_TABLE
) -> Cell:
    """Compute one cell."""
    printed = next(cell for cell in TABLE1 if cell[:4] == (system, tf, beta, eps0))
    problem = SYSTEMS[system]
    start = time.process_time()
    run = integrate(problem.dae, 0.0, tf, problem.x0, replace(settings, beta=beta, eps0=eps0))
    seconds = time.process_time() - start
    error = float(np.linalg.norm(run.X[:, -1] - problem.x0))
    return Cell(printed, error, len(run.T), run.rejected, run.failure == NEWTON, float(run.T[-1]), seconds)


def cells(quick: bool = False) -> list[Printed]:
    """Return the cells to compute, the long ones left out if quick."""
    return [cell for cell in TABLE1 if not quick or cell.tf <= LONGEST]


def table1(wanted: Iterable[Printed] = TABLE1, say: Callable[[str], None] = lambda _: None) -> list[Cell]:
    """Compute the cells one after the other."""
    done = []
    for p in wanted:
        done.append(run_cell(*p[:4]))
        say(
            f"Table 1: ({p.system}), t_f = {p.tf:g}, beta = {p.beta}, eps0 = {p.eps0:.0e}: {done[-1].steps}"
            f" steps, {done[-1].seconds:.2f} s"
        )
    return done


def verdict(cell: Cell) -> tuple[Verdict, str]:
    """Judge one cell."""
    p, known = cell.printed, EXPLAINED.get(cell.key)
    if known is not None and (known.verdict is Verdict.MISPRINT or not cell.matches):
        return (
            (known.verdict, known.why)
            if known.fits(cell)
            else (Verdict.LOST, "the known reason does not fit what we get")
        )
    if not cell.matches:
        return Verdict.LOST, ""
    if p.error is None or p.steps is None:
        return Verdict.SAME, f"Newton aborts at t = {cell.t_reached:.1f}"
    if cell.steps == p.steps and digits_agree(cell.error, p.error, 3):
        return Verdict.SAME, ""
    if p.error >= 1 and not close(cell.error, p.error, ERRORS_WITHIN):
        return Verdict.ROUNDING, "errors of 1 and more are out of phase: ours is one too, and the steps agree"
    return (
        Verdict.ROUNDING,
        f"steps {100 * (cell.steps / p.steps - 1):+.3f} %, error {100 * (cell.error / p.error - 1):+.1f} %",
    )


def rows(done: Iterable[Cell]) -> list[Row]:
    """Return two rows (error, steps) for each cell, one for a failing one.

    The modern mode runs with rtol = atol = eps0.
    """
    found = []
    for cell in done:
        p = cell.printed
        word, why = verdict(cell)
        case = f"({p.system}), t_f = {p.tf:g}, beta = {p.beta}, eps0 = {p.eps0:.0e}"
        today = beside(p)
        if p.error is None or cell.newton_abort:
            ours = (
                f"Newton abort at t = {cell.t_reached:.1f}"
                if cell.newton_abort
                else f"{cell.error:.2e}, {cell.steps} steps"
            )
            shown = "failed" if p.error is None else f"{p.error:.2e}, {p.steps} steps"
            found.append(
                Row("Table 1", case, "outcome", shown, ours, word, why, today, origin=Origin.PRINTED)
            )
            continue
        found.append(
            Row("Table 1", case, "error", p.error, cell.error, word, why, today, origin=Origin.PRINTED)
        )
        same = word is Verdict.MISPRINT or cell.steps == p.steps
        found.append(
            Row(
                "Table 1",
                case,
                "steps",
                p.steps,
                cell.steps,
                Verdict.SAME if same else word,
                origin=Origin.PRINTED,
            )
        )
    return found


def rounding_rows(done: Iterable[Cell]) -> list[Row]:
    """Return, for short cells that are not met to the last digit.

    Whether rounding alone leads to the printed steps and error.
    """
    short = [
        cell
        for cell in done
        if cell.printed.tf == SHORTEST and cell.printed.eps0 >= 0.9 * LOOSE and not cell.newton_abort
    ]
    return [rounding_row(cell, scatter(cell)) for cell in short if verdict(cell)[0] is Verdict.ROUNDING]


def scatter(cell: Cell) -> list[tuple[int, float]]:
    """Return steps and errors of a cell with delta changed by up to 20 %.

    What differs between these runs is rounding.
    """
    settings = (replace(SETTINGS_43_TABLE, delta=factor * SETTINGS_43_TABLE.delta) for factor in NOISE)
    return [(run.steps, run.error) for run in (run_cell(*cell.key, each) for each in settings)]


def rounding_row(cell: Cell, runs: Sequence[tuple[int, float]]) -> Row:
    """Judge by the runs: the printed steps must be among them.

    With an error within 1 % of the printed one.
    """
    p = cell.printed
    assert p.error is not None
    hits = sum(steps == p.steps and close(error, p.error, 0.01) for steps, error in runs)
    steps = [each for each, _ in runs]
    case = f"({p.system}), t_f = {p.tf:g}, beta = {p.beta}, eps0 = {p.eps0:.0e}"
    ours, word = f"in {hits} of {len(runs)} runs", Verdict.SAME if hits else Verdict.LOST
    why = (
        f"delta changed by up to 20 %: {min(steps)} to {max(steps)} steps; with delta as printed {cell.steps}"
        f" and {cell.error:.2e}"
    )
    return Row(
        "Table 1, rounding",
        case,
        "steps, error",
        f"{p.steps}, {p.error:.2e}",
        ours,
        word,
        why,
        origin=Origin.OURS,
    )


def beside(p: Printed) -> Modern:
    """Run the modern mode on the problem of a cell, with the printed g and the exact solution for it."""
    name = {"4.5": "pendulum", "4.6": "pendulum_drifting"}[p.system]
    return modern(testset.get(name, t_end=p.tf, g=PRINTED_G), p.eps0)
