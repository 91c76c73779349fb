"""Section: one part for each problem with equations, trajectory, invariants, work-precision and failures."""

from __future__ import annotations

import pandas as pd

from reports import curves, figures, histories, verdicts
from reports.claims import Claim, none
from reports.contents import FEW, Contents, Record, case
from reports.section import Formula, Picture, Section
from reports.sections import failures, steps, work_precision
from reports.tables import Table, seconds, short, tolerance
from reports.words import counted

TITLE = "Other problems"
GOALS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
LONG = 10_000  # characters of LaTeX; longer systems are in the sources
LONG_HIDDEN = 2000
MOST = 4  # curves over time in one picture
CALLABLES = (
    "Given by callables: there is no model to read equations from; they are in the source of the problem."
)
SHOWN = (
    "The best of each family on their best forms; the section Work and precision has all. Bars: range of the"
    " errors."
)
SINGLE = (
    "Run at a few tolerances only, where the error of a single run scatters: small differences of work mean"
    " nothing."
)
TRAJECTORY = "dotted: the reference, where it is known over time"


def section(contents: Contents) -> Section:
    """Return the section: problems as they stand.

    Changed ones if work was measured on them or nothing else is recorded.
    """
    parts = tuple(part(contents, name, changes) for name, changes in sorted(others(contents)))
    return Section("problems", TITLE, (counts(contents),), parts=parts, in_summary=False)


def others(contents: Contents) -> set[tuple[str, str]]:
    """Return the problems of this section, each with its changes."""
    run = set(zip(contents.tried["problem"], contents.tried["changes"], strict=True))
    known = run | {(name, changes) for name, changes in contents.problems if changes == "{}"}
    known |= {min(each) for each in variants(contents) if not set(each) & known}
    return {place for place in known if place[0] not in contents.five or place[1] != "{}"}


def counts(contents: Contents) -> Claim:
    """Return how many problems there are besides the five."""
    names = {name for name, _ in others(contents)}
    return Claim("other_problems", {"problems": len(names)}) if names else none("others")


def variants(contents: Contents) -> list[list[tuple[str, str]]]:
    """Return what is recorded of each problem: as it stands, or with changes."""
    return [
        [place for place in contents.problems if place[0] == name]
        for name in sorted({name for name, _ in contents.problems})
    ]


def part(contents: Contents, name: str, changes: str) -> Section:
    """Return one problem."""
    record, all_runs, full = contents.problem(name, changes), contents.tried, case(name, changes)
    runs = all_runs[(all_runs["problem"] == name) & (all_runs["changes"] == changes)]
    lines = [race.claim for race in verdicts.races(runs, work_precision.GOALS, contents.group)]
    return Section(
        id=f"problem-{full}",
        title=f"{full}: {record['title']}" if record.get("title") else full,
        label=label(record),
        verdicts=tuple(lines) or (none("problem", full),),
        words=(*facts(record), *([SINGLE] if len(runs) and set(runs["study"]) == {FEW} else [])),
        formulas=tuple(formulas(record)),
        pictures=(
            *curve_picture(contents, runs, record),
            *trajectory(contents, runs, record),
            *kept(contents, runs),
            *history(contents, runs),
        ),
        tables=(work(runs), *invariants(runs), *failed(runs)) if len(runs) else (),
        folded=True,
    )


def label(record: Record) -> str:
    """Return index and tags."""
    index = [f"index {record['index']}"] if record.get("index") is not None else []
    return " · ".join(
        [*index, *(str(tag) for tag in record.get("tags") or [] if not str(tag).startswith("index"))]
    )


def facts(record: Record) -> list[str]:
    """Return what is known about the problem, in words."""
    if not record:
        return ["There is no record of this problem."]
    wanted = (("n", "unknown"), ("m", "constraint"))
    sizes = [counted(record[name], noun) for name, noun in wanted if record.get(name) is not None]
    sizes += ["the hidden ones included"] if record.get("m") else []
    sizes += ["t from {:g} to {:g}".format(*record["t_span"])] if record.get("t_span") else []
    groups = ", ".join(f"{name} {len(inside)}" for name, inside in (record.get("groups") or {}).items())
    digits = record.get("reference_digits")
    reference = (
        "There is no reference."
        if digits is None
        else f"Reference with {digits:g} digits: {record.get('reference_how') or ''}"
    )
    source = [f"Source: {record['source']}"] if record.get("source") else []
    return [f"{', '.join(sizes)}{f' ({groups})' if groups else ''}.", ended(reference), *map(ended, source)]


def ended(sentence: str) -> str:
    """Return a sentence with one full stop."""
    return f"{sentence.rstrip(' .')}."


def formulas(record: Record) -> list[Formula]:
    """Return equations and constraints level by level."""
    levels = [level for level in record.get("constraints") or [] if level]
    sets = [("Equations as written", record.get("equations") or [], LONG)]
    sets += [
        (
            ("Constraints as written", level, LONG)
            if k == 0
            else (f"Hidden constraints, level {k}", level, LONG_HIDDEN)
        )
        for k, level in enumerate(levels)
    ]
    found = [Formula(CALLABLES, ())] if record.get("equations") == [] else []
    for words, lines, most in sets:
        if lines and sum(len(str(line)) for line in lines) <= most:
            found.append(
                Formula(
                    f"{words}:", tuple(str(line) if "=" in str(line) else f"0 = {line}" for line in lines)
                )
            )
        elif lines:
            found.append(
                Formula(
                    f"{words}: {len(lines)} lines, too long to show here; see the source of the problem.", ()
                )
            )
    return found


