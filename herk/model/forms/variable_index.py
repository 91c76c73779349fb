"""The index of every unknown of a square form, by Pryce's structural analysis where it applies.

An unknown of index k feels the (k-1)-th derivative of a perturbation of the constraints; Radau codes scale
its error by h^(k-1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from herk.codegen.equations import Equations
from herk.core.dae import Array, is_large

_ABSENT = -1e6


def variable_index(system: Equations, index: int, hidden: Sequence[Sequence[sp.Expr]]) -> tuple[int, ...]:
    """Return the index of every unknown in a form of this index.

    `hidden` lists for each chain the constraint that is in the form and those behind it. It decides where the
    structure does not show the index (derivatives that cancel): an unknown has one plus the number of
    differentiations until it first appears in a constraint.
    """
    if index <= 1:
        return (1,) * system.n
    if is_large(system.n):
        return _first_appearance(system.states, hidden)
    structural = _structural(_signature(system), index)
    return _first_appearance(system.states, hidden) if structural is None else structural


def _first_appearance(states: Sequence[sp.Symbol], hidden: Sequence[Sequence[sp.Expr]]) -> tuple[int, ...]:
    first: dict[sp.Symbol, int] = {}
    for members in hidden:
        for depth, member in enumerate(members):
            for s in member.free_symbols:
                first[s] = min(depth, first.get(s, depth))
    return tuple(1 + first.get(s, 0) for s in states)


def _signature(system: Equations) -> Array:
    """Return the highest derivative of unknown j in equation i."""
    n = system.n
    sigma = np.full((n, n), _ABSENT)
    for i in range(n):
        present = system.f[i].free_symbols.union(*(e.free_symbols for e in system.E[i, :]))
        for j, s in enumerate(system.states):
            if not system.E[i, j].is_zero:
                sigma[i, j] = 1.0
            elif s in present:
                sigma[i, j] = 0.0
    return sigma


def _structural(sigma: Array, index: int) -> tuple[int, ...] | None:
    """Return the levels from the largest offsets with c <= index - 1.

    None if the structural index is another one.
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-sigma)
    if sigma[rows, columns].min() < 0:
        return None
    own = sigma[rows, columns]
    c = _smallest(sigma, columns, own)
    if c is None or c.max() + (c + own == 0).any() != index:
        return None
    c = np.full(len(own), float(index - 1))
    for _ in range(4 * len(own)):  # equations that need not wait are differentiated as often as possible
        d = np.empty(len(own))
        d[columns] = c + own
        new = np.minimum(c, (d[None, :] - sigma).min(axis=1))
        if (new == c).all():
            return tuple(int(np.clip(index - value, 1, index)) for value in d) if c.min() >= 0 else None
        c = new
    return None


def _smallest(sigma: Array, columns: Array, own: Array) -> Array | None:
    """Return Pryce's canonical offsets c: how often each equation must be differentiated."""
    c = np.zeros(len(own))
    for _ in range(4 * len(own)):
        d = (sigma + c[:, None]).max(axis=0)
        new = d[columns] - own
        if (new == c).all():
            return c
        c = new
    return None
