"""Work against error: medians over a decade of tolerances with their range, and the work that an error asked for costs."""

from __future__ import annotations

import numpy as np
import pandas as pd

# One tolerance proves nothing: the error of an adaptive run scatters by a decade or two when the tolerance moves a little.
TINY = 1e-18  # an error of zero is drawn here


def decades(rtol: pd.Series) -> pd.Series:
    """Return the decade of each tolerance (4 for 1e-4 down to 1.8e-5); a lone tolerance at the end joins the decade before."""
    found = np.floor(-np.log10(rtol) + 1e-9).astype(int)
    counts = found.value_counts()
    last = found.max() if len(found) else 0
    if len(counts) > 1 and counts[last] == 1 and counts.get(last - 1, 0) > 1:
        found = found.where(found != last, last - 1)
    return found


def usable(runs: pd.DataFrame, cost: str, error: str) -> pd.DataFrame:
    """Return the runs that reached the end and have both numbers, errors of zero lifted to what can be drawn."""
    good = runs[(runs["status"] == "ok") & (runs[cost] > 0) & (runs[error] >= 0)]
    return good.assign(**{error: good[error].clip(lower=TINY)})


def medians(runs: pd.DataFrame, cost: str, error: str) -> pd.DataFrame:
    """Return the median curve of one solver on one problem, loosest tolerance first: cost, error, their ranges, number of runs."""
    good = usable(runs, cost, error)
    if good.empty:
        return pd.DataFrame(columns=["cost", "cost_low", "cost_high", "error", "error_low", "error_high", "runs"], dtype=float)
    groups = good.groupby(decades(good["rtol"]) if good["step"].isna().all() else -good["step"], sort=True)
    return pd.DataFrame(
        {
            "cost": groups[cost].apply(geometric_median),
            "cost_low": groups[cost].min(),
            "cost_high": groups[cost].max(),
            "error": groups[error].apply(geometric_median),
            "error_low": groups[error].min(),
            "error_high": groups[error].max(),
            "runs": groups.size(),
        }
    )


def geometric_median(values: pd.Series) -> float:
    """Return the median on the logarithmic scale, on which these numbers are read."""
    return float(10 ** np.median(np.log10(values)))


def work_at(curve: pd.DataFrame, error: float) -> float | None:
    """Return the least cost at which the median curve has an error of at most `error`, log-log between its points; None if it never has."""
    x, y = np.log10(curve["error"].to_numpy(float)), np.log10(curve["cost"].to_numpy(float))
    goal = np.log10(error)
    found = list(y[x <= goal])
    crossing = np.flatnonzero((x[:-1] - goal) * (x[1:] - goal) < 0)
    found += [y[k] + (goal - x[k]) / (x[k + 1] - x[k]) * (y[k + 1] - y[k]) for k in crossing]
    return float(10 ** min(found)) if found else None


def work_table(runs: pd.DataFrame, errors: tuple[float, ...], cost: str = "time", error: str = "mixed") -> pd.DataFrame:
    """Return the cost of each error asked for: one row per problem and curve; NaN where it is not reached."""
    rows = []
    for (case, name), group in runs.groupby(["case", "curve"], sort=True):
        found = medians(group, cost, error)
        known = {column: group[column].iloc[0] for column in ("problem", "changes", "solver", "form")}
        rows.append({"case": case, "curve": name, **known, **{goal: work_at(found, goal) for goal in errors}})
    columns = ["case", "curve", "problem", "changes", "solver", "form"]
    return pd.DataFrame(rows, columns=[*columns, *errors]).astype(dict.fromkeys(errors, float))
