"""Functions by address: how machine code calls what it was not compiled with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from herk.jit.values import KINDS


@dataclass(frozen=True)
class ByAddress:
    """A kind of function: what it takes and returns.

    Called with a number in interpreted code it finds the Python function that stands for that address.
    """

    returns: str | None
    takes: tuple[str, ...]

    def __call__(self, number: int) -> Callable[..., Any]:
        """Return the Python function for an address, see `stand_in`."""
        return _stand_ins[number]


_stand_ins: dict[int, Callable[..., Any]] = {}


def stand_in(function: Callable[..., Any]) -> int:
    """Return a number under which interpreted code finds a Python function; it is kept for good."""
    _stand_ins[id(function)] = function
    return id(function)


def by_address(signature: str) -> ByAddress:
    """Return the kind of function with a signature such as "int(int, float, Floats)"."""
    result, _, rest = signature.partition("(")
    takes = tuple(KINDS[word.strip()] for word in rest.rstrip(")").split(","))
    return ByAddress(KINDS[result] if result != "None" else None, takes)
