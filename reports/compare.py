"""What changed between two sets of records, and which of it is worse."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from herk.bench import store
from herk.bench.record import Record
from herk.core import InputError

ACCURACY, WORTH_SAYING = 10.0, 3.0  # median ratio of errors: a regression, and one that is mentioned
SLOWER = 1.5  # median ratio of times over a sweep: a regression
SHORTEST = 1e-4  # seconds; shorter runs are noise
ROUNDING = 1e-13  # errors below it differ by chance
ORDER = 0.5  # an observed order that falls by more has dropped
ENOUGH = 3  # runs from which a decade is judged by itself
MACHINE = ("machine", "cores", "os")

Sweep = tuple[str, ...]
Setting = tuple[float | None, ...]
Pair = tuple[Record, Record]


@dataclass(frozen=True)
class Change:
    """One difference in a sentence; `worse` makes it a regression."""

    kind: str
    text: str
    worse: bool = False


@dataclass(frozen=True)
class Comparison:
    """All differences between two record sets; `common` counts the runs and claims that are in both."""

    old: str
    new: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    common: int

    @property
    def regression(self) -> bool:
        """Tell whether anything is worse than before."""
        return any(change.worse for change in self.changes)

    @property
    def text(self) -> str:
        """Return the differences, the worse ones first."""
        lines = [f"{self.old} -> {self.new}", *self.notes]
        for worse, title in ((True, "Worse:"), (False, "Other changes:")):
            found = [f"  {change.kind}: {change.text}" for change in self.changes if change.worse is worse]
            lines += ["", title, *found] if found else []
        sound = "No regression." if self.common else "Nothing is in both: there is nothing to compare."
        verdict = "REGRESSION" if self.regression else sound
        return "\n".join(map(_printable, [*lines, "", verdict]))


def _printable(line: str) -> str:
    """Return a line that cannot command the terminal: messages come from files."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def compare(old: Path, new: Path) -> Comparison:
    """Compare two record files, or the folders they are in."""
    before, after = _records(Path(old)), _records(Path(new))
    sweeps = _sweeps(before, after)
    runs = [record for record in (*before, *after) if record["kind"] == "run"]
    same = len({tuple(record.get(name) for name in MACHINE) for record in runs}) <= 1
    common = sum(map(len, sweeps.values())) + len(_claimed(before).keys() & _claimed(after).keys())
    changes = [*_claims(before, after), *_outcomes(sweeps), *_accuracy(sweeps), *_orders(sweeps)]
    changes += [*(_times(sweeps) if same else ()), *_lost(before, after)]
    return Comparison(str(old), str(new), tuple(changes), tuple(_notes(sweeps, same)), common)


def _records(path: Path) -> list[Record]:
    file = path / store.NAME if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            f"There are no records at {str(file)!r}: name a records.jsonl, or a folder that has one."
        )
    return store.latest(store.Store(file).read()[0])


def _place(run: Record) -> tuple[Sweep, Setting]:
    """Return what makes runs comparable: versions differ on purpose."""
    sweep = tuple(str(run[name]) for name in ("study", "problem", "changes", "form", "solver", "options"))
    return sweep, (run["rtol"], run["step"])


def _runs(records: Sequence[Record]) -> dict[tuple[Sweep, Setting], Record]:
    return {
        _place(record): record
        for record in sorted(records, key=lambda each: each["date"])
        if record["kind"] == "run"
    }


def _sweeps(before: Sequence[Record], after: Sequence[Record]) -> dict[Sweep, list[Pair]]:
    """Return the runs that are in both, sweep by sweep."""
    first, second = _runs(before), _runs(after)
    found: dict[Sweep, list[Pair]] = defaultdict(list)
    for place in first:
        if place in second:
            found[place[0]].append((first[place], second[place]))
    return found


def _name(sweep: Sweep) -> str:
    study, problem, changes, form, solver, options = sweep
    extra = "".join(f" {text}" for text in (changes, options) if text != "{}")
    return f"{study}: {solver} on {problem}/{form}{extra}"


def _setting(run: Record) -> str:
    if run["step"] is not None:
        return f"step {run['step']:.3g}"
    return "all settings" if run["rtol"] is None else f"rtol {run['rtol']:.0e}"


def _outcomes(sweeps: Mapping[Sweep, list[Pair]]) -> Iterator[Change]:
    for sweep, pairs in sweeps.items():
        lost = [new for old, new in pairs if old["status"] == "ok" != new["status"]]
        won = [new for old, new in pairs if old["status"] != "ok" == new["status"]]
        if lost:
            why = f"{lost[0].get('reason')}: {lost[0].get('message')}"
            yield Change("fails now", f"{_name(sweep)}, {', '.join(map(_setting, lost))} ({why})", worse=True)
        if won:
            yield Change("solved now", f"{_name(sweep)}, {', '.join(map(_setting, won))}")


def _both_ok(pairs: Sequence[Pair], field: str) -> list[Pair]:
    return [
        (a, b)
        for a, b in pairs
        if a["status"] == b["status"] == "ok" and a.get(field) is not None and b.get(field) is not None
    ]


