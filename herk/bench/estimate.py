"""How long a bench will take: from what earlier runs took, else from a rough table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import baselines
from herk.bench.record import Record
from herk.bench.sweeps import Setting, Sweep

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

    def run(self, sweep: Sweep, setting: Setting) -> float:
        """Return the seconds of one run."""
        rough = ROUGH.get(sweep.solver, ROUGH.get(baselines.get(sweep.solver).family, OTHERS))
        return self.known.get(_place(sweep, setting), rough)

    def sweep(self, sweep: Sweep) -> float:
        """Return the seconds of a sweep."""
        return PROCESS + sum(self.run(sweep, setting) for setting in sweep.settings)

    def total(self, sweeps: Sequence[Sweep], jobs: int) -> float:
        """Return the seconds of all sweeps."""
        return sum(map(self.sweep, sweeps)) / max(1, min(jobs, len(sweeps)))

    def seen(self, sweeps: Sequence[Sweep]) -> float:
        """Return the share of runs that took place before."""
        places = [_place(sweep, setting) for sweep in sweeps for setting in sweep.settings]
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


def _place(sweep: Sweep, setting: Setting) -> Place:
    return (sweep.problem, sweep.changes, sweep.form, sweep.solver, setting.rtol, setting.step)
