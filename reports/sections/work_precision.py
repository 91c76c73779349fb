"""Section: which solver is right and how fast, at what cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports import verdicts
from reports.claims import Claim
from reports.contents import FOREIGN, GROUPS, STOPPED, Contents
from reports.curves import Curve, each, medians, work_at
from reports.section import Section
from reports.tables import NONE, Table, seconds, short, tolerance
from reports.verdicts import Race

GOALS = (1e-4, 1e-6, 1e-8)
NOT_REACHED = "not reached"
MAIN = 1e-6  # the error of the verdict: about six digits, the default tolerance of most programs
MEANING = (
    "Error: |y − reference| / (atol/rtol + |reference|), the largest component at the end (10 to the power"
    " −mescd); five right digits are an error of 1e-5. Time: CPU time of the solve, smallest of the repeats,"
    " without compilation. Points are medians over one decade of tolerances, because the error of a single"
    " run scatters by a decade when the tolerance moves a little; a decade in which fewer than half of the"
    " runs reached the end has none. Work at a given error is read from the line through these medians."
    f" Times within a factor of {verdicts.LEVEL:g} are called level. What our own limit stopped is neither"
    " reached nor failed."
)
COMPILED = (
    "What times mean: our methods are one compiled loop around compiled equations, and so are, where they"
    " were run, ida_c_jac (IDA, called from C) and desolve_radau (Hairer's RADAU5 in Fortran, called from R):"
    " they show what a language costs. They are timed by the clock on the wall of their own programs, all"
    " others by processor time. The other foreign solvers get the same compiled equations, but IDA and LSODA"
    " call them back through Python at every iteration, and SciPy's Radau and DOP853 are loops in Python."
    " Steps and evaluations do not depend on that, times do."
)


def section(contents: Contents) -> Section:
    """Return the section; the interactive plot stands between its words and its tables."""
    runs = contents.sweeps
    races = verdicts.races(runs, GOALS, contents.group)
    lines = [verdicts.tally([race for race in races if race.error == MAIN])]
    if not races:
        return Section("work-precision", "Work and precision", tuple(lines))
    lines += [
        verdicts.tally([race for race in races if race.error == goal]) for goal in GOALS if goal != MAIN
    ]
    tables = (fastest(contents, runs, races), full(runs))
    return Section(
        "work-precision", "Work and precision", (*lines, *machines(contents)), (MEANING, COMPILED), tables
    )


def machines(contents: Contents) -> list[Claim]:
    """Return a warning if times come from several machines."""
    names = sorted(name for name in contents.sweeps["machine"].unique() if name)
    return [Claim("machines", {"names": names})] if len(names) > 1 else []


def fastest(contents: Contents, runs: pd.DataFrame, races: list[Race], name: str = "fastest") -> Table:
    """Return the fastest of each group for every problem and error.

    With steps and evaluations beside the time.
    """
    places = {case: k for k, case in enumerate(contents.five)}
    ordered = sorted(races, key=lambda race: (places.get(race.case, len(places)), race.case, -race.error))
    rows = [(race.case, race.error, *line) for race in ordered for line in _lines(runs, race)]
    columns = [
        "problem",
        "error",
        "group",
        "fastest",
        "steps",
        "evaluations",
        "time",
        "fastest foreign",
        "time / foreign",
    ]
    frame = pd.DataFrame(rows, columns=columns).astype(
        dict.fromkeys(("steps", "evaluations", "time", "time / foreign"), float)
    )
    formats = {
        "error": tolerance,
        "steps": whole,
        "evaluations": whole,
        "time": seconds,
        "time / foreign": short,
    }
    marks = dict.fromkeys(
        ("fastest", "fastest foreign"), lambda text: "part" if text in (STOPPED, NOT_REACHED) else ""
    )
    caption = (
        "The fastest of each group for an error asked for: steps, evaluations of f and CPU time side by side."
        " Where a foreign curve ends above the error with the tightest tolerance tried, and sooner than the"
        " fastest gets there, the ratio is to that: at most so much of the time."
    )
    return Table(name, caption, frame, formats, marks, book="" if name == "fastest" else "fastest_by_problem")


def _lines(runs: pd.DataFrame, race: Race) -> list[tuple[object, ...]]:
    """Return a line for each group that was asked."""
    foreign, sooner, least = race.best[FOREIGN], race.sooner[FOREIGN], race.least(FOREIGN)
    beside = f"{foreign[0]}, {seconds(foreign[1])}" if foreign else absent(race, FOREIGN)
    beside += f"; {sooner[0]} ends above it after {seconds(sooner[1])}" if sooner else ""
    found: list[tuple[object, ...]] = []
    for group in (group for group in GROUPS if race.asked[group]):
        best = race.best[group]
        if best is None:
            found.append((group, absent(race, group), None, None, None, beside, None))
            continue
        part = runs[(runs["case"] == race.case) & (runs["curve"] == best[0])]
        steps, calls = (work_at(medians(part, cost, "mixed"), race.error) for cost in ("nstep", "nfev"))
        found.append((group, best[0], steps, calls, best[1], beside, best[1] / least if least else None))
    return found


def absent(race: Race, group: str) -> str:
    """Return why a group has no fastest curve."""
    return STOPPED if race.stopped[group] else NOT_REACHED if race.asked[group] else NONE


def whole(value: float) -> str:
    """Return a count."""
    return NONE if value != value else f"{value:.0f}"


def full(runs: pd.DataFrame) -> Table:
    """Return error against steps, evaluations and time.

    One row for every problem, curve and decade of tolerances.
    """
    rows = []
    for case, curve, group in each(runs):
        costs = {name: medians(group, name, "mixed") for name in ("time", "nstep", "nfev", "njev", "nlu")}
        time = costs["time"]
        for k, place in enumerate(time.places):
            shared = [curve_at(costs[name], place) for name in ("nstep", "nfev", "njev", "nlu")]
            spread = time.error[k], time.low[k], time.high[k]
            rows.append((case, curve, f"1e-{place:.0f}", int(time.runs[k]), *spread, *shared, time.cost[k]))
    columns = [
        "problem",
        "curve",
        "tolerance",
        "runs",
        "error",
        "error from",
        "error to",
        "nstep",
        "nfev",
        "njev",
        "nlu",
        "seconds",
    ]
    words = "Medians over a decade of tolerances: error against steps, evaluations and time."
    return Table("work_precision", words, pd.DataFrame(rows, columns=columns), on_page=False)


def curve_at(curve: Curve, place: float) -> float | None:
    """Return the cost of one decade, None if it is not counted."""
    found = np.flatnonzero(curve.places == place)
    return float(curve.cost[found[0]]) if len(found) else None
