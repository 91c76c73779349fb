"""What generated code is made of.

Kinds of values, values by name or literal, functions and what they take and return.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FLOAT, WHOLE, TRUTH, FLOATS, WHOLES, STATE = "double", "i64", "i1", "floats", "wholes", "state"
ARRAYS = {"mem", "floor", "work", "pivots", "par", "y", "v", "out"}
LLVM = {FLOAT: "double", WHOLE: "i64", TRUTH: "i1", FLOATS: "ptr", WHOLES: "ptr", STATE: "ptr"}
KINDS = {"float": FLOAT, "int": WHOLE, "bool": TRUTH, "Floats": FLOATS, "Wholes": WHOLES}  # by annotation
ENTRY = {FLOATS: FLOAT, WHOLES: WHOLE}


@dataclass(frozen=True)
class Value:
    """A value in the code: kind, name or literal; how long an array is, what a state is made of."""

    kind: str
    text: str
    size: str = "0"
    layout: Any = None


@dataclass(frozen=True)
class Function:
    """What callers need to know of a function that was translated before.

    Its name and the kinds it takes and returns.
    """

    name: str
    takes: tuple[str, ...]
    returns: tuple[str, ...]
    behind: bool = False  # several results are written behind pointers: what is inlined is then taken apart

    @property
    def result(self) -> str:
        """Return the type it returns."""
        kinds = [] if self.behind else [LLVM[kind] for kind in self.returns]
        return "void" if not kinds else kinds[0] if len(kinds) == 1 else "{ " + ", ".join(kinds) + " }"


def arguments(values: Sequence[Value]) -> str:
    """Return how values are passed: an array as its address and its length."""
    parts = []
    for value in values:
        parts.append(f"{LLVM[value.kind]} {value.text}")
        if value.kind in ENTRY:
            parts.append(f"i64 {value.size}")
    return ", ".join(parts)


def literal(value: float) -> Value:
    """Return a number as it is written, a double by its bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Value(WHOLE, str(value))
    return Value(FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


def number(text: str) -> float:
    """Return the double of a literal."""
    return float(struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0])
