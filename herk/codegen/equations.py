"""A system E y' = f, 0 = g in sympy, parameters as symbols or as numbers: what code is generated from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from herk.codegen.gradient import gradient


def filled(matrix: sp.MatrixBase) -> sp.Tuple:
    """Return the entries of a matrix that are not zero, as one object: what is large is mostly zero."""
    return sp.Tuple(*matrix.todok().values())


def without(expr: sp.Expr, cancelled: Collection[sp.Symbol]) -> sp.Expr:
    """Return an expression without symbols that cancel in it when it is multiplied out."""
    plain = expr.xreplace(dict.fromkeys(cancelled, sp.S.Zero))
    return sp.expand(expr) if plain.has(sp.nan, sp.zoo) else plain


@dataclass(frozen=True)
class Equations:
    """E(t,y) y' = f(t,y), 0 = g(t,y): n states, E n x n, f of n entries, g of m entries.

    Parameters have their values at run time.
    """

    t: sp.Symbol
    states: tuple[sp.Symbol, ...]
    E: sp.MatrixBase
    f: sp.ImmutableDenseMatrix
    g: sp.ImmutableDenseMatrix
    parameters: tuple[sp.Symbol, ...] = ()

    @property
    def n(self) -> int:
        """Return the number of unknowns."""
        return len(self.states)

    @property
    def m(self) -> int:
        """Return the number of constraints."""
        return len(self.g)

    @cached_property
    def linear(self) -> bool:
        """Tell whether E and all derivatives of f and g by the states are the same along a run."""
        states = set(self.states)
        slopes = [gradient(row).get(s) for row in (*self.f, *self.g) for s in row.free_symbols & states]
        moving = {self.t, *states}
        return not any(e.free_symbols & moving for e in (filled(self.E), *slopes) if e is not None)

    @property
    def jac_g(self) -> sp.ImmutableDenseMatrix:
        """Return dg/dy, m x n."""
        return sp.ImmutableDenseMatrix(
            self.m, self.n, [gradient(row).get(s, 0) for row in self.g for s in self.states]
        )

    @property
    def g_t(self) -> sp.ImmutableDenseMatrix:
        """Return the partial derivative of g with respect to t."""
        return sp.ImmutableDenseMatrix(self.m, 1, [gradient(row).get(self.t, 0) for row in self.g])