def _decades(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    """Yield runs by decade of the tolerance; small decades and fixed steps are judged together."""
    by_decade: dict[int | None, list[Pair]] = defaultdict(list)
    for old, new in pairs:
        fixed = old["rtol"] is None or old["step"] is not None
        by_decade[None if fixed else round(math.log10(old["rtol"]))].append((old, new))
    rest = []
    for decade, found in by_decade.items():
        if decade is None or len(found) < ENOUGH:
            rest += found
        else:
            yield f"rtol about 1e{decade}", found
    if rest:
        yield "the sweep" if len(rest) > 1 else _setting(rest[0][0]), rest


def _accuracy(sweeps: Mapping[Sweep, list[Pair]]) -> Iterator[Change]:
    """Judge medians: single runs of adaptive methods scatter by a decade."""
    for sweep, pairs in sweeps.items():
        for where, found in _decades(_both_ok(pairs, "error_end")):
            ratio = median(
                max(new["error_end"], ROUNDING) / max(old["error_end"], ROUNDING) for old, new in found
            )
            if not 1 / WORTH_SAYING < ratio < WORTH_SAYING:
                text = (
                    f"{_name(sweep)}, {where}: errors are {ratio:.2g} times as large (median of {len(found)})"
                )
                yield Change("accuracy", text, worse=ratio > ACCURACY)


def _times(sweeps: Mapping[Sweep, list[Pair]]) -> Iterator[Change]:
    for sweep, pairs in sweeps.items():
        found = [
            (a["cpu_min"], b["cpu_min"])
            for a, b in _both_ok(pairs, "cpu_min")
            if a["cpu_min"] > SHORTEST and b["cpu_min"] > 0
        ]
        if not found:
            continue
        ratios = sorted(new / old for old, new in found)
        ratio = median(ratios)
        if not 1 / SLOWER < ratio < SLOWER:
            text = (
                f"{_name(sweep)}: takes {ratio:.2g} times as long (median of {len(ratios)}, from"
                f" {ratios[0]:.2g} to {ratios[-1]:.2g})"
            )
            yield Change("time", text, worse=ratio > SLOWER)


def _orders(sweeps: Mapping[Sweep, list[Pair]]) -> Iterator[Change]:
    for sweep, pairs in sweeps.items():
        fixed = [pair for pair in _both_ok(pairs, "error_end") if pair[0]["step"] is not None]
        old, new = (_order([pair[which] for pair in fixed]) for which in (0, 1))
        if old is not None and new is not None and abs(new - old) > ORDER:
            yield Change(
                "order", f"{_name(sweep)}: observed order {old:.2f} before, {new:.2f} now", worse=new < old
            )


def _order(runs: Sequence[Record]) -> float | None:
    points = [np.log([run["step"], run["error_end"]]) for run in runs if run["error_end"] > ROUNDING]
    enough = len({x for x, _ in points}) >= ENOUGH
    return float(np.polyfit(*np.transpose(points), 1)[0]) if enough else None


def _claimed(records: Sequence[Record]) -> dict[tuple[str, str], Record]:
    return {(each["study"], each["text"]): each for each in records if each["kind"] == "claim"}


def _claims(before: Sequence[Record], after: Sequence[Record]) -> Iterator[Change]:
    old, new = _claimed(before), _claimed(after)
    for place, claim in old.items():
        now = new.get(place)
        if now is not None and claim["holds"] != now["holds"]:
            yield Change(
                "claim",
                f"{place[0]}: {place[1]} ({'holds' if now['holds'] else 'no longer holds'})",
                worse=not now["holds"],
            )
    for place, claim in new.items():
        if place not in old and not claim["holds"]:
            yield Change("claim", f"{place[0]}: {place[1]} (new, and does not hold)", worse=True)


def _lost(before: Sequence[Record], after: Sequence[Record]) -> Iterator[Change]:
    """Tell which sweeps lost or gained runs; that is no regression, because a study may be run in part."""
    first, second = _runs(before), _runs(after)
    for kind, ours, theirs in (("missing", first, second), ("new", second, first)):
        counts = Counter(_name(sweep) for sweep, setting in ours if (sweep, setting) not in theirs)
        for name, count in counts.items():
            yield Change(kind, f"{name}: {count} run{'s' if count > 1 else ''}")


def _notes(sweeps: Mapping[Sweep, list[Pair]], same: bool) -> Iterator[str]:
    pairs = [pair for found in sweeps.values() for pair in found]
    yield f"{len(pairs)} runs are in both, on {len(sweeps)} sweeps."
    if not pairs:
        return
    if not same:
        yield "The machines differ: times are not compared."
        return
    found = [(a["cpu_min"], b["cpu_min"]) for a, b in _both_ok(pairs, "cpu_min") if a["cpu_min"] > SHORTEST]
    if found:
        ratios = np.array([new / old for old, new in found])
        low, middle, high = np.quantile(ratios, (0.1, 0.5, 0.9))
        yield (
            f"Times of all runs together: {middle:.2f} times as long, four fifths between {low:.2f} and"
            f" {high:.2f} (noise)."
        )
