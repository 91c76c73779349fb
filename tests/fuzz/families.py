"""The families by name."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz import (
    attacks,
    bells,
    callables,
    circuits,
    driven,
    known,
    limits,
    linear,
    mechanisms,
    piecewise,
    pivots,
    singular,
    sparse,
    switching,
    windows,
)
from tests.fuzz.member import Member

FAMILIES: dict[str, Callable[[int], Member]] = {
    "linear": linear.make,
    "driven": driven.make,
    "mechanisms": mechanisms.make,
    "circuits": circuits.make,
    "limits": limits.make,
    "piecewise": piecewise.make,
    "singular": singular.make,
    "pivots": pivots.make,
    "switching": switching.make,
    "bells": bells.make,
    "windows": windows.make,
    "testset": known.make,
    "attacks": attacks.make,
    "sparse": sparse.make,
    "callables": callables.make,
}
