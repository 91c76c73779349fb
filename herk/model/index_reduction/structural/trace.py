"""What the structure showed, told like any other analysis: steps that are written out when they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import sympy as sp

from herk.codegen.shapes import Catalogue, Formula, Written
from herk.model.index_reduction.findings import Step
from herk.model.index_reduction.structural.divisors import Divisors


@dataclass(frozen=True)
class Hidden:
    """One constraint: where it was found, in which row or as the derivative of which, rows inserted."""

    formula: Formula
    level: int
    row: int | None
    parent: int | None
    used: tuple[int, ...]
    beside: tuple[int, ...] = ()  # constraints whose derivatives were combined with it


class Trace(Sequence[Step]):
    """The constraints of a large model; a formula becomes an expression of sympy when it is asked for."""

    def __init__(
        self, catalogue: Catalogue, found: Sequence[Hidden], divisors: Iterable[Formula] = ()
    ) -> None:
        """Keep the formulas, and those that they were divided by."""
        self._catalogue, self._found = catalogue, found
        self.divisors = Divisors(catalogue, divisors)
        self._expressions: dict[int, sp.Expr] = {}

    def __len__(self) -> int:
        """Return the number of constraints."""
        return len(self._found)

    @property
    def levels(self) -> list[int]:
        """Return the level of every constraint."""
        return [each.level for each in self._found]

    @cached_property
    def written(self) -> Written:
        """Return all constraints as a column of expressions."""
        return Written(self._catalogue, [each.formula for each in self._found])

    def constraint(self, number: int) -> sp.Expr:
        """Return a constraint as an expression."""
        if number not in self._expressions:
            self._expressions[number] = self._catalogue.written(self._found[number].formula)
        return self._expressions[number]

    @overload
    def __getitem__(self, at: int) -> Step: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, at: Any) -> Any:
        """Return one step, or several."""
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        number = range(len(self))[at]
        each = self._found[number]
        own = f"row {each.row}" if each.parent is None else f"d/dt g[{each.parent}]"
        before = None if each.parent is None else self.constraint(each.parent)
        labels = (*(f"row {i}" for i in each.used), *(f"d/dt g[{i}]" for i in each.beside))
        return Step(each.level, own, (), self.constraint(number), before, labels)

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps."""
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Tell whether the steps are the same."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Return a number that is the same for equal traces of the same length."""
        return hash(len(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as what it stands for."""
        return tuple, (tuple(self),)
