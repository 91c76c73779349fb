"""Pieces of text that the functions of a stage are written with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from herk.codegen.code import literal
from herk.codegen.equations import Equations


@dataclass
class Writer:
    """What is known while the text grows: the pivots to be reported and the scratch memory needed so far."""

    equations: Equations
    names: Mapping[sp.Symbol, str]
    algebraic: tuple[int, ...]
    guessed: tuple[int, ...]
    scalar: bool
    pivots: list[str] = field(default_factory=list)
    work: int = 1

    def need(self, floats: int) -> None:
        """Reserve at least so much scratch memory."""
        self.work = max(self.work, floats)

    def used(self, expressions: Iterable[sp.Expr], without: Iterable[int] = ()) -> list[str]:
        """Return the statements that bring the parameters.

        And components these expressions contain into local variables.
        """
        present = set().union(*(e.free_symbols for e in expressions))
        values = [f"par_{k} = par[{k}]" for k, s in enumerate(self.equations.parameters) if s in present]
        if self.scalar:
            return values
        return values + [
            f"y{j} = y[{j}]" for j, s in enumerate(self.equations.states) if s in present and j not in without
        ]

    def moves(self, expression: sp.Expr) -> bool:
        """Tell whether an expression may change along a run."""
        return bool(self.moving(expression))

    def moving(self, expression: sp.Expr) -> set[sp.Basic]:
        """Return what may change along a run in an expression."""
        return set(expression.free_symbols) - set(self.equations.parameters)

    def function(self, name: str, tail: str, body: Iterable[str]) -> list[str]:
        """Return a function of t and y with these further arguments."""
        state = ", ".join(f"y{j}" for j in range(self.equations.n)) if self.scalar else "y"
        return [f"def {name}(t, {state}, {tail}):", *(f"    {line}" for line in body)]


def tupled(items: Sequence[str]) -> str:
    """Return the text of a tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def indented(statements: Iterable[str]) -> list[str]:
    """Return the statements one level deeper."""
    return [f"    {line}" for line in statements]


def over_number(top: sp.Expr, number: sp.Expr) -> sp.Expr:
    """Return top/number with the number in the coefficients."""
    return top / number if abs(number) == 1 else sp.expand_mul(top / number)


def divided(top: str, number: sp.Expr) -> str:
    """Return the text of a division by a number, as a product where the reciprocal is exact."""
    value = float(literal(number))
    if abs(value) == 1.0:
        return top if value > 0.0 else f"-{top}"
    return f"{top}*{1.0 / value!r}" if abs(math.frexp(value)[0]) == 0.5 else f"{top}/{value!r}"
