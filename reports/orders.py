"""Observed orders: slopes of error against step where the method converges.

And rounding does not interfere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reports.contents import KEEPING, Contents

ROUNDING = 3e-13  # errors below this, relative to the size of the solution or 1, may be rounding
SLACK = 0.3  # an observed order this far below the claimed one still counts as the claimed one
ABOVE = 0.5  # one this far above it is not the order: the error still falls faster when rounding ends it
NOISE = 1e-9  # errors below this that do not fall with the step are rounding, too, or the end of an iteration
CONVERGED = 0.1  # errors above this, relative alike, are not yet those of a method that converges
LAST, LEAST = 5, 4  # the smallest usable steps that are looked at, and how many of them it takes
EXACT, FASTER = "exact at every step", "faster until rounding"


@dataclass(frozen=True)
class Sweep:
    """Errors of one method on one problem and group of components, largest step first."""

    problem: str
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

    @property
    def exact(self) -> bool:
        """Tell whether every error is rounding: what the constraints alone determine has no order."""
        return bool(len(self.errors) and (self.errors <= ROUNDING * max(1.0, self.size)).all())


def observed(steps: np.ndarray, errors: np.ndarray, size: float = 1.0) -> float | None:
    """Return the median of all slopes between the last steps before rounding.

    An order shows at small steps, and one lucky error (its sign changes there) proves nothing: the median
    over all pairs ignores it.
    """
    steps, errors, scale = np.asarray(steps, float), np.asarray(errors, float), max(1.0, size)
    grown = np.r_[False, (errors[1:] >= errors[:-1]) & (errors[1:] < NOISE * scale)]
    small = np.flatnonzero(~(errors > ROUNDING * scale) | grown)
    end = int(small[0]) if len(small) else len(errors)
    large = np.flatnonzero(errors[:end] > CONVERGED * scale)
    good = slice(int(large[-1]) + 1 if len(large) else 0, end)
    h, e = np.log(steps[good])[-LAST:], np.log(errors[good])[-LAST:]
    if len(h) < LEAST:
        return None
    return float(np.median([(e[j] - e[i]) / (h[j] - h[i]) for j in range(len(h)) for i in range(j)]))


def groups(runs: pd.DataFrame) -> dict[str, str]:
    """Return group -> column of its error: over the output grid where it is known, at the end otherwise.

    `all` are all components.
    """
    found: dict[str, str] = {}
    for kind in ("error_end", "error_grid"):
        for column in runs.columns:
            if (column == kind or column.startswith(f"{kind}.")) and runs[column].notna().any():
                found[column.partition(".")[2] or "all"] = column
    return found


def sweeps(contents: Contents) -> list[Sweep]:
    """Return every sweep of fixed steps."""
    found = []
    done = contents.fixed[contents.fixed["status"] == "ok"]
    for (case, curve), part in done.groupby(["case", "curve"], sort=True):
        ordered = part.sort_values("step", ascending=False)
        size = contents.size(ordered["problem"].iloc[0], ordered["changes"].iloc[0])
        for group, column in groups(ordered).items():
            known = ordered[ordered[column].notna()]
            names = (
                str(known["problem"].iloc[0]),
                str(case),
                str(curve),
                str(known["solver"].iloc[0]),
                str(known["form"].iloc[0]),
                group,
            )
            found.append(Sweep(*names, known["step"].to_numpy(float), known[column].to_numpy(float), size))
    return found


def order(contents: Contents, solver: str) -> float | None:
    """Return the classical order of a solver."""
    known = contents.solvers.get(solver, {}).get("order")
    return None if known is None else float(known)


def claimed(contents: Contents, solver: str, form: str) -> float | None:
    """Return the order that is claimed.

    Methods that keep all constraints have theirs in all components, implicit ones on reduced forms may not.
    """
    return order(contents, solver) if form == KEEPING else None


def table(contents: Contents, found: list[Sweep]) -> pd.DataFrame:
    """Return observed against claimed order per method, problem and group."""
    rows = []
    for sweep in found:
        found_order, claim = sweep.order, claimed(contents, sweep.solver, sweep.form)
        rows.append(
            (
                sweep.case,
                sweep.curve,
                sweep.group,
                claim,
                found_order,
                len(sweep.steps),
                _verdict(sweep, found_order, claim),
            )
        )
    return pd.DataFrame(
        rows, columns=["problem", "method", "group", "claimed", "observed", "steps", "verdict"]
    )


def _verdict(sweep: Sweep, seen: float | None, claim: float | None) -> str:
    return EXACT if claim is not None and sweep.exact else verdict(seen, claim)


def verdict(seen: float | None, claim: float | None) -> str:
    """Return what an observed order says about the claimed one."""
    if claim is None:
        return "no claim"
    if seen is None:
        return "too few steps above rounding"
    if seen > claim + ABOVE:
        return FASTER
    return "kept" if seen >= claim - SLACK else "below"
