"""A claim: the facts a sentence states, as plain values that another program can check.

And the sentence made from nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.tables import fraction, seconds, short, tolerance

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """A kind of sentence and its facts."""

    kind: str
    facts: Facts

    def __str__(self) -> str:
        """Return the sentence."""
        return WORDS[self.kind](self.facts)

    @property
    def data(self) -> str:
        """Return kind and facts as JSON, as the page carries them beside the sentence."""
        return json.dumps({"kind": self.kind, **self.facts}, separators=(",", ":"), allow_nan=False)


def parse(data: str) -> Claim:
    """Return the claim of a page."""
    facts = json.loads(data)
    return Claim(facts.pop("kind"), facts)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names as an enumeration, the rest as a number."""
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {noun if number == 1 else many or f'{noun}s'}"


def _of_the_time(ratio: float) -> str:
    return f"{fraction(ratio)} of the time" if ratio <= 1 else f"{short(ratio)} times the time"


def _speed(f: Facts) -> str:
    error, compared = tolerance(f["error"]), len(f["ahead"]) + len(f["level"]) + len(f["behind"])
    rest = f" On {listed(f['open'])} our limit stopped the runs that would decide." if f["open"] else ""
    rest += (
        f" On {listed(f['none'])} one side does not get there, so nothing is compared." if f["none"] else ""
    )
    if not compared:
        return (
            f"At an error of {error} no problem allows a comparison of half-explicit methods with foreign"
            f" solvers.{rest}"
        )
    parts = [
        f"a half-explicit method is faster than every foreign solver on {len(f['ahead'])} of"
        f" {counted(compared, 'problem')}"
    ]
    parts += [f"level on {len(f['level'])} ({listed(f['level'])})"] if f["level"] else []
    parts += [f"behind on {len(f['behind'])} ({listed(f['behind'])})"] if f["behind"] else []
    return (
        f"At an error of {error} {', '.join(parts)}; in the median it needs {_of_the_time(f['median'])} of"
        f" the fastest foreign one.{rest}"
    )


def _duel(f: Facts) -> str:
    names = {"half-explicit": "half-explicit", "our implicit": "our implicit ones", "foreign": "foreign"}
    parts = []
    for group, best in f["best"].items():
        if best is not None:
            parts.append(f"{names[group]}: {best[0]} in {seconds(best[1])}")
        elif f["stopped"][group]:
            parts.append(
                f"{names[group]}: not before our limit stopped {counted(f['stopped'][group], 'curve')}"
            )
        elif f["asked"][group]:
            parts.append(f"{names[group]}: none gets there")
    mine, foreign = f["best"]["half-explicit"], f["best"]["foreign"]
    ratio = f". Half-explicit over foreign: {_of_the_time(mine[1] / foreign[1])}" if mine and foreign else ""
    return (
        f"Fastest to an error of {tolerance(f['error'])} on {f['case']}:"
        f" {'; '.join(parts) or 'nobody was asked'}{ratio}."
    )


def _orders(f: Facts) -> str:
    below, unjudged = f["below"], f["unjudged"]
    total = f["kept"] + len(below) + len(unjudged)
    if not total:
        return "There are no ladders of fixed steps with a claimed order in these records."
    text = (
        f"The claimed order is observed in {f['kept']} of {total} cases (a half-explicit method on a problem,"
        " all its components)."
    )
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
            f"half-explicit methods on all constraints violate none by more than {short(own['largest'])}"
            f" ({counted(own['runs'], 'run')})"
        )
    if f["others"]:
        low, high = f["others"]["smallest"], f["others"]["largest"]
        ends = _run(low) if low == high else f"between {_run(low)} and {_run(high)}"
        parts.append(
            f"all others that reach the end violate them by {ends} ({counted(f['others']['runs'], 'run')})"
        )
    open_ends = [f"{f['stopped']} stopped by our limit"] if f["stopped"] else []
    open_ends += [f"{f['failed']} failed"] if f["failed"] else []
    parts += [f"nothing is said of {' and '.join(open_ends)}"] if open_ends else []
    return f"{place}: {'; '.join(parts)}." if parts else f"{place}: there are no runs."


def _run(run: Sequence[Any]) -> str:
    violation, curve, rtol = run
    return f"{short(violation)} ({curve}, rtol {tolerance(rtol)})"


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
    unrun = f"; {f['not_run']} more are not run" if f["not_run"] else ""
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


WORDS: dict[str, Callable[[Facts], str]] = {
    "speed": _speed,
    "duel": _duel,
    "orders": _orders,
    "drift": _drift,
    "endings": _endings,
    "testset": _testset,
    "stiff": _stiff,
    "references": _references,
    "documents": _documents,
    "tolerance": _tolerance,
    "profile": _profile,
}
