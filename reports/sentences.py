"""Facts in words: the sentence of every kind of claim, made from its facts and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reports import absence, race_words
from reports.tables import short, tolerance
from reports.words import Facts, counted, listed


def _orders(f: Facts) -> str:
    below, unjudged = f["below"], f["unjudged"]
    total = f["kept"] + f["faster"] + len(below) + len(unjudged)
    if not total:
        return "There are no runs with fixed steps of a method with a claimed order in these records."
    text = (
        f"The claimed order is observed in {f['kept']} of {total} cases (a method that keeps all constraints"
        " on a problem, all its components)."
    )
    more = "In all others" if f["faster"] == total - f["kept"] else f"In {f['faster']} of the others"
    text += f" {more} the error still falls faster where rounding ends it." if f["faster"] else ""
    text += f" Below it: {listed(below, 8)}." if below else ""
    return text + (
        f" Not to be judged, because too few steps lie above rounding: {listed(unjudged, 8)}."
        if unjudged
        else ""
    )


def _drift(f: Facts) -> str:
    place, parts = f"{f['problem']} until t = {short(f['t_end'])}, {f['level_name']}", []
    if f["keeping"]:
        own = f["keeping"]
        parts.append(
            f"methods that keep all constraints violate none by more than"
            f" {short(own['largest'])} ({counted(own['runs'], 'run')})"
        )
    if f["others"]:
        low, high = f["others"]["smallest"], f["others"]["largest"]
        ends = _run(low) if low == high else f"at least {_run(low)}, at most {_run(high)}"
        parts.append(
            f"of the others {counted(f['others']['runs'], 'run')} reached the end and violated them {ends}"
        )
    open_ends = [f"{f['stopped']} stopped by our limit"] if f["stopped"] else []
    open_ends += [f"{f['failed']} failed"] if f["failed"] else []
    parts += [f"nothing is said of {' and '.join(open_ends)}"] if open_ends else []
    return f"{place}: {'; '.join(parts)}." if parts else f"{place}: there are no runs."


def _run(run: Sequence[Any]) -> str:
    violation, curve, rtol = run
    return f"by {short(violation)} ({curve}, rtol {tolerance(rtol)})"


def _endings(f: Facts) -> str:
    whole = (
        f"Of {counted(f['runs'], 'run')} of {counted(f['solvers'], 'solver')} on"
        f" {counted(f['problems'], 'problem')} with tolerances"
    )
    parts = [f"{f['right']} reached the end with a result that is not wrong"]
    parts += [f"{f['wrong']} reached it with an error larger than the solution"] if f["wrong"] else []
    parts += (
        [
            f"{f['stopped']} {'was' if f['stopped'] == 1 else 'were'} stopped by our limit, which proves"
            " nothing"
        ]
        if f["stopped"]
        else []
    )
    parts += [f"{f['failed']} failed"] if f["failed"] else []
    return f"{whole} {listed(parts)}."


def _testset(f: Facts) -> str:
    others = [f"{name} ({'none' if not number else 'one'})" for name, number in f["others"]]
    run = f["enough"] + len(others)
    unrun = f"; {f['not_run']} more {'is' if f['not_run'] == 1 else 'are'} not run" if f["not_run"] else ""
    rest = f"; the others: {listed(others, 30)}" if others else ""
    whole = f"{f['enough']} of {counted(run, 'problem')} that were run"
    return f"{whole} are reached to {f['digits']:g} digits by at least two families{rest}{unrun}."


def _stiff(f: Facts) -> str:
    if not f["limited"]:
        return (
            f"No explicit run has steps at its bound of stability ({counted(f['measured'], 'run')} measured)."
        )
    cases = [
        f"{p} ({c}, rtol {tolerance(r)}: step times eigenvalue {x:.2g} of {b:.2g})"
        for p, c, r, x, b in f["limited"]
    ]
    return (
        f"Stability limits the steps of explicit methods on {listed(cases, 12)}; measured on"
        f" {counted(f['measured'], 'run')}."
    )


def _references(f: Facts) -> str:
    least = f", the least accurate with {f['least']:.0f} digits" if f["least"] is not None else ""
    return f"{f['known']} of {counted(f['problems'], 'problem')} have a reference{least}."


def _documents(f: Facts) -> str:
    parts = []
    for source, counts in f["sources"].items():
        total, same = sum(counts.values()), sum(counts.get(name, 0) for name in ("same", "within rounding"))
        others = [
            f"{number} {name}"
            for name, number in sorted(counts.items())
            if name not in ("same", "within rounding")
        ]
        parts.append(
            f"{source}: {same} of {total} come out the same or within"
            f" rounding{f', {listed(others)}' if others else ''}"
        )
    return f"Values of documents; {'; '.join(parts)}."


def _tolerance(f: Facts) -> str:
    low, high = f["lowest"], f["highest"]
    return (
        f"Median error over tolerance, {f['group']}: {short(low)} to {short(high)}"
        f" ({counted(f['curves'], 'curve')})."
    )


def _profile(f: Facts) -> str:
    best = [f"{curve} {number}" for curve, number in f["within"]]
    return (
        f"Solved to an error of {tolerance(f['error'])} within {f['factor']:g} times the least"
        f" {f['cost_name']}, of {counted(f['problems'], 'problem')}: {listed(best, 5) if best else 'none'}."
    )


def _far(f: Facts) -> str:
    return f"Farther than {f['factor']:g} times the tolerance in the median: {listed(f['curves'])}."


def _own_failures(f: Facts) -> str:
    where = (
        f"{counted(f['runs'], 'run')} failed or came out wrong: {listed(f['places'])}"
        if f["runs"]
        else "no run failed or came out wrong"
    )
    return f"Of half-explicit methods that keep all constraints {where}."


def _printed_ends(f: Facts) -> str:
    fewer = [f"{problem} ({digits:.1f} digits)" for problem, digits in f["fewer"]]
    share = f"{f['agree']} of {counted(f['agree'] + len(fewer), 'problem')}"
    rest = f" With fewer right digits in print: {listed(fewer, 12)}." if fewer else ""
    return f"Published end values agree with ours to {f['digits']:g} or more digits on {share}.{rest}"


def _held(f: Facts) -> str:
    failed = f" Those that do not: {'; '.join(f['failed'])}." if f["failed"] else ""
    return f"{f['claims'] - len(f['failed'])} of {counted(f['claims'], 'claim')} of the studies hold.{failed}"


def _machines(f: Facts) -> str:
    return (
        f"Caution: these runs come from {len(f['names'])} machines ({listed(f['names'])}); times are not"
        " comparable between them."
    )


def _selections(f: Facts) -> str:
    known = counted(f["runs"], "run")
    if not f["changing"]:
        return f"The selection of algebraic variables changes in none of {known} that recorded it."
    return (
        f"The selection of algebraic variables changes on {listed(f['changing'], 12)}; {known} recorded it."
    )


def _other_problems(f: Facts) -> str:
    return (
        f"{counted(f['problems'], 'problem')} besides the five, each with what is known about it and who"
        " solves it how fast."
    )


def _scaling(f: Facts) -> str:
    parts = [
        f"{curve} {exponent:.2f} (from {first} to {last})"
        for curve, exponent, first, last in f["curves"]
        if exponent is not None
    ]
    single = [curve for curve, exponent, *_ in f["curves"] if exponent is None]
    rest = f" Of {listed(single)} only one size reached the end." if single else ""
    if not parts:
        return f"{f['problem']}: no curve has two sizes that reached the end.{rest}"
    return (
        f"{f['problem']}: the time of a step grows with the unknowns to the power {'; '.join(parts)}.{rest}"
    )


def _whole(f: Facts) -> str:
    parts = []
    if f["runs"]:
        solvers, problems = counted(f["solvers"], "solver"), counted(f["problems"], "problem")
        parts.append(f"{counted(f['runs'], 'run')} of {solvers} on {problems}")
    if f["values"]:
        parts.append(
            f"values of documents: {', '.join(f'{number} {name}' for name, number in f['values'].items())}"
        )
    if not parts:
        return "There are no runs in these records yet: python -m herk.bench makes some."
    days = f" Made {' to '.join(dict.fromkeys(f['days']))}." if f["days"] else ""
    return f"{'; '.join(parts)}.{days}"


WORDS: dict[str, Callable[[Facts], str]] = {
    "speed": race_words.speed,
    "duel": race_words.duel,
    "orders": _orders,
    "drift": _drift,
    "endings": _endings,
    "testset": _testset,
    "stiff": _stiff,
    "references": _references,
    "documents": _documents,
    "tolerance": _tolerance,
    "profile": _profile,
    "none": absence.none,
    "unmeasured": absence.unmeasured,
    "far": _far,
    "own_failures": _own_failures,
    "printed_ends": _printed_ends,
    "held": _held,
    "machines": _machines,
    "selections": _selections,
    "other_problems": _other_problems,
    "absent": absence.absent,
    "scaling": _scaling,
    "whole": _whole,
}
