"""Chains of constraints: a row of the model that is (or hides) a constraint.

With its derivatives level by level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from herk.codegen.equations import Equations
from herk.core import InputError
from herk.model.index_reduction.regularize import Regularization


@dataclass(frozen=True)
class Chain:
    """The constraint hidden in one row of E y' = f, and what its first, second, ...

    derivative along the flow says.

    Every member stands for the row in a form of lower index: `members[-1]` in index 1, `members[-2]` in index
    2, ...
    """

    row: int
    members: tuple[sp.Expr, ...]

    @property
    def index(self) -> int:
        """Return the index the chain brings into the system: its length."""
        return len(self.members)

    def at_index(self, index: int) -> tuple[sp.Expr, ...]:
        """Return the member that stands for the row in the form of this index.

        And those that stay hidden behind it.
        """
        return self.members[max(0, self.index - index) :]


def chains(found: Regularization) -> list[Chain]:
    """Return the chains in the order of their rows.

    Rows in no chain are differential equations, and independent.
    """
    grown: list[tuple[int, list[sp.Expr]]] = []
    ends: dict[sp.Expr, list[sp.Expr]] = {}  # the chain that each constraint is the last member of
    for step in found.trace:
        if step.differentiated is None:
            grown.append((int(step.row.split()[-1]), [step.constraint]))
            members = grown[-1][1]
        else:
            members = ends.pop(step.differentiated)
            members.append(step.constraint)
        ends[step.constraint] = members
    return [Chain(row, tuple(members)) for row, members in sorted(grown, key=lambda chain: chain[0])]


def differential_rows(n: int, found: Sequence[Chain]) -> list[int]:
    """Return the rows that belong to no chain."""
    taken = {chain.row for chain in found}
    return [i for i in range(n) if i not in taken]


def zero_columns(E: sp.MatrixBase) -> tuple[int, ...]:
    """Return the unknowns whose derivative does not occur."""
    used = {j for (_, j), entry in E.todok().items() if not entry.is_zero}
    return tuple(j for j in range(E.cols) if j not in used)


def with_entries(E: sp.MatrixBase, entries: Mapping[tuple[int, int], sp.Expr]) -> sp.MatrixBase:
    """Return a matrix of the size and kind of E with these entries alone."""
    made = sp.ImmutableSparseMatrix(*E.shape, dict(entries))
    return made if isinstance(E, sp.ImmutableSparseMatrix) else sp.ImmutableDenseMatrix(made)


def replaced(system: Equations, rows: dict[int, sp.Expr]) -> Equations:
    """Return the square system in which these rows read 0 = expression; g repeats them."""
    kept = {place: entry for place, entry in system.E.todok().items() if place[0] not in rows}
    f = sp.ImmutableDenseMatrix(system.n, 1, [rows.get(i, row) for i, row in enumerate(system.f)])
    g = sp.ImmutableDenseMatrix(len(rows), 1, [rows[i] for i in sorted(rows)])
    E = with_entries(system.E, kept)
    return Equations(system.t, system.states, E, f, g, system.parameters)


def refuse(name: str, wanted: str) -> InputError:
    """Return the error for a form that the model does not have."""
    return InputError(f"Model {name!r} has no such form: {wanted}")
