"""Observed orders: slopes of error against step where the method converges and rounding does not interfere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reports.contents import Contents

ROUNDING = 1e-12  # errors below this, relative to the size of the solution or 1, may be rounding
SLACK = 0.3  # an observed order this far below the claimed one still counts as the claimed one
LAST = 3  # slopes whose median is the observed order


@dataclass(frozen=True)
class Ladder:
    """Errors of one method on one problem and group of components, largest step first."""

    case: str
    curve: str
    solver: str
    form: str
    group: str
    steps: np.ndarray
    errors: np.ndarray
    size: float = 1.0

    @property
    def order(self) -> float | None:
        """Return the observed order, None if too few steps can be used."""
        return observed(self.steps, self.errors, self.size)


def observed(steps: np.ndarray, errors: np.ndarray, size: float = 1.0) -> float | None:
    """Return the median of the last slopes before rounding: an order shows at small steps, and one lucky error proves nothing."""
    steps, errors = np.asarray(steps, float), np.asarray(errors, float)
    small = np.flatnonzero(~(errors > ROUNDING * max(1.0, size)))
    good = slice(0, int(small[0]) if len(small) else len(errors))
    h, e = np.log(steps[good]), np.log(errors[good])
    if len(h) <= LAST:
        return None
    return float(np.median((np.diff(e) / np.diff(h))[-LAST:]))


def groups(runs: pd.DataFrame) -> dict[str, str]:
    """Return group -> column of its error: over the output grid where it is known, at the end otherwise; `all` are all components."""
    found: dict[str, str] = {}
    for kind in ("error_end", "error_grid"):
        for column in runs.columns:
            if (column == kind or column.startswith(f"{kind}.")) and runs[column].notna().any():
                found[column.partition(".")[2] or "all"] = column
    return found


def ladders(contents: Contents) -> list[Ladder]:
    """Return every ladder of fixed steps."""
    found = []
    done = contents.fixed[contents.fixed["status"] == "ok"]
    for (case, curve), part in done.groupby(["case", "curve"], sort=True):
        ordered = part.sort_values("step", ascending=False)
        size = contents.size(ordered["problem"].iloc[0], ordered["changes"].iloc[0])
        for group, column in groups(ordered).items():
            known = ordered[ordered[column].notna()]
            names = str(case), str(curve), str(known["solver"].iloc[0]), str(known["form"].iloc[0]), group
            found.append(Ladder(*names, known["step"].to_numpy(float), known[column].to_numpy(float), size))
    return found


def claimed(contents: Contents, solver: str) -> float | None:
    """Return the order a solver claims."""
    order = contents.solvers.get(solver, {}).get("order")
    return None if order is None else float(order)


def table(contents: Contents, found: list[Ladder]) -> pd.DataFrame:
    """Return observed against claimed order per method, problem and group."""
    rows = []
    for ladder in found:
        order, claim = ladder.order, claimed(contents, ladder.solver)
        rows.append((ladder.case, ladder.curve, ladder.group, claim, order, len(ladder.steps), verdict(order, claim)))
    return pd.DataFrame(rows, columns=["problem", "method", "group", "claimed", "observed", "steps", "verdict"])


def verdict(order: float | None, claim: float | None) -> str:
    """Return what an observed order says about the claimed one."""
    if order is None:
        return "too few steps above rounding"
    if claim is None:
        return "no claim"
    return "kept" if order >= claim - SLACK else "below"
