"""Facts about work, orders and drift, counted again from the records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from statistics import median
from typing import Any

from reports.proof.world import (
    NEVER_BEGUN,
    Row,
    World,
    by,
    cheapest,
    dearest,
    error,
    ok,
    stopped,
    sweeps,
    tried,
)

Facts = Mapping[str, Any]
GROUPS = ("half-explicit", "our implicit", "our default", "foreign")
CLOSE, AT_BOUND, ROUNDING, NOISE, CONVERGED, SLACK, ABOVE = 1.25, 0.5, 3e-13, 1e-9, 0.1, 0.3, 0.5


def begun(rows: list[Row]) -> list[Row]:
    """Return the runs that were made."""
    return [row for row in rows if row["status"] not in NEVER_BEGUN]


def racing(world: World, rows: list[Row]) -> list[Row]:
    """Return the runs that are compared: of half-explicit methods those that hold all constraints."""
    return [
        row
        for row in begun(rows)
        if world.group(row["solver"]) != "half-explicit" or row["form"] == "overdetermined"
    ]


def duel(asked: Facts, world: World, rows: list[Row] | None = None) -> dict[str, Any]:
    """Count again who of each group is fastest."""
    here = [
        row for row in racing(world, tried(world) if rows is None else rows) if row["case"] == asked["case"]
    ]
    best: dict[str, list[Any] | None] = dict.fromkeys(GROUPS)
    ends: dict[str, list[Any]] = {group: [] for group in GROUPS}
    halted, total = dict.fromkeys(GROUPS, 0), dict.fromkeys(GROUPS, 0)
    for curve, part in by(here, lambda row: row["curve"]).items():
        group, spent = world.group(part[0]["solver"]), cheapest(part, "time", asked["error"])
        total[group] += 1
        known = best[group]
        if spent is None:
            halted[group] += any(map(stopped, part))
            ends[group] += [[curve, last] for last in dearest(part, "time")]
        elif known is None or (spent, curve) < (known[1], known[0]):
            best[group] = [curve, spent]
    sooner: dict[str, list[Any] | None] = dict.fromkeys(GROUPS)
    for group, first in best.items():
        before = sorted([end[1], end[0]] for end in ends[group] if first and end[1] < first[1])
        sooner[group] = before[0][::-1] if before else None
    facts = {"best": best, "sooner": sooner, "stopped": halted, "asked": total}
    return {name: {group: each[group] for group in GROUPS if total[group]} for name, each in facts.items()}


def speed(asked: Facts, world: World) -> dict[str, Any]:
    """Count again on how many problems a half-explicit method is ahead."""
    found: dict[str, Any] = {
        name: [] for name in ("ahead", "level", "behind", "alone", "missed", "open", "none")
    }
    ratios, bounds = [], 0
    rows = sweeps(world)
    for case in sorted({row["case"] for row in racing(world, rows)}):
        race = duel({"case": case, "error": asked["error"]}, world, rows)
        mine, foreign = (race["best"].get(group) for group in ("half-explicit", "foreign"))
        if mine and foreign:
            early = [race["sooner"][group] for group in ("half-explicit", "foreign")]
            most, least = mine[1] / (early[1] or foreign)[1], (early[0] or mine)[1] / foreign[1]
            ratios.append(most)
            bounds += any(early)
            place = "open" if any(early) else "level"
            place = "ahead" if most < 1 / CLOSE else "behind" if least > CLOSE else place
        else:
            missing = [group for group in ("half-explicit", "foreign") if race["best"].get(group) is None]
            place = {2: "none"}.get(len(missing), "alone" if mine else "missed")
            place = "open" if any(race["stopped"].get(group) for group in missing) else place
        found[place].append(case)
    return {**found, "median": median(ratios) if ratios else None, "bounded": bounds}


def endings(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001 - every kind takes what is claimed
    """Count again how runs ended."""
    rows = begun([row for row in world.runs if row.get("step") is None])
    wrong = [row for row in rows if ok(row) and row.get("mescd") is not None and row["mescd"] < 0]
    halted = [row for row in rows if stopped(row)]
    right = sum(map(ok, rows)) - len(wrong)
    return {
        "runs": len(rows),
        "right": right,
        "wrong": len(wrong),
        "stopped": len(halted),
        "failed": len(rows) - right - len(wrong) - len(halted),
        "solvers": len({program(world, row["solver"]) for row in rows}),
        "problems": len({row["problem"] for row in rows}),
    }


def program(world: World, solver: str) -> str:
    """Return what counts as one solver: all tableaux of the half-explicit method do."""
    return "herk" if world.group(solver) == "half-explicit" else solver


def drift(asked: Facts, world: World) -> dict[str, Any]:
    """Count again the violations of one level over the longest span."""
    rows = begun(
        [row for row in world.runs if row["study"] == "drift" and row["problem"] == asked["problem"]]
    )
    longest = max((row["t_end"] for row in rows if row.get("t_end") is not None), default=None)
    here = [row for row in rows if row.get("t_end") == longest]
    spans = {row["changes"] for row in here}
    done = [row for row in here if ok(row) and row.get(asked["column"]) is not None]
    own = [row for row in done if row["form"] == "overdetermined"]
    others = [[row[asked["column"]], row["curve"], row["rtol"]] for row in done if row not in own]
    unsaid = [row for row in rows if row["changes"] in spans and not ok(row)]
    return {
        "t_end": longest,
        "keeping": {"runs": len(own), "largest": max(row[asked["column"]] for row in own)} if own else None,
        "others": {"runs": len(others), "smallest": min(others), "largest": max(others)} if others else None,
        "stopped": sum(map(stopped, unsaid)), "failed": len(unsaid) - sum(map(stopped, unsaid)),
    }  # fmt: skip


def orders(asked: Facts, world: World) -> dict[str, Any]:
    """Count again which methods that keep all constraints keep their order."""
    found: dict[str, Any] = {"kept": 0, "faster": 0, "below": [], "unjudged": []}
    rows = [row for row in world.runs if row.get("step") is not None and ok(row)]
    rows = [
        row for row in rows if asked["problem"] in ("", row["problem"]) and row["form"] == "overdetermined"
    ]
    for (case, curve), part in sorted(by(rows, lambda row: (row["case"], row["curve"])).items()):
        claimed = world.solvers.get(part[0]["solver"], {}).get("order")
        columns = _columns(part)
        if claimed is None or not columns:
            continue
        reference = world.problem(part[0]["problem"], part[0]["changes"]).get("reference_y") or []
        size = max([1.0, *(abs(value) for value in reference if value is not None)])
        seen = {
            _judged([(r["step"], r[c]) for r in part if r.get(c) is not None], size, claimed) for c in columns
        }
        name = f"{curve} on {case}"
        if "below" in seen:
            found["below"].append(name)
        elif "unjudged" in seen or seen == {"exact"}:
            found["unjudged"].append(name)
        else:
            found["kept" if "kept" in seen else "faster"] += 1
    return found


def _columns(rows: list[Row]) -> list[str]:
    """Return the columns of errors that count.

    Over the interval where they are known, at the end otherwise.
    """
    names = {
        name
        for row in rows
        for name, value in row.items()
        if value is not None and name.startswith(("error_end", "error_grid"))
    }
    return sorted(
        n for n in names if n.startswith("error_grid") or n.replace("error_end", "error_grid") not in names
    )


def _judged(points: list[tuple[float, float]], size: float, claimed: float) -> str:
    ordered = sorted(points, reverse=True)
    if ordered and all(e <= ROUNDING * size for _, e in ordered):
        return "exact"
    usable: list[tuple[float, float]] = []
    before = math.inf
    for step, value in ordered:
        if value <= ROUNDING * size or before <= value < NOISE * size:
            break
        before = value
        usable = [] if value > CONVERGED * size else [*usable, (math.log(step), math.log(value))]
    if len(usable) < 4:
        return "unjudged"
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(usable[-5:], 2)]
    excess = median(slopes) - claimed
    return "below" if excess < -SLACK else "kept" if excess <= ABOVE else "faster"


def stiff(asked: Facts, world: World) -> dict[str, Any]:  # noqa: ARG001 - every kind takes what is claimed
    """Look again for steps at the bound of stability."""
    rows = [
        row for row in world.runs if row.get("h_lambda") is not None and (row.get("h_lambda_bound") or 0) > 0
    ]
    limited = []
    for problem, part in sorted(by(rows, lambda row: row["problem"]).items()):
        shares = sorted(
            (-row["h_lambda"] / row["h_lambda_bound"], row["curve"], row["rtol"], row["h_lambda"])
            for row in part
        )
        share, curve, rtol, product = shares[0]
        if -share >= AT_BOUND:
            limited.append([problem, curve, rtol, product, product / -share])
    return {"limited": limited, "measured": len(rows)}


def tolerance(asked: Facts, world: World) -> dict[str, Any]:
    """Take again the medians of error over tolerance."""
    middles = []
    for part in by(sweeps(world), lambda row: row["curve"]).values():
        pairs = [(error(row), row.get("rtol")) for row in part if ok(row)]
        ratios = [max(e, 1e-18) / r for e, r in pairs if e is not None and r]
        if ratios and world.group(part[0]["solver"]) == asked["group"]:
            middles.append(median(ratios))
    return {
        "curves": len(middles),
        "lowest": min(middles, default=None),
        "highest": max(middles, default=None),
    }


def far(asked: Facts, world: World) -> dict[str, Any]:
    """Look again for curves whose error is far from the tolerance."""
    found = []
    for curve, part in by(sweeps(world), lambda row: row["curve"]).items():
        pairs = [(error(row), row.get("rtol")) for row in part if ok(row)]
        ratios = [max(e, 1e-18) / r for e, r in pairs if e is not None and r]
        if ratios and median(ratios) > asked["factor"]:
            found.append((-median(ratios), curve))
    return {"curves": [curve for _, curve in sorted(found)]}


def profiled(world: World) -> list[Row]:
    """Return the runs that profiles compare: of curves that were asked on half of the problems or more."""
    whole = [row for row in world.runs if row["study"] == "testset" and row.get("step") is None]
    rows = [row for row in whole if row["changes"] == "{}"] or tried(world)
    rows = [row for row in rows if row["changes"] == "{}" and row["status"] != "unavailable"]
    problems = {row["case"] for row in rows}
    asked = by(rows, lambda row: row["curve"])
    return [
        row for own in asked.values() if 2 * len({row["case"] for row in own}) >= len(problems) for row in own
    ]


def profile(asked: Facts, world: World) -> dict[str, Any]:
    """Count again who solves how many problems within a factor of the best."""
    rows = profiled(world)
    within: dict[str, int] = {}
    problems = 0
    for part in by(rows, lambda row: row["case"]).values():
        found = {
            c: cheapest(own, asked["cost"], asked["error"])
            for c, own in by(part, lambda row: row["curve"]).items()
        }
        costs = {curve: value for curve, value in found.items() if value is not None}
        problems += bool(costs)
        for curve, value in costs.items():
            if value <= asked["factor"] * min(costs.values()) * (1 + 1e-9):
                within[curve] = within.get(curve, 0) + 1
    ranked = sorted(within.items(), key=lambda item: (-item[1], item[0]))
    return {"problems": problems, "within": [list(item) for item in ranked]}
