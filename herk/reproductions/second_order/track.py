"""Example 1.3, the particle on a circular track: Tables 1 and 2, and the modified BDF on the same grids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import testset
from baselines.second_order.layout import Ready, ready
from baselines.second_order.march import bdf
from herk.core.dae import Array
from herk.reproductions.published import Origin, Row, Verdict
from herk.reproductions.second_order.printed import TABLE1, TABLE2


@dataclass(frozen=True)
class Jumps:
    """Errors of lambda along one grid, by BDF as for first-order systems and modified.

    `changed` marks the steps after a change.
    """

    case: str
    t: Array
    ordinary: Array
    modified: Array
    changed: Array

    @property
    def ratio(self) -> float:
        """Return how many times smaller the largest error of the modified method is.

        Over the steps after a change.
        """
        return float(self.ordinary[self.changed].max() / self.modified[self.changed].max())


@cache
def system() -> Ready:
    """Return system (6), compiled; it starts at t = 1 from exact values, as the tables do."""
    return ready(testset.get("circular_track", t_end=2.0), "second_order")


def multiplier(t: Array) -> Array:
    """Return lambda = -4 t^2."""
    return -4 * t**2


def changes(steps: Array, orders: Array) -> Array:
    """Mark the steps whose second derivative reaches over a change of step or order.

    It uses 2 k steps with order k.
    """
    firsts = [max(n - 2 * int(order) + 1, 0) for n, order in enumerate(orders)]
    return np.array(
        [
            np.ptp(steps[first : n + 1]) > 1e-9 * steps[n] or np.ptp(orders[first : n + 1]) > 0
            for n, first in enumerate(firsts)
        ]
    )


def jumps(case: str, made: Ready, grid: Array, orders: Array, reference: Array) -> Jumps:
    """Run both methods along the grid; the last unknown is lambda."""
    ordinary, modified = (
        np.abs(bdf(made, grid, orders, modified=kind).z[1:, -1] - reference[1:]) for kind in (False, True)
    )
    return Jumps(case, grid[1:], ordinary, modified, changes(np.diff(grid), orders))


def table1() -> Jumps:
    """Return the runs of Table 1."""
    grid = 1.0 + np.concatenate([[0.0], np.cumsum([1e-3 * step for step, _ in TABLE1])])
    return jumps("Table 1", system(), grid, np.ones(len(TABLE1), dtype=int), multiplier(grid))


def table2(h: float) -> Jumps:
    """Return the runs of Table 2 with this step, up to t = 1.05."""
    count = round(0.05 / h)
    grid, orders = 1.0 + h * np.arange(count + 1), np.minimum(np.arange(1, count + 1), 2)
    return jumps(f"Table 2, h = {h:g}", system(), grid, orders, multiplier(grid))


def rows(first: Jumps, second: dict[float, Jumps]) -> list[Row]:
    """Return every value of both tables."""
    made = [
        row("Table 1", f"step {n + 1}, h = {step:g}e-3", printed, ours)
        for n, ((step, printed), ours) in enumerate(zip(TABLE1, first.ordinary, strict=True))
    ]
    for h, column in ((0.005, 1), (0.01, 2)):
        for line in TABLE2:
            if line[column] is not None:
                place = int(np.argmin(np.abs(second[h].t - line[0])))
                made.append(
                    row(
                        "Table 2",
                        f"t = {line[0]:g}, h = {h:g}",
                        line[column],
                        second[h].ordinary[place],
                        digits=4,
                    )
                )
    return made


def row(part: str, case: str, printed: float, ours: float, digits: int = 0) -> Row:
    """Compare with four decimals, or with as many digits if that is less.

    Trailing zeros of Table 2 are no digits.
    """
    decimals = 4 if digits == 0 or abs(printed) < 1 else digits - 1
    off = abs(round(float(ours), decimals) - printed)
    unit = 10.0**-decimals
    verdict = Verdict.SAME if off < 0.5 * unit else Verdict.ROUNDING if off < 1.5 * unit else Verdict.LOST
    why = "one unit in the last digit" if verdict is Verdict.ROUNDING else ""
    return Row(part, case, "error of λ", printed, float(ours), verdict, why, origin=Origin.PRINTED)
