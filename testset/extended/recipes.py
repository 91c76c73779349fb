"""What is recomputed and how.

A system, a pair of methods and their work for each problem, and the digits that are to be confirmed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import testset
from testset.extended.methods import Vector
from testset.extended.pairs import Work, nonstiff, stiff
from testset.extended.special import chain, reaction, sphere, unit_circle, wind_pendulum
from testset.extended.system import System
from testset.extended.underlying import Long, Underlying
from testset.extended.water import tubes

Pair = Callable[[System, Sequence[Any], Work], Iterator[tuple[Vector, Vector]]]
# Errors of a step must stay above rounding; those of the last column are far below its difference to the one
# before.
LONG = Work(tolerance=1e-14, tight=1e-18, columns=10, stages=8)
FINE, FINEST = replace(LONG, tolerance=1e-15), replace(LONG, tolerance=1e-16)
MANY = Work(tolerance=1e-30, tight=1e-36, columns=16, stages=12)
STIFF = Work(tolerance=1e-23, tight=1e-28, columns=10, stages=9)


@dataclass(frozen=True)
class Recipe:
    """How a reference is recomputed.

    `digits` are to be confirmed, `seconds` are about what it takes on a quiet machine.
    """

    system: Callable[[], System]
    seconds: int
    work: Work = LONG
    pair: Pair = nonstiff
    digits: float = 14.0
    relative: bool = False  # every unknown by its own size, not by that of the largest in its group
    until: float = math.inf  # later end times are stored but take too long to recompute


def under(name: str) -> System:
    """Return the ODE under the model of a problem."""
    problem = testset.get(name)
    found = Underlying(problem)
    return System(found.rate, found.start(), Long(repr(problem.t_span[1])), found.whole, {}, problem.source)


# Fewer digits than 14: the start of Andrews' mechanism is rounded to doubles and errors grow a thousandfold;
# accelerations of the chain come from a linear system at every evaluation. On the amplifier and the sphere
# the methods agree with each other as well as with what is stored, so that their own work is the limit: more
# of it would take minutes.
RECIPES = {
    "akzo": Recipe(partial(under, "akzo"), 10, FINEST),
    "andrews": Recipe(partial(under, "andrews"), 60, FINE, digits=12.0),
    "car_axis": Recipe(partial(under, "car_axis"), 20, FINE),
    "fekete": Recipe(sphere, 25, replace(LONG, parts=4), digits=12.0),
    "four_bar": Recipe(partial(under, "four_bar"), 20, FINEST, digits=13.0),
    "hanging_chain": Recipe(chain, 15, digits=13.0),
    "n_pendulum": Recipe(partial(under, "n_pendulum"), 30, FINE, digits=13.0),
    "pendulum_3d": Recipe(partial(under, "pendulum_3d"), 5, replace(LONG, tolerance=1e-17)),
    "rectifier": Recipe(partial(under, "rectifier"), 40, FINEST, digits=13.0),
    "robertson": Recipe(reaction, 60, STIFF, stiff, 18.0, relative=True, until=4e3),
    "transistor_amplifier": Recipe(partial(under, "transistor_amplifier"), 40, FINEST, digits=13.0),
    "unit_circle": Recipe(unit_circle, 2, MANY, digits=24.0),
    "water_tube": Recipe(tubes, 15),
    "wind_pendulum": Recipe(wind_pendulum, 30, MANY, digits=24.0),
}
