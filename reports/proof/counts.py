"""Facts about problems, documents and the records as a whole, counted again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from reports.proof.facts import begun, profiled, program, racing
from reports.proof.world import Row, World, by, case, cheapest, error, ok, stopped, sweeps, tried

Facts = Mapping[str, Any]
FIVE = ("pendulum", "wind_pendulum", "spring_chain", "cv_circuit", "akzo")


def testset(asked: Facts, world: World) -> dict[str, Any]:
    """Count again the families that reach the digits."""
    rows = [
        r
        for r in world.runs
        if r.get("step") is None and r["changes"] == "{}" and r["status"] != "unavailable"
    ]
    known = {name for name, changes in world.problems if changes == "{}"}
    families = {
        name: {
            world.family(r["solver"])
            for r in part
            if ok(r) and r.get("mescd") is not None and r["mescd"] >= asked["digits"]
        }
        for name, part in by(rows, lambda row: row["problem"]).items()
    }
    few = [[name, len(found)] for name, found in sorted(families.items()) if len(found) < 2]
    return {"enough": len(families) - len(few), "others": few, "not_run": len(known - set(families))}


def references(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001 - every kind takes what is claimed
    """Count again the problems with a reference."""
    digits = []
    for name in {name for name, _ in world.problems}:
        changes = sorted(changes for known, changes in world.problems if known == name)
        digits.append(world.problems[name, "{}" if "{}" in changes else changes[0]].get("reference_digits"))
    known = [value for value in digits if value is not None]
    return {"known": len(known), "problems": len(digits), "least": min(known, default=None)}


def documents(asked: Facts, world: World) -> dict[str, Any]:
    """Count again what became of the values of documents, all of them or those of one study."""
    counts: dict[str, dict[str, int]] = {}
    for row in world.published:
        if asked.get("study") not in (None, "", row["study"]):
            continue
        inside = counts.setdefault(_source(row), {})
        inside[row["verdict"]] = inside.get(row["verdict"], 0) + 1
    return {"sources": counts}


def _source(row: Row) -> str:
    if row.get("source"):
        return str(row["source"])
    if row.get("origin"):
        return {"printed value": "printed", "ours": "not printed"}.get(str(row["origin"]), str(row["origin"]))
    if row.get("printed") is None or str(row["printed"]).startswith("not printed"):
        return "not printed"
    if "original program" in (row.get("why") or "") or "run again" in row["part"]:
        return "from the original program"
    return "read from a picture" if row["part"].startswith("Fig") else "printed"


def whole(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001 - every kind takes what is claimed
    """Count again what the records hold."""
    days = sorted(row["date"][:10] for row in world.runs if row.get("date"))
    values: dict[str, int] = {}
    for row in world.published:
        values[_source(row)] = values.get(_source(row), 0) + 1
    return {
        "runs": len(world.runs),
        "solvers": len({program(world, row["solver"]) for row in world.runs}),
        "problems": len({row["problem"] for row in world.runs}),
        "values": values,
        "days": [days[0], days[-1]] if days else [],
    }


def absent(asked: Facts, world: World) -> dict[str, Any]:
    """Look again whether a solver ran, why not, and whether the other one did."""
    mine = [row for row in world.runs if row["solver"] == asked["solver"]]
    ran = {row["solver"] for row in begun(world.runs)}
    said = [row.get("message") or "" for row in mine if row["status"] == "unavailable"]
    return {
        "solver": "" if asked["solver"] in ran else asked["solver"],
        "why": asked["why"] if asked["why"] in (said or [""]) else "",
        "instead": asked["instead"] if asked["instead"] in ran else "",
    }


def held(asked: Facts, world: World) -> dict[str, Any]:
    """Count again the claims of the studies that hold."""
    rows = [row for row in world.claims if asked["study"] in ("", row["study"])]
    failed = sorted(row["text"].rstrip(".") for row in rows if not row.get("holds"))
    return {"claims": len(rows), "failed": failed}


def own_failures(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001
    """Look again for half-explicit runs that failed or came out wrong."""
    bad = []
    for row in begun(world.runs):
        mine = world.group(row["solver"]) == "half-explicit" and row["form"] == "overdetermined"
        wrong = (row.get("mescd") or 0) < 0 if ok(row) else not stopped(row)
        if mine and row.get("step") is None and wrong:
            bad.append(f"{row['curve']} on {row['case']}")
    return {"runs": len(bad), "places": sorted(set(bad))}


def printed_ends(asked: Facts, world: World) -> dict[str, Any]:
    """Compare again the end values of the literature with ours."""
    worst = _printed(world)
    fewer = sorted((digits, name) for name, digits in worst.items() if digits < asked["digits"])
    return {"agree": len(worst) - len(fewer), "fewer": [[name, digits] for digits, name in fewer]}


def _printed(world: World) -> dict[str, float]:
    """Return the digits of the worst printed component of every problem that has any."""
    found = {}
    for name in {name for name, _ in world.problems}:
        changes = sorted(changes for known, changes in world.problems if known == name)
        row = world.problems[name, "{}" if "{}" in changes else changes[0]]
        pairs = zip(row.get("reference_y") or [], row.get("published_y") or [], strict=False)
        off = [
            abs(ours - there) / (abs(ours) or 1.0)
            for ours, there in pairs
            if ours is not None and there is not None
        ]
        if off:
            found[case(row)] = min(16.0 if each < 1e-16 else -math.log10(each) for each in off)
    return found


def machines(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001
    """Count again the machines whose times are compared."""
    return {"names": sorted({row["machine"] for row in sweeps(world) if row.get("machine")})}


def selections(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001
    """Look again for changes of the selection."""
    recorded = [row for row in world.runs if "selection" in world.series.get(row["key"], {})]
    changing = {
        row["case"] for row in recorded if len(set(map(str, world.series[row["key"]]["selection"]))) > 1
    }
    return {"runs": len(recorded), "changing": sorted(changing)}


def other_problems(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001
    """Count again the problems besides the five."""
    return {"problems": len(_others(world))}


def _others(world: World) -> set[str]:
    """Return the problems besides the five.

    Of these, too, those on which work was measured with changes, or which are known with changes only.
    """
    measured = {(row["problem"], row["changes"]) for row in tried(world)}
    shown = measured | {(name, changes) for name, changes in world.problems if changes == "{}"}
    changed = {name for name, changes in measured if changes != "{}"}
    for name in {name for name, _ in world.problems}:
        if not any(place in shown for place in world.problems if place[0] == name):
            changed.add(name)
    return {name for name, _ in shown if name not in FIVE} | changed


def unmeasured(asked: Facts, world: World) -> dict[str, Any]:
    """Count again runs that were tried, and those with a number."""
    if asked["what"] == "drift":
        rows = [row for row in world.runs if row["study"] == "drift"]
        good = [row for row in begun(rows) if row.get("drift.all") is not None]
    else:
        rows = [row for row in world.runs if row.get("step") is not None]
        good = [row for row in rows if ok(row) and _has_error(row)]
    return {"runs": len(rows), "measured": len(good)}


def _has_error(row: Row) -> bool:
    return any(
        value is not None and name.startswith(("error_end", "error_grid")) for name, value in row.items()
    )


def none(asked: Facts, world: World) -> dict[str, Any]:
    """Count what is said not to be there."""
    return {"found": FOUND[asked["what"]](world, asked["name"])}


def _with_tolerance(world: World) -> list[Row]:
    return [row for row in world.runs if row.get("step") is None]


def _solved(world: World) -> int:
    """Count the problems with a solution; two make a profile."""
    rows = profiled(world)
    solved = sum(
        any(cheapest(own, "time", 1e-6) is not None for own in by(part, lambda row: row["curve"]).values())
        for part in by(rows, lambda row: row["case"]).values()
    )
    return solved if solved > 1 else 0


FOUND: dict[str, Callable[[World, str], int]] = {
    "work": lambda world, _: len(racing(world, sweeps(world))),
    "problem": lambda world, name: sum(row["case"] == name for row in racing(world, tried(world))),
    "profiles": lambda world, _: _solved(world),
    "tolerance": lambda world, _: sum(ok(row) and error(row) is not None for row in sweeps(world)),
    "fixed": lambda world, _: len(world.runs) - len(_with_tolerance(world)),
    "drift": lambda world, _: sum(row["study"] == "drift" for row in world.runs),
    "scaling": lambda world, _: sum(row["study"] == "scaling" and ok(row) for row in world.runs),
    "problems": lambda world, _: len(world.problems),
    "standing": lambda world, _: sum(
        row["changes"] == "{}" and row["status"] != "unavailable" for row in _with_tolerance(world)
    ),
    "steps": lambda world, _: sum("step" in world.series.get(row["key"], {}) for row in world.runs),
    "asked": lambda world, _: len(_with_tolerance(world)),
    "printed": lambda world, _: len(_printed(world)),
    "others": lambda world, _: len(_others(world)),
    "documents": lambda world, _: len(world.published) + len(world.claims),
}
