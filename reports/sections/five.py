"""The five problems the report is asked about, a section for each.

What it is, error against steps and time, orders, drift.
"""

from __future__ import annotations

import pandas as pd

from reports import curves, figures, verdicts
from reports.claims import Claim, none
from reports.contents import CONTROL, GROUPS, HALF_EXPLICIT, KEEPING, STOPPED, Contents, Record
from reports.section import Picture, Section
from reports.sections import convergence, drift, problems, work_precision
from reports.tables import NONE, Table, short

READ = (
    "{} Points are medians over a decade of tolerances, bars the range of errors; grey: the curves of the"
    " other panels."
)
STEPS = (
    "Each cell: accepted steps → mixed error at the end, medians over the decade of tolerances in the head. "
    "Control: our kernel on a form without the hidden constraints."
)
FORM_WORDS = {
    "overdetermined": "as written, with all hidden constraints",
    "ode": "underlying ODE: multipliers eliminated by formulas, hidden constraints only differentiated",
    "index1": "index reduced to 1: only the last hidden constraints are kept",
    "index2": "index reduced to 2",
    "index3": "index 3",
    "ggl": "Gear, Gupta, Leimkuhler: position and velocity constraints both kept, with a second multiplier",
    "baumgarte": "index 1 with Baumgarte's stabilisation",
}


def sections(contents: Contents) -> list[Section]:
    """Return a section for each of the five problems that the records know."""
    return [section(contents, name) for name in contents.five]


def section(contents: Contents, name: str) -> Section:
    """Return one problem."""
    record, tried = contents.problem(name), contents.tried
    runs = tried[(tried["problem"] == name) & (tried["changes"] == "{}")]
    lines = summary(contents, name, runs)
    parts = [about(contents, name, record), *measured(contents, name, record, runs)]
    parts += [
        part for part in (convergence.of_problem(contents, name), drift.of_problem(contents, name)) if part
    ]
    parts += [more(contents, name, record, runs)] if len(runs) else []
    title = f"{name}: {record['title']}" if record.get("title") else name
    return Section(
        f"problem-{name}",
        title,
        tuple(lines),
        parts=tuple(parts),
        label=problems.label(record),
        short=name,
        in_summary=bool(lines),
    )


def summary(contents: Contents, name: str, runs: pd.DataFrame) -> list[Claim]:
    """Return who is fastest for the errors of the report; the first of them goes into the summary."""
    goals = (work_precision.MAIN, *(goal for goal in work_precision.GOALS if goal != work_precision.MAIN))
    found = verdicts.races(runs, goals, contents.group)
    return [race.claim for race in found] or [none("problem", name)]


def about(contents: Contents, name: str, record: Record) -> Section:
    """Return equations, hidden constraints, and the forms with the solvers that take them."""
    here = contents.runs[(contents.runs["problem"] == name) & contents.runs["step"].isna()]
    rows = []
    for form, part in here.groupby("form", sort=True):
        taken = sorted(set(part.loc[~part["status"].isin(["unsupported", "unavailable"]), "solver"]))
        refused = part.loc[part["status"] == "unsupported", "message"]
        rows.append(
            (
                form,
                FORM_WORDS.get(str(form), ""),
                ", ".join(taken) or f"nobody: {refused.iloc[0] if len(refused) else 'not installed'}",
            )
        )
    frame = pd.DataFrame(rows, columns=["form", "what it is", "solvers here"])
    caption = f"Forms of {name} in this report."
    tables = (Table(f"forms_{name}", caption, frame, book="forms"),) if rows else ()
    facts = tuple(problems.facts(record))
    return Section(
        f"about-{name}", "What it is", (), facts, tables, formulas=tuple(problems.formulas(record))
    )


def measured(contents: Contents, name: str, record: Record, runs: pd.DataFrame) -> list[Section]:
    """Return error against steps, as a figure and as a table, and error against time."""
    if curves.usable(runs, "nstep", "mixed").empty:
        return []
    look, digits = figures.panel_looks(contents), record.get("reference_digits")
    floor = None if digits is None else max(10.0**-digits, 2.2e-16)
    pictures = {
        cost: Picture(
            f"error_against_{word}_{name}",
            READ.format(f"Error against {words} on {name}."),
            figures.by_group(contents, runs, look, cost, floor),
        )
        for cost, word, words in (("nstep", "steps", "accepted steps"), ("time", "time", "CPU time"))
        if not curves.usable(runs, cost, "mixed").empty
    }
    races = verdicts.races(runs, work_precision.GOALS, contents.group)
    found = [
        Section(
            f"steps-{name}",
            "Error against steps",
            (),
            (),
            (steps_table(contents, name, runs),),
            (pictures["nstep"],),
        )
    ]
    if "time" in pictures:
        fastest = work_precision.fastest(contents, runs, races, f"fastest_{name}")
        time = Section(
            f"time-{name}",
            "Error against time",
            (),
            (work_precision.COMPILED,),
            (fastest.without("problem"),),
            (pictures["time"],),
        )
        found.append(time)
    return found


def steps_table(contents: Contents, name: str, runs: pd.DataFrame) -> Table:
    """Return error against steps: a row for every curve, a column for every decade of tolerances."""
    asked = runs[runs["rtol"].notna()]
    decades = sorted(
        {int(place) for _, _, part in curves.each(asked) for place in curves.decades(part["rtol"].to_numpy())}
    )
    rows = []
    for _, curve, part in curves.each(asked):
        steps = curves.medians(part, "nstep", "mixed")
        cells = {
            int(p): f"{c:.0f} → {short(e)}"
            for p, c, e in zip(steps.places, steps.cost, steps.error, strict=True)
        }
        places = pd.Series(curves.decades(part["rtol"].to_numpy()), index=part.index)
        group = contents.group(part["solver"].iloc[0])
        control = group == HALF_EXPLICIT and part["form"].iloc[0] != KEEPING
        texts = [cells.get(k) or missing(part[places == k]) for k in decades]
        rows.append((GROUPS.index(group), CONTROL if control else group, curve, *texts))
    heads = [f"1e-{k}" for k in decades]
    frame = pd.DataFrame(rows, columns=["rank", "group", "curve", *heads]).sort_values(
        ["rank", "curve"], ignore_index=True
    )
    looks = dict.fromkeys(heads, lambda text: "n" if "→" in text else "dim n")
    caption = f"Error against steps on {name}. {STEPS}"
    return Table(f"error_against_steps_{name}", caption, frame.drop(columns="rank"), {}, looks)


def missing(runs: pd.DataFrame) -> str:
    """Return why a decade has no median."""
    if runs.empty:
        return NONE
    if (runs["outcome"] == STOPPED).any():
        return "our limit"
    failed = runs.loc[~runs["ok"], "reason"]
    return str(failed.mode().iloc[0]).replace("_", " ") if len(failed) else NONE


def more(contents: Contents, name: str, record: Record, runs: pd.DataFrame) -> Section:
    """Return trajectory, invariants, step sizes and failures, folded."""
    pictures = (
        *problems.trajectory(contents, runs, record),
        *problems.kept(contents, runs),
        *problems.history(contents, runs),
    )
    tables = (problems.work(runs), *problems.invariants(runs), *problems.failed(runs))
    return Section(
        f"more-{name}", "Solution, invariants, step sizes, failures", (), (), tables, pictures, folded=True
    )
