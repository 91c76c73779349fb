"""Methods by name: a tableau for half-explicit steps, Radau, or the better of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herk.core import nearest
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import METHODS
from herk.integrate.steppers.radau.layout import RadauMethod

Method = Tableau | RadauMethod


@dataclass(frozen=True)
class Auto:
    """An explicit method to begin with, and an implicit one to go over to where that pays."""

    explicit: Tableau
    implicit: RadauMethod
    name: str = "auto"


@dataclass(frozen=True)
class Plan:
    """What a run may be changed for on the way, and what is known of that; see `auto`."""

    partner: Method
    patience: int = 15  # steps in a row that stability seems to limit before a change is considered
    persist: int = 1  # looks in a row at which the explicit method must seem better before a change back
    trial: bool = False  # the partner was left just now, and is gone back to if it was better
    pace: float = 0.0  # of the partner: time per operation,
    cost: float = 0.0  # and operations per step
    work: Any = None  # what evaluations cost, once that was found out
    why: str = "an explicit method to begin with"  # the method in use began


IMPLICIT = {
    "radau": RadauMethod("radau", 3, 7),
    "radau5": RadauMethod(),
    "radau9": RadauMethod("radau9", 5, 5),
    "radau13": RadauMethod("radau13", 7, 7),
}
AUTO = {"auto": Auto(METHODS["dop853"], IMPLICIT["radau5"])}


def method_of(given: Any) -> Method | Auto:
    """Return the method of this name, or the method itself if one is given."""
    if isinstance(given, (Tableau, RadauMethod, Auto)):
        return given
    known: tuple[Mapping[str, Method | Auto], ...] = (METHODS, IMPLICIT, AUTO)
    for methods in known if isinstance(given, str) else ():
        if given in methods:
            return methods[given]
    raise nearest(given, [name for methods in known for name in methods], "method")
