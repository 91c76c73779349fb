"""What generated code is made of.

Kinds of values, values by name or literal, functions and what they take and return.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

FLOAT, WHOLE, TRUTH, FLOATS, WHOLES = "double", "i64", "i1", "floats", "wholes"
ARRAYS = {"mem", "floor", "work", "pivots", "par", "y", "v", "out"}
LLVM = {FLOAT: "double", WHOLE: "i64", TRUTH: "i1", FLOATS: "ptr", WHOLES: "ptr"}


@dataclass(frozen=True)
class Value:
    """A value in the code: its kind and its name or literal."""

    kind: str
    text: str


@dataclass(frozen=True)
class Function:
    """What callers need to know of a function that was translated before.

    Its name and the kinds it takes and returns.
    """

    name: str
    takes: tuple[str, ...]
    returns: tuple[str, ...]

    @property
    def result(self) -> str:
        """Return the type it returns."""
        kinds = [LLVM[kind] for kind in self.returns]
        return "void" if not kinds else kinds[0] if len(kinds) == 1 else "{ " + ", ".join(kinds) + " }"


@dataclass(frozen=True)
class External:
    """A function that numba compiled, by address: arrays and whole numbers in, one float out."""

    address: int
    takes: tuple[str, ...]


def literal(value: float) -> Value:
    """Return a number as it is written, a double by its bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Value(WHOLE, str(value))
    return Value(FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


def number(text: str) -> float:
    """Return the double of a literal."""
    return float(struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0])
