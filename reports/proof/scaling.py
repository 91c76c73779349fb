"""How costs grow with size, counted again in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median
from typing import Any

from reports.proof.world import World, by, cost, ok


def scaling(asked: Mapping[str, Any], world: World) -> dict[str, Any]:
    """Fit again the slope of log time of a step over log unknowns, curve by curve."""
    curves = []
    rows = [
        row
        for row in world.runs
        if row["study"] == "scaling"
        and row["problem"] == asked["problem"]
        and ok(row)
        and (row["nstep"] or 0) > 0
    ]
    for curve, part in sorted(by(rows, lambda row: row["curve"]).items()):
        spent: dict[int, list[float]] = {}
        for row in part:
            unknowns, time = world.problem(row["problem"], row["changes"]).get("n"), cost(row, "time")
            if unknowns is not None and time is not None:
                spent.setdefault(unknowns, []).append(time / row["nstep"])
        points = [(math.log(n), math.log(median(each))) for n, each in spent.items()]
        if points:
            curves.append([curve, _slope(points), min(spent), max(spent)])
    return {"curves": curves}


def _slope(points: list[tuple[float, float]]) -> float | None:
    if len(points) < 2:
        return None
    x, y = (sum(each[k] for each in points) / len(points) for k in (0, 1))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return round(slope, 6) + 0.0
