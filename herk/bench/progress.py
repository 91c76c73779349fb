"""Progress of a bench: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

from herk.bench.estimate import Estimate, words
from herk.bench.record import Record
from herk.bench.sweeps import Sweep

BAR = "{desc} {percentage:3.0f}%|{bar}| {elapsed} gone, {remaining} left {postfix}"
SELDOM = 2.0  # seconds between plain lines


class Progress:
    """Told of records as they are made; work is weighed by its expected time."""

    def __init__(self, name: str, sweeps: Sequence[Sweep], estimate: Estimate, stream: Any = None) -> None:
        """Prepare; nothing is shown yet."""
        self.name, self.stream = name, stream or sys.stderr
        self.left = {_name(sweep): len(sweep.settings) for sweep in sweeps}
        self.weights = {_name(sweep): estimate.sweep(sweep) / len(sweep.settings) for sweep in sweeps}
        self.whole = sum(self.weights[key] * count for key, count in self.left.items())
        self.total, self.done, self.weight = len(sweeps), 0, 0.0
        self.counts: Counter[str] = Counter()
        self.start = self.last = time.monotonic()
        self.bar: tqdm[Any] | None = None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self.stream.isatty():
            self.bar = tqdm(total=self.whole, desc=self.name, bar_format=BAR, file=self.stream, leave=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()

    def advance(self, sweep: Sweep, records: Iterable[Record]) -> None:
        """Count the runs among the records; a run that speaks for every setting ends its sweep."""
        runs = [rec for rec in records if rec["kind"] == "run"]
        self.counts.update(rec["status"] for rec in runs)
        name = _name(sweep)
        whole = any(rec["rtol"] is None and rec["step"] is None for rec in runs)
        gone = self.left[name] if whole else min(len(runs), self.left[name])
        self.left[name] -= gone
        self.done += gone > 0 and not self.left[name]
        self.weight += gone * self.weights[name]
        self._show(sweep, gone * self.weights[name], ended=not self.left[name])

    def _show(self, sweep: Sweep, weight: float, *, ended: bool) -> None:
        if self.bar is not None:
            self.bar.set_postfix_str(f"{sweep.problem}: {sweep.solver} on {sweep.form}", refresh=False)
            self.bar.update(weight)
        elif ended and (time.monotonic() - self.last > SELDOM or self.done == self.total):
            self.last = time.monotonic()
            gone = self.last - self.start
            left = gone / self.weight * (self.whole - self.weight) if self.weight else self.whole
            counted = ", ".join(f"{count} {status}" for status, count in sorted(self.counts.items()))
            place = f"{self.name} {self.done}/{self.total}: {sweep.problem}, {sweep.solver} on {sweep.form}"
            print(
                f"{place} ({counted}; {words(gone)} gone, about {words(left)} left)",
                file=self.stream,
                flush=True,
            )


def _name(sweep: Sweep) -> tuple[str, ...]:
    return (sweep.problem, sweep.changes, sweep.form, sweep.solver)
