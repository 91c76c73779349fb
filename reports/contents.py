"""What a record file holds, sorted by kind.

Runs as a table, series, problems, solvers, and what studies of documents found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from herk.bench import store

Record = dict[str, Any]
TEXTS = (
    "key",
    "study",
    "problem",
    "changes",
    "form",
    "solver",
    "solver_version",
    "options",
    "atol",
    "status",
    "reason",
    "message",
    "machine",
    "commit",
    "date",
    "herk",
)
NUMBERS = (
    "rtol",
    "step",
    "t_reached",
    "t_end",
    "nstep",
    "nreject",
    "nfev",
    "ngev",
    "njev",
    "nlu",
    "nit",
    "wall_min",
    "wall_median",
    "cpu_min",
    "cpu_median",
    "repeats",
    "compile_seconds",
    "error_end",
    "error_grid",
    "scd",
    "mescd",
    "drift.all",
    "memory_bytes",
    "h_lambda",
    "h_lambda_bound",
)
OUR_LIMITS = (
    "time_limit",
    "max_steps",
    "interrupted",
)  # reasons that say something about us, not about the solver
STOPPED = "stopped by our limit"
HALF_EXPLICIT, OUR_IMPLICIT, DEFAULT, FOREIGN = "half-explicit", "our implicit", "our default", "foreign"
KEEPING = "overdetermined"  # the form that holds all constraints, the hidden ones too
CONTROL = "control"  # a half-explicit method on a form without hidden constraints: what its kernel does alone
GROUPS = (HALF_EXPLICIT, OUR_IMPLICIT, DEFAULT, FOREIGN)
OF_FAMILY = {
    "herk": HALF_EXPLICIT,
    "radau": OUR_IMPLICIT,
    "irk": OUR_IMPLICIT,
    "second_order": OUR_IMPLICIT,
    "auto": DEFAULT,
}
FIVE = (
    "pendulum",
    "wind_pendulum",
    "spring_chain",
    "cv_circuit",
    "akzo",
)  # the problems that the report is asked about
FEW = "testset"  # the study of every problem at a few tolerances
MEASURED = ("error_end.", "error_grid.", "scd.", "mescd.", "drift.", "invariant.")
ENVIRONMENT = ("herk", "commit", "python", "numpy", "scipy", "numba", "sympy", "machine", "cores", "os")


@dataclass(frozen=True)
class Contents:
    """The records of one folder."""

    runs: pd.DataFrame
    series: Mapping[str, Mapping[str, tuple[list[float], list[Any]]]] = field(default_factory=dict)
    problems: Mapping[tuple[str, str], Record] = field(default_factory=dict)
    solvers: Mapping[str, Record] = field(default_factory=dict)
    documents: Mapping[str, Mapping[str, list[Record]]] = field(default_factory=dict)
    environments: tuple[Record, ...] = ()
    notes: tuple[str, ...] = ()

    def family(self, solver: str) -> str:
        """Return the family of a solver, the first part of its name where no record tells."""
        return str(self.solvers.get(solver, {}).get("family") or solver.split("_")[0])

    def group(self, solver: str) -> str:
        """Return to which of the groups a solver belongs."""
        return OF_FAMILY.get(self.family(solver), FOREIGN)

    def panel(self, solver: str) -> str:
        """Return the group a solver is drawn with: the default beside the half-explicit methods."""
        group = self.group(solver)
        return HALF_EXPLICIT if group == DEFAULT else group

    def programs(self, solvers: Iterable[str]) -> int:
        """Return how many solvers these are: the tableaux of the half-explicit method are one."""
        return len({HALF_EXPLICIT if self.group(name) == HALF_EXPLICIT else name for name in solvers})

    @cached_property
    def five(self) -> tuple[str, ...]:
        """Return those of the five problems that the records know."""
        known = {name for name, _ in self.problems} | set(self.runs["problem"])
        return tuple(name for name in FIVE if name in known)

    @cached_property
    def ours(self) -> frozenset[str]:
        """Return the half-explicit solvers, which this project is about."""
        return frozenset(name for name in self.runs["solver"].unique() if self.group(name) == HALF_EXPLICIT)

    @cached_property
    def tried(self) -> pd.DataFrame:
        """Return the runs that were asked for a tolerance, those of the studies of drift and sizes aside.

        The study of the test set has few tolerances: a problem that another study has measured is shown with
        the runs of that one.
        """
        runs = self.runs[self.runs["step"].isna() & ~self.runs["study"].isin(["drift", "scaling"])]
        few = runs["study"] == FEW
        return runs[~few | ~runs["case"].isin(runs.loc[~few, "case"].unique())]

    @cached_property
    def sweeps(self) -> pd.DataFrame:
        """Return those of them that verdicts on work are about.

        Many tolerances, unless the records hold no such runs.
        """
        many = self.tried["study"] != FEW
        return self.tried[many] if many.any() else self.tried

    @cached_property
    def fixed(self) -> pd.DataFrame:
        """Return the runs with a fixed step."""
        return self.runs[self.runs["step"].notna()]

    @cached_property
    def drifts(self) -> pd.DataFrame:
        """Return the runs of the drift study."""
        return self.runs[self.runs["study"] == "drift"]

    def problem(self, name: str, changes: str = "{}") -> Record:
        """Return what is known about a problem, nothing if no record tells."""
        return self.problems.get((name, changes)) or self.problems.get((name, "{}")) or {}

    def size(self, name: str, changes: str = "{}", group: str = "") -> float:
        """Return the largest component of a problem's reference at the end, 1 if there is none."""
        known = self.problem(name, changes)
        values = known.get("reference_y") or []
        chosen = (known.get("groups") or {}).get(group, range(len(values)))
        return max((abs(values[k]) for k in chosen if k < len(values) and values[k] is not None), default=1.0)

    def floor(self, name: str, changes: str = "{}", group: str = "") -> float | None:
        """Return the error below which the reference cannot tell, None if its digits are not known."""
        digits = self.problem(name, changes).get("reference_digits")
        return (
            None if digits is None else max(10.0**-digits, 2.2e-16) * (self.size(name, changes, group) or 1.0)
        )


