"""Chains of constraints: a row of the model that is (or hides) a constraint.

With its derivatives level by level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from herk.core import InputError
from herk.model.equations import Equations
from herk.model.regularize import Regularization


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
    for step in found.trace:
        if step.differentiated is None:
            grown.append((int(step.row.split()[-1]), [step.constraint]))
        else:
            next(members for _, members in grown if members[-1] == step.differentiated).append(
                step.constraint
            )
    return [Chain(row, tuple(members)) for row, members in sorted(grown, key=lambda chain: chain[0])]


def differential_rows(n: int, found: Sequence[Chain]) -> list[int]:
    """Return the rows that belong to no chain."""
    return [i for i in range(n) if i not in {chain.row for chain in found}]


def zero_columns(E: sp.ImmutableDenseMatrix) -> tuple[int, ...]:
    """Return the unknowns whose derivative does not occur."""
    return tuple(j for j in range(E.cols) if all(entry.is_zero for entry in E[:, j]))


def replaced(system: Equations, rows: dict[int, sp.Expr]) -> Equations:
    """Return the square system in which these rows read 0 = expression; g repeats them."""
    E = sp.Matrix(system.E)
    f = sp.Matrix(system.f)
    for i, expression in rows.items():
        E[i, :] = sp.zeros(1, system.n)
        f[i] = expression
    g = sp.ImmutableDenseMatrix(len(rows), 1, [rows[i] for i in sorted(rows)])
    return Equations(system.t, system.states, E.as_immutable(), f.as_immutable(), g, system.parameters)


def refuse(name: str, wanted: str) -> InputError:
    """Return the error for a form that the model does not have."""
    return InputError(f"Model {name!r} has no such form: {wanted}")