def curve_picture(contents: Contents, runs: pd.DataFrame, record: Record) -> list[Picture]:
    """Return the work-precision diagram, in absolute errors where nothing else is known."""
    error = "mixed" if runs["mixed"].notna().any() else "error_end"
    if curves.usable(runs, "time", error).empty:
        return []
    digits, name = record.get("reference_digits"), runs["case"].iloc[0]
    floor = None if digits is None else max(10.0**-digits, 2.2e-16)
    drawn = figures.work_precision(contents, runs, figures.looks(contents), error, floor)
    return [
        Picture(f"work_precision_{name}", f"Error against CPU time and evaluations on {name}. {SHOWN}", drawn)
    ]


def trajectory(contents: Contents, runs: pd.DataFrame, record: Record) -> list[Picture]:
    """Return the solution of one run, ours if there is one.

    With the reference where it is known over time.
    """
    components = [str(name) for name in record.get("components") or []]
    found = steps.stored(contents, runs, f"y.{components[0]}" if components else "")
    if found.empty:
        return []
    run = (
        found.assign(other=~found["solver"].isin(contents.ours))
        .sort_values(["other", "rtol", "curve"])
        .iloc[0]
    )
    drawn = histories.trajectory(contents.series[run["key"]], record.get("groups") or {}, components)
    words = f"Solution by {run['curve']}, rtol = {tolerance(run['rtol'])}; {TRAJECTORY}."
    return [Picture(f"trajectory_{run['case']}", words, drawn)]


def chosen(contents: Contents, runs: pd.DataFrame, name: str) -> histories.Named:
    """Return the curves of the work-precision picture that have a series of this name.

    With what is stored of them.
    """
    found = steps.stored(contents, runs, name)
    best = figures.chosen(contents, runs)[:MOST] if len(found) else []
    look = figures.looks(contents)
    return [
        (run.curve, look[run.curve], contents.series[run.key])
        for run in found[found["curve"].isin(best)].itertuples()
    ]


def kept(contents: Contents, runs: pd.DataFrame) -> list[Picture]:
    """Return constraints and invariants over time."""
    drawn = histories.kept(chosen(contents, runs, "step"))
    words = (
        "Constraints, hidden ones included, and invariants over time, tightest stored tolerance: the largest"
        " deviation so far."
    )
    return [Picture(f"kept_{runs['case'].iloc[0]}", words, drawn)] if drawn else []


def history(contents: Contents, runs: pd.DataFrame) -> list[Picture]:
    """Return step sizes over time."""
    named = chosen(contents, runs, "step")
    if not named:
        return []
    name = runs["case"].iloc[0]
    return [
        Picture(
            f"history_{name}",
            f"Step sizes over time on {name}, tightest stored tolerance.",
            histories.steps(named),
        )
    ]


def work(runs: pd.DataFrame) -> Table:
    """Return the time that each error costs, fastest first."""
    table = curves.work_table(runs, GOALS)
    reached = [goal for goal in GOALS if table[goal].notna().any()]
    frame = table[["curve", *reached]].sort_values([*reached[::-1], "curve"], na_position="last")
    formats = {tolerance(goal): seconds for goal in reached}
    named = frame.rename(columns={goal: tolerance(goal) for goal in reached})
    return Table(
        f"work_{runs['case'].iloc[0]}",
        "CPU time to reach an error; a dash: not reached in these records.",
        named,
        formats,
        folded=True,
        book="time_to_reach_an_error",
    )


def invariants(runs: pd.DataFrame) -> list[Table]:
    """Return drift and invariants of the tightest run of each curve."""
    columns = [
        name
        for name in runs.columns
        if name.startswith(("drift.", "invariant.")) and runs[name].notna().any()
    ]
    done = runs[runs["status"] == "ok"].sort_values(["curve", "rtol"]).drop_duplicates("curve")
    if not columns or done.empty:
        return []
    frame = (
        done[["curve", "rtol", "mixed", *columns]]
        .rename(columns={"mixed": "error"})
        .sort_values([columns[0], "curve"])
    )
    formats = {"rtol": tolerance, **dict.fromkeys(("error", *columns), short)}
    words = "Constraints and invariants: largest deviation over time, tightest tolerance of each curve."
    return [
        Table(
            f"kept_{runs['case'].iloc[0]}",
            words,
            frame,
            formats,
            folded=True,
            book="constraints_and_invariants",
        )
    ]


def failed(runs: pd.DataFrame) -> list[Table]:
    """Return the failures on this problem."""
    frame = failures.causes(runs).frame.drop(columns="problems")
    name = f"causes_{runs['case'].iloc[0]}"
    return (
        [Table(name, "Failures on this problem.", frame, folded=True, book="causes_by_problem")]
        if len(frame)
        else []
    )
