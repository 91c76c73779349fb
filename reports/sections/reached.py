"""Section: whether every problem of the test set is solved by solvers of two families.

And why the others do not solve it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from reports import reasons, verdicts
from reports.claims import Claim, none
from reports.contents import STOPPED, Contents
from reports.section import Section
from reports.sections import failures
from reports.tables import NONE, Table
from reports.words import listed

TITLE = "Test set"
GOAL = 6.0  # digits
ENOUGH = 2  # families
NOT_RUN = "not run"
COMMAND = "All problems of the test set are run by: python -m herk.bench run testset."
COUNT = f"families with {GOAL:g} digits"
WORDS = (
    "Digits: −log₁₀ of the mixed error at the end (mescd), all components and multipliers included, the best"
    " run of each family; never more than the reference has. Where only some group of components has six"
    " digits, the group is named. A family is a program and its relatives: two families that agree with the"
    " reference share no code of their integrators. Every solve has a time limit; of what it stopped nothing"
    " is said. Stiff is a problem here on which the step of an explicit method times a measured eigenvalue"
    " lies at its bound of stability."
)


@dataclass(frozen=True)
class Outcome:
    """The best that a family of solvers does on a problem."""

    problem: str
    family: str
    runs: pd.DataFrame

    @cached_property
    def best(self) -> pd.Series | None:
        """Return the run with the most digits, None if no run has any."""
        scored = self.runs[self.runs["ok"] & self.runs["mescd"].notna()]
        return scored.loc[scored["mescd"].idxmax()] if len(scored) else None

    @property
    def reaches(self) -> bool:
        """Tell whether the best run has the digits that are asked for."""
        return self.best is not None and self.best["mescd"] >= GOAL

    @cached_property
    def text(self) -> str:
        """Return the digits and the curve they belong to, or what happened."""
        best = self.best
        if best is None:
            return failures.cell(self.runs) if not self.runs["ok"].any() else "ends, no reference"
        groups = {name: best[name] for name in best.index if name.startswith("mescd.") and best[name] >= GOAL}
        some = (
            "".join(f"; {name.removeprefix('mescd.')} {digits:.1f}" for name, digits in groups.items())
            if not self.reaches
            else ""
        )
        return f"{best['mescd']:.1f} {best['curve']}{some}"

    @property
    def look(self) -> str:
        """Return how the cell looks."""
        if set(self.runs["status"]) == {"unsupported"}:
            return "dim"
        return "good" if self.reaches else "part" if self.runs["ok"].any() else "bad"


def section(contents: Contents) -> Section:
    """Return the section."""
    runs = asked(contents)
    names = sorted({name for name, changes in contents.problems if changes == "{}"} | set(runs["problem"]))
    if not names:
        return Section("test-set", TITLE, (none("standing" if contents.problems else "problems"),))
    found = outcomes(contents, runs)
    table = summary(names, found, contents)
    if runs.empty:
        return Section("test-set", TITLE, (none("standing"),))
    short = [each for each in found if not each.reaches]
    why = reasons.table(contents, runs, [(each.problem, each.family) for each in short])
    return Section(
        "test-set",
        TITLE,
        tuple(lines(table.frame, verdicts.stiff(contents))),
        (WORDS, *([COMMAND] if (table.frame["note"] == NOT_RUN).any() else [])),
        (table, *([why] if len(why.frame) else [])),
    )


def asked(contents: Contents) -> pd.DataFrame:
    """Return the runs with tolerances on problems as they stand, without solvers that are not installed."""
    runs = contents.runs
    return runs[runs["step"].isna() & (runs["changes"] == "{}") & (runs["status"] != "unavailable")]


def outcomes(contents: Contents, runs: pd.DataFrame) -> list[Outcome]:
    """Return an outcome for every problem and family that was asked."""
    families = runs["solver"].map(contents.family)
    return [
        Outcome(str(problem), str(family), part)
        for (problem, family), part in runs.groupby(["problem", families], sort=True)
    ]


def summary(names: Iterable[str], found: list[Outcome], contents: Contents) -> Table:
    """Return problems against families."""
    families = sorted({each.family for each in found}, key=lambda name: (name != "herk", name))
    texts = {(each.problem, each.family): each.text for each in found}
    looks = {each.text: each.look for each in found}
    rows = []
    for name in names:
        mine = [each for each in found if each.problem == name]
        count = sum(each.reaches for each in mine)
        note = NOT_RUN if not mine else "" if count >= ENOUGH else remark(contents, name, mine)
        rows.append((name, *(texts.get((name, family), NONE) for family in families), count, note))
    frame = pd.DataFrame(rows, columns=["problem", *families, COUNT, "note"])
    marks = {family: lambda text: looks.get(text, "dim") for family in families}
    marks |= {COUNT: lambda count: "good" if count >= ENOUGH else "bad"}
    return Table(
        "test_set", "Digits at the end that the best solver of each family reaches.", frame, {}, marks
    )


def remark(contents: Contents, name: str, mine: list[Outcome]) -> str:
    """Return why it counts as not reached.

    No solution, no reference, one family only, or how many digits there are.
    """
    known = contents.problem(name)
    if "contradictory" in (known.get("tags") or ()):
        return "the equations contradict each other: there is no solution"
    if not any(each.runs["mescd"].notna().any() for each in mine) and known.get("reference_digits") is None:
        return "no reference"
    good = [each.family for each in mine if each.reaches]
    most = max((each.best["mescd"] for each in mine if each.best is not None), default=None)
    stopped = any((each.runs["outcome"] == STOPPED).any() for each in mine if not each.reaches)
    limit = f"others {STOPPED}" if stopped else ""
    if most is None:
        return "no run reached the end" if not stopped else STOPPED
    reached = (
        f"only {listed(good)}"
        if good
        else f"{most:.1f} digits here"
        if stopped
        else f"{most:.1f} digits at most"
    )
    return "; ".join(filter(None, [reached, parts(mine), limit]))


def parts(mine: list[Outcome]) -> str:
    """Return the groups of components that two families do reach."""
    names = dict.fromkeys(name for each in mine for name in each.runs.columns if name.startswith("mescd."))
    counts = {
        name: sum((each.runs.loc[each.runs["ok"], name] >= GOAL).any() for each in mine) for name in names
    }
    reached = [
        f"{name.removeprefix('mescd.')} by {count}" for name, count in counts.items() if count >= ENOUGH
    ]
    return f"{listed(reached)} families" if reached else ""


def lines(table: pd.DataFrame, stiff: Claim) -> list[Claim]:
    """Return the verdicts."""
    run = table[table["note"] != NOT_RUN]
    enough = run[COUNT] >= ENOUGH
    others = [
        [name, int(count)]
        for name, count in zip(run.loc[~enough, "problem"], run.loc[~enough, COUNT], strict=True)
    ]
    missing = len(table) - len(run)
    facts = {"digits": GOAL, "enough": int(enough.sum()), "others": others, "not_run": missing}
    return [Claim("testset", facts), stiff]
