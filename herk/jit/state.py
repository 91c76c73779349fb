"""State with names: numbers and arrays in one piece of memory, for Python and machine code alike.

A state is a class with annotations: `float` and `int` are numbers, `Floats` and `Wholes` arrays. Machine code
gets its address and reads `state.h` at a fixed place; an array is an address and a length there.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Sequence
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

FLOAT, WHOLE, FLOATS, WHOLES = "float", "int", "Floats", "Wholes"
_plain: WeakValueDictionary[int, Any] = WeakValueDictionary()


class State:
    """The memory of a run; a subclass names what is in it."""

    fields: ClassVar[dict[str, tuple[str, int]]] = {}  # kind, and place in words of eight bytes
    header: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        """Give every name its place."""
        place, found = 0, {}
        for name, kind in cls.__annotations__.items():
            found[name] = (kind, place)
            place += 2 if kind in (FLOATS, WHOLES) else 1
            if kind in (FLOAT, WHOLE):
                setattr(cls, name, _number(kind, found[name][1]))
        cls.fields, cls.header = found, place

    def __init__(self, **sizes: int) -> None:
        """Make room for arrays of these lengths; those not named are empty until they are bound."""
        self.words: Floats = np.zeros(self.header + sum(sizes.values()))
        self.wholes: Wholes = self.words.view(np.int64)
        self.address = address_of(self.words)
        self.places: dict[str, int] = {}
        self.lent: dict[str, Any] = {}
        place = self.header
        for name, size in sizes.items():
            self.places[name] = place
            self._point(name, place, size)
            place += size

    def _point(self, name: str, place: int, size: int) -> None:
        kind, at = self.fields[name]
        source: Any = self.words if kind == FLOATS else self.wholes
        setattr(self, name, source[place : place + size])
        self.wholes[at : at + 2] = self.address + 8 * place, size

    def bind(self, name: str, array: Any) -> None:
        """Let an array of the state be one that lives elsewhere; it is kept alive."""
        _, at = self.fields[name]
        self.lent[name] = array
        setattr(self, name, array)
        self.wholes[at : at + 2] = address_of(array), array.size

    def numbers(self, names: Sequence[str]) -> dict[str, int]:
        """Return whole numbers that stand side by side, by name."""
        first = self.fields[names[0]][1]
        return dict(zip(names, self.wholes[first : first + len(names)].tolist()))  # noqa: B905 - as many

    def copy(self) -> Self:
        """Return the same in other memory; arrays that live elsewhere are shared."""
        made = object.__new__(type(self))
        made.words = self.words.copy()
        made.wholes = made.words.view(np.int64)
        made.address, made.places, made.lent = address_of(made.words), self.places, dict(self.lent)
        for name, place in self.places.items():
            made._point(name, place, getattr(self, name).size)
        for name, array in self.lent.items():
            setattr(made, name, array)
        return made

    def elsewhere(self) -> Floats:
        """Return the words in other memory, for compiled code alone; arrays of others are shared."""
        words = self.words.copy()
        if self.places:
            at = [self.fields[name][1] for name in self.places if name not in self.lent]
            words.view(np.int64)[at] += address_of(words) - self.address
        return words

    def enlarged(self, name: str, size: int) -> Self:
        """Return the same in other memory, with a longer last array."""
        lengths = {each: getattr(self, each).size for each in self.places}
        assert name == list(lengths)[-1]
        made = type(self)(**(lengths | {name: size}))
        header = {each: place for each, (kind, place) in self.fields.items() if kind in (FLOAT, WHOLE)}
        for place in header.values():
            made.wholes[place] = self.wholes[place]
        for each in self.places:
            getattr(made, each)[: lengths[each]] = getattr(self, each)
        for each, array in self.lent.items():
            made.bind(each, array)
        return made

    @classmethod
    def at(cls, number: int) -> Any:
        """Return the state at an address, in interpreted code: one that was made `plain`."""
        return _plain[number] if isinstance(number, int) else number

    @classmethod
    def constants(cls, sizes: dict[str, int]) -> dict[str, int]:
        """Return where every name and every array of a state made with these sizes stands, in words."""
        found = {name: place for name, (kind, place) in cls.fields.items() if kind in (FLOAT, WHOLE)}
        place = cls.header
        for name, size in sizes.items():
            found[name] = place
            place += size
        return found

    def plain(self, convert: Any) -> Any:
        """Return names and values for interpreted code, in other numbers; `at` finds them by `address`."""
        values = {}
        for name, (kind, _) in self.fields.items():
            value = getattr(self, name, None)
            values[name] = convert(value) if kind in (FLOAT, FLOATS) and value is not None else value
        made = _Plain(**values)
        made.address = id(made)
        _plain[made.address] = made
        return made


class _Plain(types.SimpleNamespace):
    """A state in ordinary Python objects."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Return a hash by identity."""
        return id(self)


def _number(kind: str, place: int) -> property:
    if kind == FLOAT:
        return property(
            lambda self: self.words.item(place), lambda self, value: self.words.__setitem__(place, value)
        )
    return property(
        lambda self: self.wholes.item(place), lambda self, value: self.wholes.__setitem__(place, value)
    )


def address_of(array: Any) -> int:
    """Return where the numbers of an array stand."""
    try:  # six times quicker than what numpy itself offers
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # read only, not contiguous, or empty
        return int(array.__array_interface__["data"][0])


def view(array: Any, start: int, size: int) -> Any:
    """Return array[start : start + size]; in machine code without any cost."""
    return array[start : start + size]
