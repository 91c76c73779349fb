"""Methods by name: a tableau for half-explicit steps, Radau, or the better of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from herk.core import nearest
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.integrate.steppers.half_explicit.tableaus import METHODS
from herk.integrate.steppers.radau.layout import RadauMethod
from herk.integrate.steps import INFINITE

Method = Tableau | RadauMethod


PATIENT, PERSISTENT = 15, 1  # what a plan begins with


class Plan(NamedTuple):
    """What a run may be changed for on the way, and what is known of that; see `auto`."""

    partner: Method
    patience: int = PATIENT  # steps in a row that stability seems to limit before a change is considered
    persist: int = PERSISTENT  # by how much longer the explicit method must seem better to be taken again
    trial: bool = False  # the partner was left just now, and is gone back to if it was better
    pace: float = 0.0  # of the partner: time per operation,
    cost: float = 0.0  # and operations per step
    accurate: float = 0.0  # length of explicit steps if it did not seem to be limited by stability,
    longer: float = INFINITE  # and beside implicit ones in the same place, where both were made
    costs: Any = None  # what is known of the work of steps, once that was found out
    why: str = "an explicit method to begin with"  # the method in use began


@dataclass(frozen=True)
class Auto:
    """An explicit method to begin with, and an implicit one to go over to where that pays."""

    explicit: Tableau
    implicit: RadauMethod
    name: str = "auto"

    @cached_property
    def plan(self) -> Plan:
        """Return what a run begins with."""
        return Plan(self.implicit)


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
