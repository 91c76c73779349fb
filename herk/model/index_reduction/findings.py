"""What regularisation works with and reports.

Rows of E y' = f, how constraints were found, why a model has no solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from herk.codegen.gradient import gradient
from herk.codegen.numbers import is_residue, readable
from herk.core import HerkError


class RegularizationError(HerkError):
    """The model has no unique solution, or its index is beyond the limit.

    The message names equations and unknowns.

    Examples
    --------
    >>> import herk
    >>> nothing_for_z = herk.Model("free", ["x", "z"], [[1, 0], [0, 0]], ["z", 0], t_span=(0, 1), y0=[0, 0])
    >>> try:
    ...     herk.regularize(nothing_for_z)
    ... except herk.RegularizationError:
    ...     print("refused")
    refused

    """


@dataclass(frozen=True)
class Row:
    """One equation sum_j entries[j] y_j' = rhs.

    `origin` is the constraint whose derivative it is, None for a row as written.
    """

    label: str
    entries: dict[int, sp.Expr]
    rhs: sp.Expr
    origin: sp.Expr | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Return how simple the row is: constant rows first, then by the number of operations."""
        constant = all(entry.is_number for entry in self.entries.values())
        return (0, 0) if constant else (1, sum(sp.count_ops(entry) for entry in self.entries.values()))


@dataclass(frozen=True)
class Step:
    """One constraint found: `row` minus factor times each row of `combined` is free of derivatives.

    And reads 0 = constraint. `inserted` are rows that were used without factors being kept.
    """

    level: int
    row: str
    combined: tuple[tuple[str, sp.Expr], ...]
    constraint: sp.Expr
    differentiated: sp.Expr | None
    inserted: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the rows that were used beside its own."""
        return tuple(label for label, _ in self.combined) or self.inserted

    def text(self) -> str:
        """Say in a line what was done."""
        listed = ", ".join(self.sources)
        if self.differentiated is not None:
            start = f"d/dt of 0 = {readable(self.differentiated)}"
            parts = f", with {listed} inserted," if listed else ","
        elif self.inserted:
            start, parts = self.row, f" combined with {listed}"
        else:
            start = self.row
            parts = "".join(f" minus ({readable(factor)}) * {label}" for label, factor in self.combined)
        return f"{start}{parts} reads 0 = {readable(self.constraint)}"


def row_as_written(entries: Mapping[int, sp.Expr], rhs: sp.Expr, i: int) -> Row:
    """Return row i of E y' = f."""
    return Row(f"row {i}", dict(entries), rhs)


def residues(row: Row) -> list[int]:
    """Return the places of numbers in a row that are what rounding leaves of zero."""
    if not any(entry.is_number for entry in row.entries.values()):
        return []
    terms = [*row.entries.values(), *sp.Add.make_args(row.rhs)]
    beside = [term.as_coeff_Mul()[0] for term in terms]
    return [j for j, entry in row.entries.items() if is_residue(entry, beside)]


def derivative_row(constraint: sp.Expr, number: int, states: Sequence[sp.Symbol], t: sp.Symbol) -> Row:
    """Return the derivative of a constraint as a row: c_y y' = -c_t (step 4 of Procedure 2.4)."""
    slopes = gradient(constraint)
    entries = {j: slopes[s] for j, s in enumerate(states) if s in slopes}
    return Row(f"d/dt g[{number}]", entries, -slopes.get(t, sp.S.Zero), constraint)
