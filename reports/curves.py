"""Work against error: medians over a decade of tolerances with their range.

And the work that an error asked for costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

TINY = 1e-18  # an error of zero is drawn here


@dataclass(frozen=True)
class Curve:
    """The median curve of one solver on one problem, loosest tolerance first.

    One tolerance proves nothing: the error of an adaptive run scatters by a decade or two when the tolerance
    moves a little.
    """

    places: np.ndarray  # the decade k of tolerances from 10^-k on, or minus the step of runs with fixed steps
    runs: np.ndarray
    cost: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        """Return the number of medians."""
        return len(self.places)


def decades(rtol: np.ndarray) -> np.ndarray:
    """Return the decade of each tolerance (4 for 1e-4 down to 1.8e-5).

    A lone tolerance at the end joins the decade before.
    """
    found = np.floor(-np.log10(rtol) + 1e-9)
    if len(found) and (found == found.max()).sum() == 1 < (found == found.max() - 1).sum():
        found = np.minimum(found, found.max() - 1)
    return found


def usable(runs: pd.DataFrame, cost: str, error: str) -> pd.DataFrame:
    """Return the runs that reached the end and have both numbers.

    Errors of zero lifted to what can be drawn.
    """
    good = runs[_good(runs, cost, error)]
    return good.assign(**{error: good[error].clip(lower=TINY)})


def _good(runs: pd.DataFrame, cost: str, error: str) -> np.ndarray:
    return runs["ok"].to_numpy() & (runs[cost].to_numpy() > 0) & (runs[error].to_numpy() >= 0)


def medians(runs: pd.DataFrame, cost: str, error: str) -> Curve:
    """Return the median curve of the runs of one solver on one problem.

    Medians are taken of logarithms, as the numbers are read.

    A decade in which fewer than half of the runs reached the end has none: the survivors do not speak for the
    others.
    """
    asked = runs[runs["rtol"].notna() | runs["step"].notna()]
    costs, errors, steps, rtol, ok = (asked[name].to_numpy() for name in (cost, error, "step", "rtol", "ok"))
    places = decades(rtol) if np.isnan(steps).all() else -steps
    names = [name for name in np.unique(places) if ok[places == name].mean() >= 0.5]
    good = _good(asked, cost, error)
    pairs = [(name, np.flatnonzero(good & (places == name))) for name in names]
    pairs = [(name, group) for name, group in pairs if len(group)]
    errors = np.maximum(errors, TINY)
    columns = (
        [name for name, _ in pairs],
        [len(group) for _, group in pairs],
        [10 ** np.median(np.log10(costs[group])) for _, group in pairs],
        [10 ** np.median(np.log10(errors[group])) for _, group in pairs],
        [errors[group].min() for _, group in pairs],
        [errors[group].max() for _, group in pairs],
    )
    return Curve(*(np.array(column, float) for column in columns))


def work_at(curve: Curve, error: float) -> float | None:
    """Return the least cost at which the median curve has an error of at most `error`.

    Log-log between its points; None if it never has.
    """
    x, y, goal = np.log10(curve.error), np.log10(curve.cost), np.log10(error)
    found = list(y[x <= goal])
    crossing = np.flatnonzero((x[:-1] - goal) * (x[1:] - goal) < 0)
    found += [y[k] + (goal - x[k]) / (x[k + 1] - x[k]) * (y[k + 1] - y[k]) for k in crossing]
    return float(10 ** min(found)) if found else None


def each(runs: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield problem, curve and runs of every curve."""
    for (case, curve), group in runs.groupby(["case", "curve"], sort=True):
        yield str(case), str(curve), group


def work_table(
    runs: pd.DataFrame, errors: tuple[float, ...], cost: str = "time", error: str = "mixed"
) -> pd.DataFrame:
    """Return the cost of each error asked for: one row per problem and curve; NaN where it is not reached."""
    rows = []
    for case, curve, group in each(runs):
        found = medians(group, cost, error)
        rows.append((case, curve, group["solver"].iloc[0], *(work_at(found, goal) for goal in errors)))
    return pd.DataFrame(rows, columns=["case", "curve", "solver", *errors]).astype(
        dict.fromkeys(errors, float)
    )
