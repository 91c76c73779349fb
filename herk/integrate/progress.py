"""How far a long run is, written on one line of the terminal while it goes on."""

from __future__ import annotations

import sys
import time
from typing import TextIO

OFTEN = 0.2  # seconds between two lines
SILENT = 0.5  # seconds of a run that is over before one would read


class Progress:
    """A line that says where a run stands, and about how long it still takes."""

    def __init__(self, t0: float, t1: float, out: TextIO | None = None) -> None:
        """Begin to count."""
        self.t0, self.t1, self.out = t0, t1, sys.stderr if out is None else out
        self.begun = time.perf_counter()
        self.shown = self.begun + SILENT - OFTEN
        self.width = 0

    def show(self, t: float) -> None:
        """Write the line anew, if the last one is old enough."""
        now = time.perf_counter()
        if now - self.shown >= OFTEN:
            self.shown = now
            self._write(line(self.t0, self.t1, t, now - self.begun))

    def close(self) -> None:
        """Clear the line."""
        if self.width:
            self._write("")
            self.out.write("\r")
            self.out.flush()

    def _write(self, text: str) -> None:
        self.out.write("\r" + text.ljust(self.width))
        self.out.flush()
        self.width = len(text)


def line(t0: float, t1: float, t: float, seconds: float) -> str:
    """Return what is said after so many seconds."""
    share = (t - t0) / (t1 - t0)
    left = f", about {seconds * (1.0 - share) / share:.0f} s left" if share > 0.0 else ""
    return f"t = {t:.4g} of {t1:.4g} ({100.0 * share:.0f} %), {seconds:.0f} s{left}"
