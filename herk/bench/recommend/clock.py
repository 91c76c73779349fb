"""The budget of an inquiry: time on the clock for everything, processor time for solving."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

# Of the budget, in processor time; deriving and compiling take longer, and others use the machine.
SOLVING = 0.25
PATIENCE = 0.4  # of the time that is left, for one candidate with all that it compiles


@dataclass
class Clock:
    """The budget: seconds on the clock, of which a part, counted in processor time, is for solving."""

    budget: float
    solving: float = 0.0
    start: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Return the seconds of solving that are left."""
        return min(SOLVING * self.budget - self.solving, self.deadline - time.monotonic())

    @property
    def gone(self) -> float:
        """Return the part of the budget that is gone, in solving or on the clock."""
        return max(self.solving / (SOLVING * self.budget), (time.monotonic() - self.start) / self.budget)

    @property
    def deadline(self) -> float:
        """Return the moment at which everything ends."""
        return self.start + self.budget

    @property
    def patience(self) -> float:
        """Return when a candidate that begins now has to end: others need time, too."""
        now = time.monotonic()
        return now + PATIENCE * max(0.0, self.deadline - now)

    def part(self, share: float) -> float:
        """Return a share of the time for solving, in seconds that read well in messages."""
        return float(f"{share * SOLVING * self.budget:.3g}")
