"""Records as plain rows for proofs.

The newest run of each setting, how it ended, and work at an error by brute force.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

Row = dict[str, Any]
SAME_RUN = ("study", "problem", "changes", "solver", "form", "rtol", "step", "atol", "options")
GROUP_OF = {
    "herk": "half-explicit",
    "radau": "our implicit",
    "irk": "our implicit",
    "second_order": "our implicit",
    "auto": "our default",
}
NEVER_BEGUN = ("unsupported", "unavailable")


@dataclass(frozen=True)
class World:
    """All that a proof looks at."""

    runs: list[Row]
    solvers: dict[str, Row]
    problems: dict[tuple[str, str], Row]
    published: list[Row]
    claims: list[Row]
    series: dict[str, dict[str, list[Any]]]  # run -> name -> values

    def group(self, solver: str) -> str:
        """Return the group of a solver."""
        family = self.solvers.get(solver, {}).get("family") or solver.split("_")[0]
        return GROUP_OF.get(family, "foreign")

    def family(self, solver: str) -> str:
        """Return the family of a solver."""
        return str(self.solvers.get(solver, {}).get("family") or solver.split("_")[0])

    def problem(self, name: str, changes: str) -> Row:
        """Return what is known about a problem."""
        return self.problems.get((name, changes)) or self.problems.get((name, "{}")) or {}


def world(records: Iterable[Row]) -> World:
    """Return the records by kind.

    Of several records of one thing the latest counts, of runs the latest that reached its end.
    """
    last: dict[tuple[str, str], Row] = {}
    for record in records:
        place = (record["kind"], record["key"])
        if place not in last or _worth(record) >= _worth(last[place]):
            last[place] = record
    kinds: dict[str, list[Row]] = {}
    for (kind, _), record in last.items():
        kinds.setdefault(kind, []).append(record)
    return World(
        _newest(kinds.get("run", [])),
        {row["solver"]: row for row in kinds.get("solver", [])},
        {(row["problem"], row.get("changes") or "{}"): row for row in kinds.get("problem", [])},
        _whole_studies(kinds.get("published", [])),
        _whole_studies(kinds.get("claim", [])),
        {
            run: {row["name"]: row["values"] for row in rows}
            for run, rows in by(kinds.get("series", []), lambda row: row["run"]).items()
        },
    )


def _worth(record: Row) -> tuple[bool, str]:
    return record.get("status", "ok") == "ok", record["date"]


def _newest(runs: list[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for run in sorted(runs, key=lambda row: row["date"]):
        text = [str(run.get(name)) if run.get(name) is not None else "" for name in SAME_RUN]
        found[json.dumps(text)] = run
    rows = list(found.values())
    variants: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        variants.setdefault(_place(row), set()).add(row["options"])
    for row in rows:
        options = row["options"] if len(variants[_place(row)]) > 1 else ""
        form = "" if row["form"] == "overdetermined" else row["form"]
        row["case"], row["curve"] = (
            case(row),
            " · ".join(part for part in (row["solver"], form, options) if part),
        )
    return rows


def _place(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("study", "problem", "changes", "solver", "form"))


def _whole_studies(rows: list[Row]) -> list[Row]:
    latest: dict[str, str] = {}
    for row in rows:
        latest[row["study"]] = max(row["date"], latest.get(row["study"], ""))
    return [row for row in rows if row["date"] == latest[row["study"]]]


def case(row: Row) -> str:
    """Return a problem with its changes."""
    changed = sorted(json.loads(row.get("changes") or "{}").items())
    return str(row["problem"]) + "".join(f", {name} = {value}" for name, value in changed)


def ok(row: Row) -> bool:
    """Tell whether a run reached its end."""
    return bool(row["status"] == "ok")


def stopped(row: Row) -> bool:
    """Tell whether our limit ended a run."""
    return row["status"] == "failed" and row.get("reason") in ("time_limit", "max_steps", "interrupted")


def error(row: Row) -> float | None:
    """Return the mixed error at the end."""
    digits = row.get("mescd")
    return None if digits is None else 10.0**-digits


def cost(row: Row, name: str) -> float | None:
    """Return what a run cost."""
    if name == "time":
        return row["cpu_min"] if row.get("cpu_min") is not None else row.get("wall_min")
    return row.get(name)


def tried(world_: World) -> list[Row]:
    """Return the runs about work: with a tolerance, not for drift or sizes.

    Few tolerances only where there is nothing better.
    """
    runs = [
        row for row in world_.runs if row.get("step") is None and row["study"] not in ("drift", "scaling")
    ]
    better = {row["case"] for row in runs if row["study"] != "testset"}
    return [row for row in runs if row["study"] != "testset" or row["case"] not in better]


def sweeps(world_: World) -> list[Row]:
    """Return those of them that verdicts are about."""
    runs = tried(world_)
    many = [row for row in runs if row["study"] != "testset"]
    return many or runs


def by(rows: Iterable[Row], place: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Return rows sorted into drawers."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(place(row), []).append(row)
    return found


def cheapest(rows: list[Row], name: str, goal: float) -> float | None:
    """Return what an error costs one curve.

    On the line through the medians of its decades, None if it never gets there.
    """
    points = _medians(rows, name)
    best = [math.log10(c) for c, e in points if math.log10(e) <= math.log10(goal)]
    for (c1, e1), (c2, e2) in pairwise(points):
        a, b, g = math.log10(e1), math.log10(e2), math.log10(goal)
        if (a - g) * (b - g) < 0:
            best.append(math.log10(c1) + (g - a) / (b - a) * (math.log10(c2) - math.log10(c1)))
    return 10 ** min(best) if best else None


def dearest(rows: list[Row], name: str) -> list[float]:
    """Return what the tightest tolerances cost one curve, nothing if it has no points."""
    return [cost_ for cost_, _ in _medians(rows, name)[-1:]]


def _medians(rows: list[Row], name: str) -> list[tuple[float, float]]:
    asked = [row for row in rows if row.get("rtol") is not None]
    drawers = by(asked, lambda row: math.floor(-math.log10(row["rtol"]) + 1e-9))
    if drawers and len(drawers[max(drawers)]) == 1 and len(drawers.get(max(drawers) - 1, [])) > 1:
        alone = drawers.pop(max(drawers))
        drawers[max(drawers)] += alone
    points = []
    for place in sorted(drawers):
        inside = drawers[place]
        if 2 * sum(map(ok, inside)) < len(inside):
            continue
        pairs = [(cost(row, name), error(row)) for row in inside if ok(row)]
        good = [(c, max(e, 1e-18)) for c, e in pairs if c is not None and c > 0 and e is not None]
        if good:
            points.append(
                (10 ** median(math.log10(c) for c, _ in good), 10 ** median(math.log10(e) for _, e in good))
            )
    return points
