"""Why solvers do not reach the digits asked for.

Rows with a reason and the numbers of the runs that show it.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from reports import verdicts
from reports.contents import STOPPED, Contents
from reports.tables import Table, short, tolerance

STIFF = "stiff: stability limits the steps"
NOT_OFFERED = "not offered"
SPECIAL = ("contradictory", "discontinuous", "switches", "nonsmooth")
LONGEST = 160  # characters of a message


def table(contents: Contents, runs: pd.DataFrame, short_of: Iterable[tuple[str, str]]) -> Table:
    """Return a row for every explicit curve that a stiff problem defeats.

    And for every problem and family short of its digits.
    """
    stiff = [
        row
        for name in sorted(set(runs["problem"]))
        for row in stiff_rows(contents, runs[runs["problem"] == name], name)
    ]
    told = {row[:2] for row in stiff}
    families = runs["solver"].map(contents.family)
    rows = stiff + [
        (
            problem,
            family,
            *reason(contents, runs[(runs["problem"] == problem) & (families == family)], problem),
        )
        for problem, family in short_of
        if (problem, family) not in told
    ]
    frame = pd.DataFrame(sorted(rows), columns=["problem", "family", "reason", "evidence"])
    words = "Why: explicit methods on stiff problems, and families short of the digits asked for."
    return Table(
        "test_set_reasons", words, frame, {}, {"reason": lambda text: "dim" if text == NOT_OFFERED else ""}
    )


def tags(contents: Contents, problem: str) -> set[str]:
    """Return the tags of a problem."""
    return {str(tag) for tag in contents.problem(problem).get("tags") or ()}


def stiff_rows(contents: Contents, runs: pd.DataFrame, problem: str) -> list[tuple[str, str, str, str]]:
    """Return a row for every explicit curve whose steps lie at the bound of stability.

    With the run that shows it best.
    """
    share = runs["h_lambda"] / runs["h_lambda_bound"]
    rows = []
    for curve, part in runs.assign(share=share)[share >= verdicts.DECIDES].groupby("curve", sort=True):
        row = part.sort_values(["share", "rtol"], ascending=[False, True]).iloc[0]
        product = f"step times eigenvalue {row['h_lambda']:.2g}, bound {row['h_lambda_bound']:.2g}"
        ended = (
            "to the end"
            if row["ok"]
            else f"to t = {short(row['t_reached'])} of {short(row['t_end'])} ({row['outcome']})"
        )
        evidence = (
            f"{curve} at rtol = {tolerance(row['rtol'])}: {product}; {row['nstep']:,.0f} steps {ended}."
        )
        rows.append((problem, contents.family(row["solver"]), STIFF, evidence))
    return rows


def reason(contents: Contents, runs: pd.DataFrame, problem: str) -> tuple[str, str]:
    """Return why a family has not got its digits, and the evidence."""
    tried = runs[runs["status"] != "unsupported"]
    special = ", ".join(name for name in SPECIAL if name in tags(contents, problem))
    if tried.empty:
        return "contradictory" if "contradictory" in special else NOT_OFFERED, shortened(
            runs["message"].iloc[0]
        )
    done = tried[tried["ok"]]
    scored = done[done["mescd"].notna()]
    failed = tried[tried["outcome"] == "failed"]
    limited = int((tried["outcome"] == STOPPED).sum())
    stopped = f"{len(failed)} of {len(tried)} runs failed: {commonest(failed)}" if len(failed) else ""
    ours = (
        f"{limited} of {len(tried)} runs {STOPPED}{far(tried[tried['outcome'] == STOPPED])}"
        if limited
        else ""
    )
    if len(scored):
        best = scored.loc[scored["mescd"].idxmax()]
        reached = f"{best['mescd']:.1f} digits by {best['curve']} at rtol = {tolerance(best['rtol'])}"
        return special or (STOPPED if limited else "fewer digits"), "; ".join(
            filter(None, (reached, stopped, ours))
        )
    if len(done):
        return (
            "no reference",
            f"{len(done)} of {len(tried)} runs reach the end; there is nothing to compare with",
        )
    return special or ("fails" if len(failed) else STOPPED), "; ".join(filter(None, (stopped, ours)))


def commonest(runs: pd.DataFrame) -> str:
    """Return the commonest message with how far the best of its runs came."""
    began = runs[
        ~runs["message"].str.startswith("Not run")
    ]  # the others were spared, because cheaper ones had failed
    said = (began if len(began) else runs)[["message", "reason"]]
    message = (
        said["message"].where(said["message"] != "", said["reason"]).value_counts().sort_index().idxmax()
    )
    return f"{shortened(str(message))}{far(runs)}"


def far(runs: pd.DataFrame) -> str:
    """Return how far the best of some runs came."""
    most = runs["t_reached"].max()
    return f" (reached t = {short(most)} of {short(runs['t_end'].max())})" if most == most else ""


def shortened(message: str) -> str:
    """Return a message that fits into a cell."""
    return message if len(message) <= LONGEST else f"{message[:LONGEST].rstrip()} …"
