"""Two independent methods side by side.

Each goes its own way from the start through all end times, and finds its own switches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from testset.extended.methods import Vector, collocation, extrapolated, landed
from testset.extended.stiff import hermite, radau
from testset.extended.system import System

TOGETHER = 1e-9  # values of switches, of size one, that count as zero at the same time
DIGITS, MANY = (
    40,
    250,
)  # of numbers of any length; powers of stiff terms cancel in the formula with derivatives, and need many


@dataclass(frozen=True)
class Work:
    """How much the methods do: error allowed in a step and in an iteration, columns, stages.

    Parts into which the second cuts steps.
    """

    tolerance: float
    tight: float
    columns: int
    stages: int
    parts: int = 2


def nonstiff(system: System, ends: Sequence[Any], work: Work) -> Iterator[tuple[Vector, Vector]]:
    """Yield the unknowns at the end times by the extrapolated midpoint rule and by Gauss collocation."""
    t = other_t = system.t_end * 0
    y = z = system.start
    modes = None if system.switches is None else system.switches.values(t, y, None) > 0
    for end in ends:
        while t != end:
            rate, stop = system.rate_in(modes), _stop(system, modes)
            y, times = extrapolated(rate, t, end, y, work.tolerance, work.columns, stop)
            z = collocation(rate, [other_t, *times[1:]], z, work.parts, work.tight, work.stages)
            t = other_t = times[-1]
            if t != end:
                other_t, z = _own_switch(rate, stop, times, z, work)
                modes = modes ^ (abs(system.switches.values(t, y, modes)) < TOGETHER)
        extra = () if modes is None else (modes,)
        yield system.whole(end, y, *extra), system.whole(end, z, *extra)


def _stop(system: System, modes: Vector) -> Any:
    """Return what becomes negative at the next switch."""
    if system.switches is None:
        return None
    signs = np.where(modes, 1, -1)
    return lambda t, y: (signs * system.switches.values(t, y, modes)).min()


def _own_switch(rate: Any, stop: Any, times: Sequence[Any], z: Vector, work: Work) -> tuple[Any, Vector]:
    """Return when and where collocation finds the switch near the last of the times."""
    t, near = times[-1], (times[-1] - times[-2]) / 10**6

    def step(h: Any) -> Vector:
        return collocation(rate, [t, t + h], z, 1, work.tight, work.stages) if h else z

    h, z = landed(step, lambda h, z: stop(t + h, z), near, 0 * near)
    return t + h, z


def stiff(system: System, ends: Sequence[Any], work: Work) -> Iterator[tuple[Vector, Vector]]:
    """Yield the unknowns at the end times by the formula with derivatives at both ends of a step and.

    By Radau collocation.
    """
    t = system.t_end * 0
    y = z = system.start
    for end in ends:
        with mpmath.workdps(MANY):
            y, times = hermite(system.quadratic, t, end, y, work.tolerance, work.columns)
        z = radau(system.quadratic, times, z, work.parts, work.tight, work.stages)
        t = end
        yield system.whole(end, y), system.whole(end, z)
