"""Tables 1 and 2: evaluations and Jacobians of Radau5 with and without projection, printed and ours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import baselines
import testset
from herk.core import Settings, Solution
from herk.reproductions.published import Origin, Row, Verdict

# The first step of the original code when it was run again; the paper does not say. Tried too, for Andrews'
# mechanism: 1e-4, 1e-5 and 1e-6, which changes its counts by up to 6 %.
FIRST_STEP = 1e-3
BAND, BAND_ORIGINAL = 0.25, 0.15
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)

# problem -> quantity -> (without, with projection) for each tolerance, as printed
TABLES = {
    "pendulum_unit": {
        "evaluations": ((2966, 2580), (6217, 4996), (12979, 9963), (24531, 20576)),
        "Jacobians": ((276, 238), (570, 481), (1124, 956), (2225, 1912)),
    },
    "andrews": {
        "evaluations": ((2147, 2073), (3429, 3251), (6098, 5760), (12078, 11190)),
        "Jacobians": ((138, 131), (241, 227), (472, 447), (984, 926)),
    },
}
T_END = {"pendulum_unit": 20.0, "andrews": 0.05}
NAMES = {"pendulum_unit": "Table 1 (pendulum)", "andrews": "Table 2 (Andrews' mechanism)"}

# The Fortran code RADAU5 itself, run again on the pendulum with analytic Jacobian and first step 1e-3,
# without projection.
ORIGINAL = {1e-6: {"evaluations": 2766, "Jacobians": 258}, 1e-8: {"evaluations": 5447, "Jacobians": 533}}


@dataclass(frozen=True)
class Cell:
    """One number of a table: what is printed, or what the original code gave, and what ours needs."""

    problem: str
    tolerance: float
    quantity: str
    projected: bool
    printed: int
    ours: int
    original: bool = False

    @property
    def difference(self) -> float:
        """Return the relative difference."""
        return self.ours / self.printed - 1

    @property
    def matches(self) -> bool:
        """Tell whether the count lies in the band."""
        return abs(self.difference) <= (BAND_ORIGINAL if self.original else BAND)


@cache
def prepared(problem: str, projected: bool) -> tuple[Any, Any]:
    """Return the solver and the problem in its form of index 3."""
    solver = baselines.get("radau5_projected" if projected else "radau5")
    return solver, solver.prepare(testset.get(problem, t_end=T_END[problem]), "index3")


def solve(problem: str, tolerance: float, projected: bool) -> Solution:
    """Run as in the paper: rtol = atol."""
    solver, ready = prepared(problem, projected)
    solution: Solution = solver.solve(
        ready, Settings(rtol=tolerance, atol=tolerance, options={"first_step": FIRST_STEP})
    )
    return solution


def every_cell() -> list[Cell]:
    """Return both tables, then the figures of the original code."""
    cells = []
    for problem, table in TABLES.items():
        for place, tolerance in enumerate(TOLERANCES):
            for projected in (False, True):
                sol = solve(problem, tolerance, projected)
                ours = {"evaluations": sol.nfev, "Jacobians": sol.njev}
                cells += [
                    Cell(problem, tolerance, name, projected, table[name][place][projected], ours[name])
                    for name in table
                ]
    again = [
        cell
        for cell in cells
        if cell.problem == "pendulum_unit" and not cell.projected and cell.tolerance in ORIGINAL
    ]
    cells += [
        Cell(
            c.problem,
            c.tolerance,
            c.quantity,
            False,
            ORIGINAL[c.tolerance][c.quantity],
            c.ours,
            original=True,
        )
        for c in again
    ]
    return cells


def row(cell: Cell) -> Row:
    """Return a cell as a row of the report."""
    part = "RADAU5 run again (pendulum)" if cell.original else NAMES[cell.problem]
    case = f"tol = {cell.tolerance:.0e}, {'with' if cell.projected else 'without'} projection"
    band = BAND_ORIGINAL if cell.original else BAND
    why = f"{100 * cell.difference:+.1f} %; counts of an adaptive code, matched if within {100 * band:.0f} %"
    verdict = Verdict.SAME if cell.ours == cell.printed else Verdict.BAND if cell.matches else Verdict.LOST
    origin = Origin.PROGRAM if cell.original else Origin.PRINTED
    return Row(part, case, cell.quantity, cell.printed, cell.ours, verdict, why, origin=origin)


def savings(cells: list[Cell]) -> list[float]:
    """Return what projection saves, as a part of the count without it, for every pair of cells."""
    plain = {(c.problem, c.tolerance, c.quantity): c.ours for c in cells if not c.projected}
    return [1 - c.ours / plain[c.problem, c.tolerance, c.quantity] for c in cells if c.projected]
