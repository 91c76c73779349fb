"""Section: one part for each problem with equations, trajectory, invariants, work-precision and failures."""

from __future__ import annotations

import pandas as pd

from reports import curves, figures, histories, verdicts
from reports.contents import Contents, Record, case
from reports.section import Formula, Picture, Section
from reports.sections import failures, steps, work_precision
from reports.tables import Table, seconds, short, tolerance

TITLE = "Problems"
GOALS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
LONG = 1200  # characters of LaTeX; longer systems are in the sources


def section(contents: Contents) -> Section:
    """Return the section."""
    known = [*contents.problems, *zip(contents.ladders["problem"], contents.ladders["changes"], strict=True)]
    parts = tuple(
        part(contents, name, changes)
        for name, changes in sorted(set(known))
        if changes == "{}" or (name, changes) in set(known[len(contents.problems) :])
    )
    if not parts:
        return Section("problems", TITLE, ("There are no records of problems.",))
    return Section(
        "problems",
        TITLE,
        (f"{verdicts.counted(len(parts), 'problem')}, each with what is known about it and who solves it how fast.",),
        parts=parts,
    )


def part(contents: Contents, name: str, changes: str) -> Section:
    """Return one problem."""
    record, runs = contents.problem(name, changes), contents.ladders
    runs = runs[(runs["problem"] == name) & (runs["changes"] == changes)]
    title = f"{case(name, changes)}: {record['title']}" if record.get("title") else case(name, changes)
    lines = (
        [verdicts.duel_words(duel) for duel in duels(contents, runs)]
        if len(runs)
        else ["There are no runs with tolerances on this problem in these records."]
    )
    pictures = [*curve_picture(contents, runs, name, changes), *trajectory(contents, runs, record), *history(contents, runs)]
    tables = [work(runs), *invariants(runs), *problems_of(runs)] if len(runs) else []
    label = " · ".join(
        str(each)
        for each in (f"index {record['index']}" if record.get("index") is not None else "", *(record.get("tags") or [])[:4])
        if each
    )
    return Section(
        f"problem-{case(name, changes)}",
        title,
        tuple(lines),
        tuple(facts(record)),
        tuple(tables),
        tuple(pictures),
        tuple(formulas(record)),
        folded=True,
        label=label,
    )


def duels(contents: Contents, runs: pd.DataFrame) -> list[verdicts.Duel]:
    """Return the duels at the errors of the summary that somebody reaches; the first if there is none."""
    table = curves.work_table(runs, work_precision.GOALS)
    found = [duel for goal in work_precision.GOALS for duel in verdicts.duels(table, goal, contents.ours)]
    return [duel for duel in found if duel.ours or duel.rival] or found[:1]


def facts(record: Record) -> list[str]:
    """Return what is known about the problem, in words."""
    if not record:
        return ["There is no record of this problem."]
    sizes = [
        f"{record[name]} {words}"
        for name, words in (("n", "unknowns"), ("m", "constraints with the hidden ones"))
        if record.get(name) is not None
    ]
    span = f"t from {record['t_span'][0]:g} to {record['t_span'][1]:g}" if record.get("t_span") else ""
    groups = "; ".join(f"{name}: {len(inside)}" for name, inside in (record.get("groups") or {}).items())
    digits = (
        f"Reference: {record['reference_digits']:g} digits. {record.get('reference_how') or ''}"
        if record.get("reference_digits") is not None
        else "There is no reference."
    )
    lines = [
        ", ".join([*sizes, span]).strip(", ") + (f" ({groups})." if groups else "."),
        digits.strip(),
        f"Source: {record['source']}." if record.get("source") else "",
    ]
    return [line for line in lines if line]


def formulas(record: Record) -> list[Formula]:
    """Return equations and constraints level by level."""
    found = []
    sets = [("Equations as written", record.get("equations") or [])]
    sets += [
        ("Constraints as written" if k == 0 else f"Hidden constraints, level {k}", level)
        for k, level in enumerate(record.get("constraints") or [])
    ]
    for words, lines in sets:
        size = sum(len(str(line)) for line in lines)
        if lines and size <= LONG:
            found.append(Formula(f"{words}:", tuple(f"0 = {line}" if "=" not in str(line) else str(line) for line in lines)))
        elif lines:
            found.append(Formula(f"{words}: {len(lines)} lines, too long to show here; see the source of the problem.", ()))
    return found


