"""The data of the interactive plot.

Runs in columns, texts as numbers into lists, numbers with four digits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from herk.reproductions.style import Look
from reports import figures
from reports.contents import Contents

COSTS = {
    "time": "CPU time (s)",
    "nfev": "Evaluations of f",
    "nstep": "Accepted steps",
    "njev": "Jacobians",
    "nlu": "Factorisations",
    "rtol": "Tolerance asked for (rtol)",
}
ERRORS = {
    "mixed": "Mixed error at the end",
    "error_end": "Error at the end, all",
    "error_grid": "Error over time, all",
    "drift.all": "Drift of the constraints",
}
DETAILS = ("ngev", "nreject", "nit")


def data(contents: Contents) -> dict[str, Any]:
    """Return everything the plot needs; it holds the runs with tolerances."""
    runs = contents.tried
    errors = {**ERRORS, **_groups(runs)}
    numbers = [name for name in (*COSTS, *errors, *DETAILS) if name in runs and runs[name].notna().any()]
    texts = ("case", "curve", "status", "reason")
    lists = {name: sorted(runs[name].unique()) for name in texts}
    look = figures.looks(contents)
    ours = set(runs.loc[runs["solver"].isin(contents.ours), "curve"])
    lists["curve"].sort(key=lambda name: name not in ours)
    places = {name: {text: k for k, text in enumerate(lists[name])} for name in texts}
    columns: dict[str, list[Any]] = {name: [places[name][text] for text in runs[name]] for name in texts}
    columns |= {name: [_four(value) for value in runs[name]] for name in numbers}
    return {
        "columns": columns,
        "status": lists["status"],
        "reason": lists["reason"],
        "cases": [_case(contents, runs[runs["case"] == name], places["curve"]) for name in lists["case"]],
        "curves": [_curve(contents, runs, name, look[name]) for name in lists["curve"]],
        "costs": {name: label for name, label in COSTS.items() if name in numbers},
        "errors": {name: label for name, label in errors.items() if name in numbers},
    }


def script(contents: Contents) -> str:
    """Return the data as JSON that cannot leave its script element."""
    return (
        json.dumps(data(contents), separators=(",", ":"), allow_nan=False)
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )


def _groups(runs: pd.DataFrame) -> dict[str, str]:
    """Return the errors of groups of components, with labels."""
    words = {"error_end": "Error at the end", "error_grid": "Error over time"}
    names = [name for name in runs.columns if name.partition(".")[0] in words and "." in name]
    return {name: f"{words[name.partition('.')[0]]}, {name.partition('.')[2]}" for name in names}


def _case(contents: Contents, runs: pd.DataFrame, places: dict[str, int]) -> dict[str, Any]:
    row = runs.iloc[0]
    record = contents.problem(row["problem"], row["changes"])
    digits = record.get("reference_digits")
    groups = ("", *(record.get("groups") or {}))
    return {
        "name": row["case"],
        "tags": _texts(record.get("tags")),
        "digits": digits,
        "mixed": None if digits is None else max(10.0**-digits, 2.2e-16),
        "floors": {group: _four(contents.floor(row["problem"], row["changes"], group)) for group in groups},
        "best": [places[name] for name in figures.chosen(contents, runs)],
    }


def _curve(contents: Contents, runs: pd.DataFrame, name: str, look: Look) -> dict[str, Any]:
    row = runs[runs["curve"] == name].iloc[0]
    solver = contents.solvers.get(row["solver"], {})
    return {
        "name": name,
        "solver": row["solver"],
        "form": row["form"],
        "family": contents.family(row["solver"]),
        "tags": _texts(solver.get("tags")),
        "ours": look.ours,
        "group": contents.group(row["solver"]),
        "face": look.line()["markerfacecolor"],
        "colour": look.colour,
        "marker": look.marker,
        "dashes": list(look.dashes),
    }


def _texts(values: Iterable[Any] | None) -> list[str]:
    return [str(value) for value in values or ()]


def _four(value: float | None) -> float | int | None:
    """Return a number with four digits, whole numbers as such, None for what is none."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