def read(out: Path) -> Contents:
    """Read OUT/records.jsonl."""
    records, notes = store.Store(out / "records.jsonl").read()
    return sort(records, notes)


def sort(records: Iterable[Record], notes: Iterable[str] = ()) -> Contents:
    """Return records by kind, one for every key."""
    kinds: dict[str, list[Record]] = {}
    for record in store.latest(records):
        kinds.setdefault(record["kind"], []).append(record)
    series: dict[str, dict[str, tuple[list[float], list[Any]]]] = {}
    for record in kinds.get("series", []):
        series.setdefault(record["run"], {})[record["name"]] = (record["t"], record["values"])
    documents: dict[str, dict[str, list[Record]]] = {}
    for kind in ("published", "erratum", "claim", "figure"):
        for record in kinds.get(kind, []):
            documents.setdefault(record["study"], {}).setdefault(kind, []).append(record)
    return Contents(
        runs=frame(kinds.get("run", [])),
        series=series,
        problems={
            (record["problem"], record.get("changes") or "{}"): record for record in kinds.get("problem", [])
        },
        solvers={record["solver"]: record for record in kinds.get("solver", [])},
        documents=documents,
        environments=environments(record for records in kinds.values() for record in records),
        notes=tuple(notes),
    )


def environments(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return every combination of versions, machine and commit, with the number of records.

    Most frequent first.
    """
    counts: dict[tuple[Any, ...], int] = {}
    for record in records:
        found = tuple(record.get(name) for name in ENVIRONMENT)
        counts[found] = counts.get(found, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return tuple({**dict(zip(ENVIRONMENT, found, strict=True)), "records": count} for found, count in ordered)


def frame(runs: list[Record]) -> pd.DataFrame:
    """Return runs as a table in a fixed order.

    Every column of the schema, and `ok`, `outcome`, `time`, `mixed`, `case`, `curve`.
    """
    table = pd.DataFrame(runs)
    measured = [str(name) for name in table.columns if str(name).startswith(MEASURED) and name not in NUMBERS]
    names = [*TEXTS, *NUMBERS, *measured]
    table = table.reindex(columns=names).astype(object)
    columns: dict[str, Any] = {
        name: ["" if value is None or value != value else str(value) for value in table[name]]
        for name in TEXTS
    }
    columns |= {
        name: pd.to_numeric(table[name], errors="coerce").astype(float) for name in (*NUMBERS, *measured)
    }
    table = pd.DataFrame(
        columns, columns=names
    )  # at once: column by column, many groups of components make it slow
    table["changes"] = table["changes"].replace("", "{}")
    table["ok"] = table["status"] == "ok"
    limited = (table["status"] == "failed") & table["reason"].isin(OUR_LIMITS)
    table["outcome"] = table["status"].where(~limited, STOPPED)
    table["time"] = table["cpu_min"].fillna(table["wall_min"])
    table["mixed"] = np.power(10.0, -table["mescd"])
    table["case"] = [case(*names) for names in zip(table["problem"], table["changes"], strict=True)]
    table["curve"] = curves(table)
    return newest(table)


def newest(table: pd.DataFrame) -> pd.DataFrame:
    """Return the newest of all runs that differ in nothing but versions, in a fixed order."""
    identity = ["study", "problem", "changes", "solver", "form", "rtol", "step", "atol", "options"]
    kept = table.sort_values("date", kind="stable").drop_duplicates(identity, keep="last")
    return kept.sort_values(
        identity, ascending=[name not in ("rtol", "step") for name in identity], ignore_index=True
    )


def case(problem: str, changes: str) -> str:
    """Return the name of a problem with its changed parameters."""
    try:
        changed = sorted(json.loads(changes).items())
    except (ValueError, AttributeError):
        return f"{problem} {changes}"
    return problem + "".join(f", {name} = {value}" for name, value in changed)


def curves(table: pd.DataFrame) -> list[str]:
    """Return the name of each run's curve.

    The solver, the form if it is not the overdetermined one, options if runs differ in them.
    """
    variants = table.groupby(["study", "problem", "changes", "solver", "form"])["options"].transform(
        "nunique"
    )
    rows = zip(table["solver"], table["form"], table["options"], variants, strict=True)
    parts = (
        [solver, "" if form == "overdetermined" else form, options if several > 1 else ""]
        for solver, form, options, several in rows
    )
    return [" · ".join(filter(None, each)) for each in parts]
