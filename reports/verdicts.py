"""Verdicts computed from the runs, as claims.

None says more than the records show, and none rests on a run that we stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reports.claims import Claim, none
from reports.contents import FOREIGN, GROUPS, HALF_EXPLICIT, KEEPING, STOPPED, Contents
from reports.curves import each, medians, work_at
from reports.orders import EXACT

# times closer than this factor are called equal: timing noise and scatter of single runs are of that size
LEVEL = 1.25
Best = tuple[str, float]  # a curve and what the error asked for costs it


@dataclass(frozen=True)
class Race:
    """The cheapest curve of each group for one error on one problem.

    A group may not get there, or be stopped by us on the way.
    """

    case: str
    error: float
    best: dict[str, Best | None]
    stopped: dict[str, int]
    asked: dict[str, int]

    @property
    def ratio(self) -> float | None:
        """Return the time of the fastest half-explicit method over that of the fastest foreign solver."""
        mine, foreign = self.best[HALF_EXPLICIT], self.best[FOREIGN]
        return mine[1] / foreign[1] if mine and foreign else None

    @property
    def outcome(self) -> str:
        """Return ahead, level or behind; alone or missed if one side gets there, none if neither does.

        Open if our limit stopped what would decide.
        """
        if self.ratio is not None:
            return "ahead" if self.ratio < 1 / LEVEL else "behind" if self.ratio > LEVEL else "level"
        missing = [group for group in (HALF_EXPLICIT, FOREIGN) if self.best[group] is None]
        if any(self.stopped[group] for group in missing):
            return "open"
        return "none" if len(missing) == 2 else "missed" if HALF_EXPLICIT in missing else "alone"

    @property
    def claim(self) -> Claim:
        """Return the race as a claim about the groups that took part."""
        taking_part = [group for group in GROUPS if self.asked.get(group)]
        best = {group: list(found) if (found := self.best[group]) else None for group in taking_part}
        counts = {
            name: {group: counted[group] for group in taking_part}
            for name, counted in (("stopped", self.stopped), ("asked", self.asked))
        }
        return Claim("duel", {"case": self.case, "error": self.error, "best": best, **counts})


def races(runs: pd.DataFrame, errors: Sequence[float], group: Callable[[str], str]) -> list[Race]:
    """Return a race for every problem and error, problem by problem.

    Half-explicit methods take part where they hold all constraints.
    """
    control = (runs["solver"].map(group) == HALF_EXPLICIT) & (runs["form"] != KEEPING)
    costs: dict[str, list[tuple[str, str, list[float | None], bool]]] = {}
    for case, curve, part in each(runs[~runs["status"].isin(["unsupported", "unavailable"]) & ~control]):
        found = medians(part, "time", "mixed")
        limited = bool((part["outcome"] == STOPPED).any())
        entry = (group(part["solver"].iloc[0]), curve, [work_at(found, error) for error in errors], limited)
        costs.setdefault(case, []).append(entry)
    return [
        _race(case, error, k, entries) for case, entries in costs.items() for k, error in enumerate(errors)
    ]


def _race(case: str, error: float, k: int, entries: list[tuple[str, str, list[float | None], bool]]) -> Race:
    best: dict[str, Best | None] = dict.fromkeys(GROUPS)
    stopped, asked = dict.fromkeys(GROUPS, 0), dict.fromkeys(GROUPS, 0)
    for group, curve, costs, limited in entries:
        cost, known = costs[k], best[group]
        asked[group] += 1
        if cost is None:
            stopped[group] += limited
        elif known is None or (cost, curve) < (known[1], known[0]):
            best[group] = (curve, cost)
    return Race(case, error, best, stopped, asked)


def tally(found: Sequence[Race]) -> Claim:
    """Return all races to one error as a claim."""
    if not found:
        return none("work")
    names = {
        what: [race.case for race in found if race.outcome == what]
        for what in ("ahead", "level", "behind", "alone", "missed", "open", "none")
    }
    ratios = [race.ratio for race in found if race.ratio is not None]
    middle = float(pd.Series(ratios).median()) if ratios else None
    return Claim("speed", {"error": found[0].error, **names, "median": middle})


def orders(table: pd.DataFrame, problem: str = "") -> Claim:
    """Return what the table of orders, of all problems or of one, shows.

    A case is a half-explicit method on a problem, with all groups of its components.
    """
    kept, below, unjudged = 0, [], []
    judged = table[table["verdict"] != "no claim"]
    for (case, method), part in judged.groupby(["problem", "method"], sort=True):
        verdicts = set(part["verdict"])
        if "below" in verdicts:
            below.append(f"{method} on {case}")
        elif "kept" in verdicts and verdicts <= {
            "kept",
            EXACT,
        }:  # what constraints alone determine has no order to lose
            kept += 1
        else:
            unjudged.append(f"{method} on {case}")
    return Claim("orders", {"problem": problem, "kept": kept, "below": below, "unjudged": unjudged})


def endings(contents: Contents) -> Claim:
    """Return how the runs with tolerances ended."""
    runs = contents.runs[contents.runs["step"].isna()]
    runs = runs[~runs["status"].isin(["unsupported", "unavailable"])]
    wrong = runs["ok"] & (runs["mescd"] < 0)
    facts: dict[str, Any] = {
        "runs": len(runs),
        "right": int((runs["ok"] & ~wrong).sum()),
        "wrong": int(wrong.sum()),
        "stopped": int((runs["outcome"] == STOPPED).sum()),
        "failed": int((runs["outcome"] == "failed").sum()),
        "solvers": contents.programs(runs["solver"].unique()),
        "problems": int(runs["problem"].nunique()),
    }
    return Claim("endings", facts)


DECIDES = 0.5  # of the bound of stability: above it the bound, and not the tolerance, sets the step


def stiff(contents: Contents) -> Claim:
    """Return the problems on which eigenvalue times step, measured.

    Lies at the bound of an explicit method: the clearest run.
    """
    runs = contents.runs[contents.runs["h_lambda"].notna() & (contents.runs["h_lambda_bound"] > 0)]
    share = runs["h_lambda"] / runs["h_lambda_bound"]
    found = []
    for problem, part in runs.assign(share=share)[share >= DECIDES].groupby("problem", sort=True):
        row = part.sort_values(["share", "curve", "rtol"], ascending=[False, True, True]).iloc[0]
        found.append([problem, row["curve"], row["rtol"], row["h_lambda"], row["h_lambda_bound"]])
    return Claim("stiff", {"limited": found, "measured": len(runs)})
