"""Verdicts in words, computed with their numbers; none says more than the records show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from reports.tables import fraction, seconds, short, tolerance

LEVEL = 1.25  # times closer than this factor are called equal: timing noise and scatter of single runs are of that size


@dataclass(frozen=True)
class Duel:
    """The fastest of ours against the fastest rival on one problem at one error; either may not get there."""

    case: str
    error: float
    ours: tuple[str, float] | None
    rival: tuple[str, float] | None

    @property
    def ratio(self) -> float | None:
        """Return our time over the rival's."""
        return self.ours[1] / self.rival[1] if self.ours and self.rival else None

    @property
    def outcome(self) -> str:
        """Return ahead, level, behind, or that there is no comparison."""
        if self.ratio is None:
            return "no comparison"
        return "ahead" if self.ratio < 1 / LEVEL else "behind" if self.ratio > LEVEL else "level"


def duels(work: pd.DataFrame, error: float, ours: Iterable[str]) -> list[Duel]:
    """Return one duel for each problem of a work table."""
    mine = work["solver"].isin(list(ours))
    return [
        Duel(str(case), error, fastest(work[mine & (work["case"] == case)], error), fastest(work[~mine & (work["case"] == case)], error))
        for case in dict.fromkeys(work["case"])
    ]


def fastest(rows: pd.DataFrame, error: float) -> tuple[str, float] | None:
    """Return curve and cost of the cheapest, None if nobody gets there."""
    reached = rows[rows[error].notna()]
    if reached.empty:
        return None
    best = reached.loc[reached[error].idxmin()]
    return str(best["curve"]), float(best[error])


def duel_words(duel: Duel) -> str:
    """Return a duel as a sentence."""
    goal = f"an error of {tolerance(duel.error)} on {duel.case}"
    if duel.ours is None and duel.rival is None:
        return f"Nobody reaches {goal} in these records."
    if duel.ours is None or duel.rival is None:
        winner, cost = duel.ours or duel.rival  # type: ignore[misc]
        missing = "no rival" if duel.rival is None else "none of ours"
        return f"{winner} reaches {goal} in {seconds(cost)}; {missing} reaches it in these records, so there is no comparison."
    (mine, own), (rival, theirs) = duel.ours, duel.rival
    times = f"({seconds(own)} against {seconds(theirs)})"
    if duel.outcome == "level":
        return f"{mine} and {rival}, the fastest rival, need about the same time to reach {goal} {times}."
    if duel.outcome == "ahead":
        return f"{mine} reaches {goal} in {fraction(own / theirs)} of the time of {rival}, the fastest rival {times}."
    times = f"({seconds(theirs)} against {seconds(own)})"
    return f"{rival} reaches {goal} in {fraction(theirs / own)} of the time of {mine}, the fastest of ours {times}."


def tally(found: Sequence[Duel]) -> str:
    """Return all duels at one error as a sentence."""
    if not found:
        return "There are no runs with tolerances in these records, so work and precision cannot be compared."
    names = {outcome: [duel.case for duel in found if duel.outcome == outcome] for outcome in ("ahead", "level", "behind", "no comparison")}
    error, possible = found[0].error, len(found) - len(names["no comparison"])
    without = f" No comparison is possible on {listed(names['no comparison'])}." if names["no comparison"] else ""
    if not possible:
        return f"At an error of {tolerance(error)} no problem allows a comparison of ours with a rival.{without}"
    middle = float(pd.Series([duel.ratio for duel in found if duel.ratio is not None]).median())
    speed = f"{fraction(middle)} of the time" if middle <= 1 else f"{middle:.2g} times the time"
    parts = [f"ours is fastest on {len(names['ahead'])} of {counted(possible, 'problem')}"]
    parts += [f"level on {len(names['level'])}"] if names["level"] else []
    parts += [f"behind on {len(names['behind'])} ({listed(names['behind'])})"] if names["behind"] else []
    return f"At an error of {tolerance(error)} {', '.join(parts)}; the median is {speed} of the fastest rival.{without}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names as an enumeration, the rest as a number."""
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {noun if number == 1 else many or f'{noun}s'}"


def order_words(table: pd.DataFrame) -> list[str]:
    """Return what the table of orders shows."""
    judged = table[table["verdict"].isin(["kept", "below"])]
    if judged.empty:
        return ["There are no ladders of fixed steps with a claimed order in these records."]
    kept = judged[judged["verdict"] == "kept"]
    lines = [f"The claimed order is observed in {len(kept)} of {len(judged)} cases (method, problem, group of components)."]
    below = judged[judged["verdict"] == "below"]
    lines += [
        f"Below its order: {row.method} on {row.problem}, {row.group}: observed {row.observed:.2f}, claimed {row.claimed:g}."
        for row in below.head(5).itertuples()
    ]
    lines += [f"{len(below) - 5} more are in the table."] if len(below) > 5 else []
    few = len(table) - len(judged)
    return [*lines, *([f"{counted(few, 'case')} cannot be judged: too few steps above rounding, or no claim."] if few else [])]


def drift_words(table: pd.DataFrame, ours: Iterable[str]) -> list[str]:
    """Return what happens to the constraints over the longest span: ours that hold all of them, then the others.

    Columns: problem, solver, curve, rtol, t_end, drift, and whether all constraints are kept in view.
    """
    lines, mine = [], set(ours)
    for problem, part in table.groupby("problem", sort=True):
        last = part[part["t_end"] == part["t_end"].max()]
        place = f"On {problem} until t = {short(last['t_end'].iloc[0])}"
        keeping = last["solver"].isin(mine) & last["kept"]
        own, others = last[keeping], last[~keeping]
        if len(own):
            lines.append(
                f"{place} ours on all constraints violate none by more than {short(own['drift'].max())} ({counted(len(own), 'run')})."
            )
        if len(others):
            best, worst = (drifted(others.loc[place]) for place in (others["drift"].idxmin(), others["drift"].idxmax()))
            ends = best if len(others) == 1 else f"{best} at best and {worst} at worst"
            lines.append(f"{place} all other solvers and forms violate the constraints by {ends}.")
    return lines or ["There are no runs of the drift study in these records."]


def drifted(row: pd.Series) -> str:
    """Return a violation with the run it belongs to."""
    return f"{short(row['drift'])} ({row['curve']}, rtol {tolerance(row['rtol'])})"
