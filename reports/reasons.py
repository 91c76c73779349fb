"""Why solvers do not reach the digits asked for: rows with a reason and the numbers of the runs that show it."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from reports.contents import Contents
from reports.tables import Table, seconds, short, tolerance

STIFF = "stiff: not for explicit methods"
NOT_OFFERED = "not offered"
STIFF_TAGS = frozenset(("stiff", "mildly_stiff"))
FAR = 10.0  # times the steps of an implicit solver: too many
SPECIAL = ("contradictory", "discontinuous", "switches", "nonsmooth")
LONGEST = 160  # characters of a message


def table(contents: Contents, runs: pd.DataFrame, short_of: Iterable[tuple[str, str]]) -> Table:
    """Return a row for every explicit curve that a stiff problem defeats, and for every problem and family short of its digits."""
    stiff = [row for name in sorted(set(runs["problem"])) for row in stiff_rows(contents, runs[runs["problem"] == name], name)]
    told = {row[:2] for row in stiff}
    families = runs["solver"].map(contents.family)
    rows = stiff + [
        (problem, family, *reason(contents, runs[(runs["problem"] == problem) & (families == family)], problem))
        for problem, family in short_of
        if (problem, family) not in told
    ]
    frame = pd.DataFrame(sorted(rows), columns=["problem", "family", "reason", "evidence"])
    words = "Why: explicit methods on stiff problems, and families short of the digits asked for."
    return Table("test_set_reasons", words, frame, {}, {"reason": lambda text: "dim" if text == NOT_OFFERED else ""})


def tags(contents: Contents, problem: str) -> set[str]:
    """Return the tags of a problem."""
    return {str(tag) for tag in contents.problem(problem).get("tags") or ()}


def explicit(contents: Contents, solver: str) -> bool:
    """Tell whether a solver is explicit or half-explicit, as it says of itself."""
    return "explicit" in (contents.solvers.get(solver, {}).get("tags") or ())


def stiff_rows(contents: Contents, runs: pd.DataFrame, problem: str) -> list[tuple[str, str, str, str]]:
    """Return a row for every explicit curve that fails on a stiff problem or needs far more steps than an implicit one."""
    if not tags(contents, problem) & STIFF_TAGS:
        return []
    own = runs["solver"].map(lambda name: explicit(contents, name)).astype(bool)
    implicit = runs[~own & runs["ok"] & (runs["nstep"] > 0) & (runs["mescd"] > 0)]
    rows = []
    for _, part in runs[own & (runs["nstep"] > 0)].groupby("curve", sort=True):
        found = steps_against(part, implicit)
        if found:
            rows.append((problem, contents.family(part["solver"].iloc[0]), STIFF, found))
    return rows


def steps_against(runs: pd.DataFrame, implicit: pd.DataFrame) -> str:
    """Return the run that shows it best: one that failed against an implicit one with the same tolerance, or far more steps."""
    if implicit.empty:
        return ""
    fewest = implicit.sort_values(["nstep", "curve"]).drop_duplicates("rtol")
    best = {other.rtol: other for other in fewest.itertuples()}
    alike = [(run, best[run.rtol]) for run in runs.itertuples() if run.rtol in best]
    pairs = [(not run.ok, run.nstep / other.nstep, run, other) for run, other in alike]
    if not pairs:
        return ""
    failed, ratio, run, other = max(pairs, key=lambda pair: pair[:2])
    if not failed and ratio < FAR:
        return ""
    start = f"{run.curve} at rtol = {tolerance(run.rtol)}: {number(run.nstep)} steps in {seconds(run.time)}"
    end = f"{other.curve}: {number(other.nstep)} steps in {seconds(other.time)}, {other.mescd:.1f} digits"
    reached = f"stopped at t = {short(run.t_reached)} of {short(run.t_end)} ({run.reason.replace('_', ' ')})" if failed else "to the end"
    return f"{start}, {reached}; {end}."


def number(count: float) -> str:
    """Return a count with separated thousands."""
    return f"{count:,.0f}"


def reason(contents: Contents, runs: pd.DataFrame, problem: str) -> tuple[str, str]:
    """Return why a family has not got its digits, and the evidence."""
    tried = runs[runs["status"] != "unsupported"]
    special = ", ".join(name for name in SPECIAL if name in tags(contents, problem))
    if tried.empty:
        return "contradictory" if "contradictory" in special else NOT_OFFERED, shortened(runs["message"].iloc[0])
    done = tried[tried["ok"]]
    scored = done[done["mescd"].notna()]
    failed = tried[~tried["ok"]]
    stopped = f"{len(failed)} of {len(tried)} runs stopped: {commonest(failed)}" if len(failed) else ""
    if len(scored):
        best = scored.loc[scored["mescd"].idxmax()]
        reached = f"{best['mescd']:.1f} digits by {best['curve']} at rtol = {tolerance(best['rtol'])}"
        return special or "fewer digits", ". ".join(filter(None, (reached, stopped)))
    if len(done):
        return "no reference", f"{len(done)} of {len(tried)} runs reach the end; there is nothing to compare with"
    return special or "fails", stopped


def commonest(runs: pd.DataFrame) -> str:
    """Return the commonest message with how far the best of its runs came."""
    began = runs[~runs["message"].str.startswith("Not run")]  # the others were spared, because cheaper ones had failed
    said = (began if len(began) else runs)[["message", "reason"]]
    message = said["message"].where(said["message"] != "", said["reason"]).value_counts().sort_index().idxmax()
    far = runs["t_reached"].max()
    where = f" (reached t = {short(far)} of {short(runs['t_end'].max())})" if far == far else ""
    return f"{shortened(str(message))}{where}"


def shortened(message: str) -> str:
    """Return a message that fits into a cell."""
    return message if len(message) <= LONGEST else f"{message[:LONGEST].rstrip()} …"
