"""Jumps of unknowns whose derivatives occur: those are impulses, which act on no other equation of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herk.core import HerkError
from herk.model.evaluate import matrix

if TYPE_CHECKING:
    from herk.integrate.journey import Journey

CLEAR = 1e3  # tolerances: what is less may be a correction onto the constraints
MOST_UNKNOWNS = 2000  # E is looked at as a full matrix
SHOWN = 3  # times


def impulses(journey: Journey) -> list[str]:
    """Return a note on every unknown that constraints make jump although its derivative occurs in E y'.

    Between segments it follows from the constraints. What its derivative, an impulse, would do elsewhere is
    not defined by the values on both sides alone: x' = q' leaves x where it was when q jumps.
    """
    asked, n, found = journey.asked, journey.asked.dae.n, dict[int, list[float]]()
    if n > MOST_UNKNOWNS:
        return []
    for k, (one, other) in enumerate(zip(journey.runs, journey.runs[1:], strict=False), start=1):
        if k in journey.resets:
            continue
        t, before = one.output.last
        jump = np.abs(other.y0[:n] - before[:n])
        size = np.maximum(np.abs(other.y0[:n]), np.abs(before[:n]))
        jumped = jump > CLEAR * (asked.atol[:n] + asked.rtol * size)
        if jumped.any():
            try:
                jumped &= matrix(asked.dae, float(t), np.array(before[:n])).any(axis=0)
            except HerkError:
                continue
            for j in np.flatnonzero(jumped):
                found.setdefault(int(j), []).append(float(t))
    return [_note(asked.dae.names[j], times) for j, times in sorted(found.items())]


def _note(name: str, times: list[float]) -> str:
    shown = ", ".join(f"{time:.12g}" for time in times[:SHOWN])
    more = f" and at {len(times) - SHOWN} later times" if len(times) > SHOWN else ""
    return (
        f"{name} jumps at t = {shown}{more}, as the constraints demand. Its derivative is an impulse there"
        " that does not act on other equations; if it should, give what jumps to them without the"
        " derivative, or describe the jump as an event with a reset."
    )
