"""Text of functions that run over all formulas of a shape, and the tables of places they read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from herk.codegen.code import lines
from herk.codegen.shapes import CLOCK, NUMBER, PARAMETER, STATE, Catalogue, Formula, Shape
from herk.codegen.values import by_shape
from herk.jit.state import address_of

if TYPE_CHECKING:
    from herk.jit.native import Native

_SOURCES = {STATE: "y", PARAMETER: "par", NUMBER: "numbers"}


class Loops:
    """Functions under way; `built` compiles them all."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Begin; the numbers of the formulas are kept in one table."""
        self._catalogue = catalogue
        self._numbers = np.array([float(number) for number in catalogue.numbers] or [0.0])
        self._tables: list[Any] = [self._numbers]
        self._texts: list[str] = []
        self._names: list[str] = []

    def values(self, name: str, formulas: Sequence[Formula], among: Container[int] | None = None) -> None:
        """Write a function that puts the value of every formula, or of those `among` these, at its place."""
        loops = [
            self._loop(f"{name}_{k}", shape, [formulas[i] for i in own], [[i] for i in own], [shape.expr])
            for k, (shape, own) in enumerate(_groups(formulas, among))
        ]
        self._function(name, loops, None)

    def time_derivatives(self, name: str, formulas: Sequence[Formula]) -> None:
        """Write a function that puts the partial derivative with respect to time at the place of each."""
        loops = []
        for k, (shape, own) in enumerate(by_shape(formulas).items()):
            slope = sp.diff(shape.expr, CLOCK)
            if slope != 0:
                loops.append(
                    self._loop(f"{name}_{k}", shape, [formulas[i] for i in own], [[i] for i in own], [slope])
                )
        self._function(name, loops, len(formulas))

    def slopes(
        self,
        name: str,
        formulas: Sequence[Formula],
        where: Callable[[int, int], int],
        factors: Sequence[int] | None = None,
        among: Container[int] | None = None,
    ) -> None:
        """Write a function of the derivatives with respect to states, of formulas `among` these if given.

        Each stands at `where(formula, state)`. With `factors` they are multiplied by v at these places, and
        those that meet at one place are added.
        """
        loops, last = [], -1
        for k, (shape, own) in enumerate(_groups(formulas, among)):
            slopes = self._catalogue.slopes(shape)
            if not slopes:
                continue
            places = [[where(i, formulas[i].at[slot]) for slot in slopes] for i in own]
            last = max(last, *(max(each) for each in places))
            exprs = [_in_slots(shape, *made) for made in slopes.values()]
            more = None if factors is None else [factors[i] for i in own]
            loops.append(self._loop(f"{name}_{k}", shape, [formulas[i] for i in own], places, exprs, more))
        self._function(name, loops, None if factors is None else last + 1, rates=factors is not None)

    def slopes_in(
        self,
        name: str,
        formulas: Sequence[Formula],
        where: Callable[[int, int], int],
        among: Container[int],
        states: Container[int],
    ) -> None:
        """Write a function of the derivatives of some formulas with respect to some states alone."""
        alike: dict[tuple[Shape, tuple[int, ...]], list[int]] = {}
        for shape, own in _groups(formulas, among):
            for i in own:
                slots = tuple(
                    slot for slot in self._catalogue.slopes(shape) if formulas[i].at[slot] in states
                )
                alike.setdefault((shape, slots), []).append(i)
        loops = []
        for k, ((shape, slots), own) in enumerate(alike.items()):
            if slots:
                places = [[where(i, formulas[i].at[slot]) for slot in slots] for i in own]
                exprs = [_in_slots(shape, *self._catalogue.slopes(shape)[slot]) for slot in slots]
                loops.append(self._loop(f"{name}_{k}", shape, [formulas[i] for i in own], places, exprs))
        self._function(name, loops, None)

    def _loop(
        self,
        name: str,
        shape: Shape,
        formulas: Sequence[Formula],
        places: Sequence[Sequence[int]],
        exprs: Sequence[sp.Expr],
        factors: Sequence[int] | None = None,
    ) -> str:
        """Write the loop over formulas of one shape; return its name."""
        more = [[]] * len(formulas) if factors is None else [[j] for j in factors]
        rows = zip(formulas, places, more, strict=True)
        table = np.array([[*f.at, *out, *extra] for f, out, extra in rows], dtype=np.int64)
        self._tables.append(table)
        slots, width = len(shape.kinds), table.shape[1]
        used = set().union(*(e.free_symbols for e in exprs))
        names: dict[sp.Symbol, str] = {CLOCK: "t"} | {s: s.name for s in shape.slots}
        body = [
            f"{slot} = {_SOURCES[kind]}[ints[{width}*k + {i}]]"
            for i, (slot, kind) in enumerate(zip(shape.slots, shape.kinds, strict=True))
            if slot in used
        ]
        if factors is None:
            targets = [f"out[ints[{width}*k + {slots + i}]]" for i in range(len(exprs))]
            body += lines(list(zip(targets, exprs, strict=True)), names, "x")
        else:
            body.append(f"rate = v[ints[{width}*k + {width - 1}]]")
            body += lines([(f"d{i}", e) for i, e in enumerate(exprs)], names, "x")
            body += [
                f"out[ints[{width}*k + {slots + i}]] = out[ints[{width}*k + {slots + i}]] + d{i}*rate"
                for i in range(len(exprs))
            ]
        head = "t, y, v, par, out" if factors is not None else "t, y, par, out"
        text = "".join(f"        {line}\n" for line in body)
        self._texts.append(
            f"def {name}({head}):\n"
            f"    ints = wholes_at({address_of(table)})\n"
            f"    numbers = floats_at({address_of(self._numbers)})\n"
            f"    for k in range({len(formulas)}):\n{text}    return\n"
        )
        return name

    def _function(self, name: str, loops: Sequence[str], zeros: int | None, *, rates: bool = False) -> None:
        """Write the function that runs the loops, after zeros where not everything is written."""
        head = "t, y, v, par, out" if rates else "t, y, par, out"
        body = [] if not zeros else [f"for i in range({zeros}):", "    out[i] = 0.0"]
        body += [f"{loop}({head})" for loop in loops]
        text = "".join(f"    {line}\n" for line in [*body, "return"])
        self._texts.append(f"def {name}({head}):\n{text}")
        self._names.append(name)

    def both(self, name: str, parts: Sequence[str]) -> None:
        """Write a function that calls others, one after the other."""
        self._function(name, parts, None)

    def built(self) -> Mapping[str, Native]:
        """Return everything written so far in machine code; the tables live as long as it does."""
        from herk.codegen.generated import build_text

        found = build_text("\n".join(self._texts), self._names)
        for native in found.values():
            native.tables = tuple(self._tables)  # type: ignore[attr-defined]
        return found


def _groups(formulas: Sequence[Formula], among: Container[int] | None) -> Iterator[tuple[Shape, list[int]]]:
    """Yield which formulas have which shape, of those `among` these if given."""
    for shape, own in by_shape(formulas).items():
        chosen = own if among is None else [i for i in own if i in among]
        if chosen:
            yield shape, chosen


def _in_slots(own: Shape, shape: Shape, chosen: tuple[int, ...]) -> sp.Expr:
    """Return a derivative in the slots of the formula it came from."""
    return shape.expr.xreplace(dict(zip(shape.slots, [own.slots[i] for i in chosen], strict=True)))
