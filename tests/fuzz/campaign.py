"""A stretch of fuzzing: members family by family until the time is up, and the table of what came of them."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.fuzz.examine import record
from tests.fuzz.families import FAMILIES
from tests.fuzz.judge import Outcome
from tests.fuzz.pool import Pool

Record = dict[str, Any]


def tasks(families: Sequence[str], seed: int, members: int | None, until: float) -> Iterator[tuple[str, int]]:
    """Yield (family, seed) in turn, until the clock says `until` or each family had its members."""
    for k in itertools.count() if members is None else range(members):
        for family in families:
            if time.monotonic() >= until:
                return
            yield family, seed + k


def campaign(
    stream: Iterator[tuple[str, int]],
    jobs: int,
    limit: float,
    tell: Callable[[Record], None] = lambda _: None,
) -> list[Record]:
    """Return one record per member; `tell` hears of each as it comes."""
    records = []
    for (family, seed), result, how in Pool(record, jobs, limit).run(stream):
        if result is None:
            outcome, detail = (
                (Outcome.HANG, f"no answer in {limit:g} s")
                if how == "hang"
                else (Outcome.CRASH, "the process died")
            )
            result = {
                "family": family,
                "seed": seed,
                "kind": "",
                "script": "",
                "outcome": outcome,
                "detail": detail,
            }
        records.append(result)
        tell(result)
    return records


def table(records: Sequence[Record]) -> str:
    """Return counts per family and class, with the seeds of every fault below."""
    counts = Counter((record["family"], record["outcome"]) for record in records)
    classes = list(reversed(Outcome))
    width = max(len(family) for family in FAMILIES)
    lines = [
        " " * width + "".join(f"  {name.value:>{max(5, len(name.value))}}" for name in classes) + "  total"
    ]
    present = [family for family in FAMILIES if any(record["family"] == family for record in records)]
    for family in [*present, "all"]:
        row = [
            sum(counts[f, name] for f in present) if family == "all" else counts[family, name]
            for name in classes
        ]
        cells = "".join(
            f"  {count or '.':>{max(5, len(name.value))}}" for count, name in zip(row, classes, strict=True)
        )
        lines.append(f"{family:<{width}}{cells}  {sum(row):>5}")
    for outcome in Outcome:
        if outcome not in (Outcome.RIGHT, Outcome.HONEST):
            lines += _seeds(records, outcome)
    return "\n".join(lines)


def _seeds(records: Sequence[Record], outcome: Outcome) -> list[str]:
    """Return the seeds per family; apart those whose only wrong values are polynomials not put on g = 0."""
    lines = []
    for only, label in ((False, outcome.value), (True, f"{outcome.value}, unprojected output only")):
        for family in FAMILIES:
            found = [r for r in records if r["family"] == family and r["outcome"] == outcome]
            seeds = sorted(r["seed"] for r in found if (r.get("channel") == "unprojected") is only)
            lines += [f"{label}: {family} {' '.join(map(str, seeds))}"] if seeds else []
    return lines


def faults(records: Sequence[Record]) -> list[Record]:
    """Return the records of what is the solver's fault."""
    return [record for record in records if Outcome(record["outcome"]).fault]


def as_known(records: Sequence[Record]) -> str:
    """Return the faults as the text of known_faults.toml."""
    lines = ['# Faults of the share that are known, by family: seed = "class". Empty when all are repaired.']
    for family in FAMILIES:
        found = sorted(
            (record["seed"], record["outcome"]) for record in faults(records) if record["family"] == family
        )
        if found:
            lines += ["", f"[{family}]", *(f'{seed} = "{Outcome(outcome).value}"' for seed, outcome in found)]
    return "\n".join(lines) + "\n"
