"""How long a bench will take: from what earlier runs took, else from a rough table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import baselines
from herk.bench.record import Record
from herk.bench.sweeps import Ladder, Rung

PROCESS = 0.5  # seconds to start a process and prepare from a warm cache
ROUGH = {
    "herk": 0.05,
    "irk": 0.05,
    "scipy_radau": 1.0,
}  # seconds for a run of a solver or family, with repetitions and measuring
OTHERS = 0.15

Place = tuple[object, ...]


@dataclass(frozen=True)
class Estimate:
    """Seconds of runs, and how many of them were seen before."""

    known: dict[Place, float]

    def run(self, ladder: Ladder, rung: Rung) -> float:
        """Return the seconds of one run."""
        rough = ROUGH.get(ladder.solver, ROUGH.get(baselines.get(ladder.solver).family, OTHERS))
        return self.known.get(_place(ladder, rung), rough)

    def ladder(self, ladder: Ladder) -> float:
        """Return the seconds of a ladder."""
        return PROCESS + sum(self.run(ladder, rung) for rung in ladder.rungs)

    def total(self, ladders: Sequence[Ladder], jobs: int) -> float:
        """Return the seconds of all ladders."""
        return sum(map(self.ladder, ladders)) / max(1, min(jobs, len(ladders)))

    def seen(self, ladders: Sequence[Ladder]) -> float:
        """Return the share of runs that took place before."""
        places = [_place(ladder, rung) for ladder in ladders for rung in ladder.rungs]
        return sum(place in self.known for place in places) / max(1, len(places))


def from_records(records: Iterable[Record]) -> Estimate:
    """Return what earlier runs, of any version, took."""
    names = ("problem", "changes", "form", "solver", "rtol", "step")
    rows = [rec for rec in records if rec["kind"] == "run" and rec.get("spent") is not None]
    return Estimate({tuple(rec[name] for name in names): rec["spent"] for rec in rows})


def words(seconds: float) -> str:
    """Return a time as people say it."""
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60:02d} s"


def _place(ladder: Ladder, rung: Rung) -> Place:
    return (ladder.problem, ladder.changes, ladder.form, ladder.solver, rung.rtol, rung.step)