def curve_picture(contents: Contents, runs: pd.DataFrame, name: str, changes: str) -> list[Picture]:
    """Return the work-precision diagram, in absolute errors where nothing else is known."""
    error = "mixed" if runs["mixed"].notna().any() else "error_end"
    if curves.usable(runs, "time", error).empty:
        return []
    digits = contents.problem(name, changes).get("reference_digits")
    floor = None if digits is None else max(10.0**-digits, 2.2e-16)
    drawn = figures.work_precision(contents, runs, figures.looks(contents), error, floor)
    shown = "The best of each family on their best forms; the section Work and precision has all. Bars: range of the errors."
    name = case(name, changes)
    return [Picture(f"work_precision_{name}", f"Error against CPU time and evaluations on {name}. {shown}", drawn)]


def trajectory(contents: Contents, runs: pd.DataFrame, record: Record) -> list[Picture]:
    """Return the solution of one run of ours, or of anybody, with the reference where it is known over time."""
    components = [str(name) for name in record.get("components") or []]
    if runs.empty or not components:
        return []
    found = steps.stored(contents, runs, f"y.{components[0]}")
    found = found.assign(other=~found["solver"].isin(contents.ours)).sort_values(["other", "rtol", "curve"])
    if found.empty:
        return []
    run = found.iloc[0]
    drawn = histories.trajectory(contents.series[run["key"]], record.get("groups") or {}, components)
    return [
        Picture(
            f"trajectory_{run['case']}",
            f"Solution by {run['curve']}, rtol = {tolerance(run['rtol'])}; dotted: the reference, where it is known over time.",
            drawn,
        )
    ]


def history(contents: Contents, runs: pd.DataFrame) -> list[Picture]:
    """Return step sizes over time of the curves of the work-precision picture."""
    found = steps.stored(contents, runs, "step")
    if found.empty:
        return []
    look = figures.looks(contents)
    best = figures.chosen(contents, runs)[:6]
    kept = found[found["curve"].isin(best)] if found["curve"].isin(best).any() else found.head(6)
    named = [(run.curve, look[run.curve], contents.series[run.key]) for run in kept.itertuples()]
    name = runs["case"].iloc[0]
    return [Picture(f"history_{name}", f"Step sizes over time on {name}, tightest stored tolerance.", histories.steps(named))]


def work(runs: pd.DataFrame) -> Table:
    """Return the time that each error costs, fastest first."""
    table = curves.work_table(runs, GOALS)
    reached = [goal for goal in GOALS if table[goal].notna().any()]
    frame = table[["curve", *reached]].sort_values(reached[::-1] or "curve", na_position="last")
    named = frame.rename(columns={goal: tolerance(goal) for goal in reached})
    formats = {tolerance(goal): seconds for goal in reached}
    return Table(
        f"work_{runs['case'].iloc[0]}", "CPU time to reach an error; a dash: not reached in these records.", named, formats, folded=True
    )


def invariants(runs: pd.DataFrame) -> list[Table]:
    """Return drift and invariants of the tightest run of each curve."""
    columns = [name for name in runs.columns if name.startswith(("drift.", "invariant.")) and runs[name].notna().any()]
    done = runs[runs["status"] == "ok"].sort_values(["curve", "rtol"]).drop_duplicates("curve")
    if not columns or done.empty:
        return []
    frame = done[["curve", "rtol", "mixed", *columns]].rename(columns={"mixed": "error"}).sort_values(columns[0], ignore_index=True)
    formats = {"rtol": tolerance, **dict.fromkeys(("error", *columns), short)}
    return [
        Table(
            f"kept_{runs['case'].iloc[0]}",
            "Constraints and invariants: largest deviation over time, tightest tolerance of each curve.",
            frame,
            formats,
            folded=True,
        )
    ]


def problems_of(runs: pd.DataFrame) -> list[Table]:
    """Return the failures on this problem."""
    found = failures.reasons(runs)
    return (
        [Table(f"reasons_{runs['case'].iloc[0]}", "Failures on this problem.", found.frame.drop(columns="problem"), folded=True)]
        if len(found.frame)
        else []
    )
