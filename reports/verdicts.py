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
from reports.orders import FASTER

# times closer than this factor are called equal: timing noise and scatter of single runs are of that size
LEVEL = 1.25
Best = tuple[str, float]  # a curve and what the error asked for costs it
# group, curve, cost of each error asked for, cost with the tightest tolerance, whether we stopped a run of it
Entry = tuple[str, str, list[float | None], float | None, bool]


@dataclass(frozen=True)
class Race:
    """The cheapest curve of each group for one error on one problem.

    A group may not get there, or be stopped by us on the way. A curve that ends above the error because no
    tighter tolerance was tried is not beaten by one that took longer: it might have got there first.
    """

    case: str
    error: float
    best: dict[str, Best | None]
    stopped: dict[str, int]
    asked: dict[str, int]
    sooner: dict[str, Best | None]  # the curve that ends above the error, sooner than the best gets there

    def least(self, group: str) -> float | None:
        """Return a time below which no curve of the group got there, or might have."""
        best, sooner = self.best[group], self.sooner.get(group)
        return None if best is None else sooner[1] if sooner else best[1]

    @property
    def ratio(self) -> float | None:
        """Return the most that the fastest half-explicit method needs of the time of a foreign solver."""
        mine, foreign = self.best[HALF_EXPLICIT], self.least(FOREIGN)
        return mine[1] / foreign if mine and foreign else None

    @property
    def bounded(self) -> bool:
        """Tell whether the ratio is only a bound."""
        return self.ratio is not None and any(self.sooner.get(group) for group in (HALF_EXPLICIT, FOREIGN))

    @property
    def outcome(self) -> str:
        """Return ahead, level or behind; alone or missed if one side gets there, none if neither does.

        Open if our limit, or the tightest tolerance tried, ended what would decide.
        """
        foreign, least = self.best[FOREIGN], self.least(HALF_EXPLICIT)
        if self.ratio is not None and foreign and least:
            if self.ratio < 1 / LEVEL:
                return "ahead"
            if least / foreign[1] > LEVEL:
                return "behind"
            return "open" if self.bounded else "level"
        missing = [group for group in (HALF_EXPLICIT, FOREIGN) if self.best[group] is None]
        if any(self.stopped[group] for group in missing):
            return "open"
        return "none" if len(missing) == 2 else "missed" if HALF_EXPLICIT in missing else "alone"

    @property
    def claim(self) -> Claim:
        """Return the race as a claim about the groups that took part."""
        taking_part = [group for group in GROUPS if self.asked.get(group)]
        best, sooner = (
            {group: list(found) if (found := curves.get(group)) else None for group in taking_part}
            for curves in (self.best, self.sooner)
        )
        counts = {
            name: {group: counted[group] for group in taking_part}
            for name, counted in (("stopped", self.stopped), ("asked", self.asked))
        }
        return Claim(
            "duel", {"case": self.case, "error": self.error, "best": best, "sooner": sooner, **counts}
        )


def races(runs: pd.DataFrame, errors: Sequence[float], group: Callable[[str], str]) -> list[Race]:
    """Return a race for every problem and error, problem by problem.

    Half-explicit methods take part where they hold all constraints.
    """
    control = (runs["solver"].map(group) == HALF_EXPLICIT) & (runs["form"] != KEEPING)
    costs: dict[str, list[Entry]] = {}
    for case, curve, part in each(runs[~runs["status"].isin(["unsupported", "unavailable"]) & ~control]):
        found = medians(part, "time", "mixed")
        limited = bool((part["outcome"] == STOPPED).any())
        spent = [work_at(found, error) for error in errors]
        last = float(found.cost[-1]) if len(found) else None
        costs.setdefault(case, []).append((group(part["solver"].iloc[0]), curve, spent, last, limited))
    return [
        _race(case, error, k, entries) for case, entries in costs.items() for k, error in enumerate(errors)
    ]


def _race(case: str, error: float, k: int, entries: list[Entry]) -> Race:
    best: dict[str, Best | None] = dict.fromkeys(GROUPS)
    sooner: dict[str, Best | None] = dict.fromkeys(GROUPS)
    stopped, asked = dict.fromkeys(GROUPS, 0), dict.fromkeys(GROUPS, 0)
    for group, curve, costs, last, limited in entries:
        cost = costs[k]
        asked[group] += 1
        if cost is not None:
            best[group] = _first(best[group], (curve, cost))
            continue
        stopped[group] += limited
        if last is not None:
            sooner[group] = _first(sooner[group], (curve, last))
    for group, ended in sooner.items():
        first = best[group]
        sooner[group] = ended if ended and first and ended[1] < first[1] else None
    return Race(case, error, best, stopped, asked, sooner)


def _first(known: Best | None, other: Best) -> Best:
    return min(filter(None, (known, other)), key=lambda found: (found[1], found[0]))


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
    bounded = sum(race.bounded for race in found)
    return Claim("speed", {"error": found[0].error, **names, "median": middle, "bounded": bounded})


def orders(table: pd.DataFrame, problem: str = "") -> Claim:
    """Return what the table of orders, of all problems or of one, shows.

    A case is a method that keeps all constraints on a problem, with all groups of its components.
    """
    kept, faster, below, unjudged = 0, 0, [], []
    judged = table[table["verdict"] != "no claim"]
    for (case, method), part in judged.groupby(["problem", "method"], sort=True):
        verdicts = set(part["verdict"])
        if "below" in verdicts:
            below.append(f"{method} on {case}")
        elif not verdicts & {"kept", FASTER} or "too few steps above rounding" in verdicts:
            unjudged.append(f"{method} on {case}")
        elif "kept" in verdicts:  # what constraints alone determine has no order to lose
            kept += 1
        else:
            faster += 1
    return Claim(
        "orders", {"problem": problem, "kept": kept, "faster": faster, "below": below, "unjudged": unjudged}
    )


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
