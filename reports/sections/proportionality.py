"""Section: whether a solver delivers the tolerance it was asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports import figures
from reports.claims import Claim, none
from reports.contents import GROUPS, Contents
from reports.curves import usable
from reports.section import Picture, Section
from reports.tables import Table

TITLE = "Tolerance"
WORDS = (
    "Error and tolerance are proportional where the slope is 1. The ratio is error over rtol; "
    "below 1 a solver is more careful than it was asked to be."
)
FAR = 100.0  # an error this many times the tolerance is called far from it


def section(contents: Contents) -> Section:
    """Return the section."""
    runs = contents.sweeps
    frame = table(runs)
    if frame.empty:
        return Section("tolerance", TITLE, (none("tolerance"),))
    picture = Picture(
        "tolerance",
        "Error reached against tolerance asked for: median over problems, for ours with the middle half of"
        " the problems as a band.",
        figures.proportionality(contents, runs, figures.looks(contents)),
    )
    listing = Table(
        "tolerance",
        "Error over tolerance: median over all runs, the worst problem, and the slope of log error over log"
        " tolerance.",
        frame,
        {"slope": lambda value: f"{value:.2f}"},
        {"median ratio": lambda value: "bad" if value > FAR else ""},
        folded=True,
    )
    return Section("tolerance", TITLE, tuple(lines(frame, contents)), (WORDS,), (listing,), (picture,))


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return ratio and slope for every curve.

    Median of all runs, problem with the largest median, median slope over problems.
    """
    rows = []
    for curve, part in runs.groupby("curve", sort=True):
        good = usable(part, "rtol", "mixed")
        if good.empty:
            continue
        ratio = (good["mixed"] / good["rtol"]).groupby(good["case"]).median()
        slopes = [slope(each) for _, each in good.groupby("case") if each["rtol"].nunique() > 2]
        total = float((good["mixed"] / good["rtol"]).median())
        middle = float(np.median(slopes)) if slopes else np.nan
        rows.append(
            (
                curve,
                good["solver"].iloc[0],
                len(ratio),
                len(good),
                total,
                ratio.idxmax(),
                float(ratio.max()),
                middle,
            )
        )
    return pd.DataFrame(
        rows,
        columns=[
            "curve",
            "solver",
            "problems",
            "runs",
            "median ratio",
            "worst problem",
            "its ratio",
            "slope",
        ],
    )


def slope(runs: pd.DataFrame) -> float:
    """Return the slope of log error over log tolerance by least squares."""
    return float(np.polyfit(np.log10(runs["rtol"]), np.log10(runs["mixed"]), 1)[0])


def lines(frame: pd.DataFrame, contents: Contents) -> list[Claim]:
    """Return the verdicts."""
    found: list[Claim] = []
    groups = frame["solver"].map(contents.group)
    for name in GROUPS:
        ratios = frame.loc[groups == name, "median ratio"]
        if len(ratios):
            ends = {"lowest": float(ratios.min()), "highest": float(ratios.max())}
            found.append(Claim("tolerance", {"group": name, "curves": len(ratios), **ends}))
    far = frame[frame["median ratio"] > FAR].sort_values(["median ratio", "curve"], ascending=[False, True])
    return [*found, Claim("far", {"factor": FAR, "curves": list(far["curve"])})] if len(far) else found
