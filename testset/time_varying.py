"""Linear DAEs with coefficients that turn with time, of index 1 to 4 as one likes: exact solution.

A differential equation u' = -u + cos t and a chain z1 = sin t, z1' = z2, ... of as many unknowns as the index
are mixed by rotations that depend on time: no row and no column of E(t) shows which unknown is which.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import sympy as sp

from herk.core import InputError, Problem, Reference
from herk.core.dae import Array
from herk.model.entries import t
from herk.model.model import Model

TAGS = ("index3", "academic", "linear", "time_varying", "nonstiff", "exact", "further")
SOURCE = (
    "Standard canonical form of a linear DAE (S. L. Campbell, L. R. Petzold 1983: E = P diag(I, N) Q),"
    " turned by rotations; chosen for this set"
)
HIGHEST = 4


def exact(time: float, index: int, omega: float) -> Array:
    """Return the solution: u = (cos t + sin t + e^-t)/2 and derivatives of sin t, turned."""
    derivatives = (math.sin(time), math.cos(time), -math.sin(time), -math.cos(time))
    inner = [(math.cos(time) + math.sin(time) + math.exp(-time)) / 2, *derivatives[:index]]
    return rotation(index + 1, omega, time).astype(float) @ np.array(inner)


def rotation(n: int, omega: float, time: float) -> Array:
    """Return Q(t) at a time: rotations by omega t in the planes of neighbours, one after the other."""
    c, s, Q = math.cos(omega * time), math.sin(omega * time), np.eye(n)
    for i in range(n - 1):
        R = np.eye(n)
        R[i : i + 2, i : i + 2] = [[c, -s], [s, c]]
        Q = Q @ R
    return Q


def turning(n: int, omega: sp.Symbol) -> sp.Matrix:
    """Return Q(t) as formulas."""
    c, s, Q = sp.cos(omega * t), sp.sin(omega * t), sp.eye(n)
    for i in range(n - 1):
        R = sp.eye(n)
        R[i, i], R[i, i + 1], R[i + 1, i], R[i + 1, i + 1] = c, -s, s, c
        Q = Q * R
    return Q


def problem(t_end: float = 5.0, index: int = 3, omega: float = 1.0) -> Problem:
    """Return y = Q(t) x for the inner unknowns x = (u, z1, ..., z_index)."""
    if index not in range(1, HIGHEST + 1):
        raise InputError(f"The index of time_varying must be 1, 2, 3 or 4, not {index!r}.")
    n, speed = index + 1, sp.Symbol("omega", real=True)
    y = sp.symbols(f"y1:{n + 1}", real=True)
    Q = turning(n, speed)
    inner = Q.T * sp.Matrix(y)
    N = sp.zeros(n)
    N[0, 0] = 1
    for j in range(2, n):
        N[j, j - 1] = 1  # z_(j-1)' = z_j; row 1 is z1 = sin t
    right = sp.Matrix([-inner[0] + sp.cos(t), inner[1] - sp.sin(t), *(inner[j] for j in range(2, n))])
    E, f = N * Q.T, right - N * Q.T.diff(t) * sp.Matrix(y)
    solution = partial(exact, index=index, omega=omega)
    model = Model(
        "time_varying", y, E, list(f), t=t, parameters={speed: omega}, t_span=(0.0, t_end),
        y0=tuple(solution(0.0)),
    )  # fmt: skip
    return Problem(
        name="time_varying",
        title=f"Linear DAE with turning coefficients, index {index}",
        t_span=model.t_span,
        y0=solution(0.0),
        source=SOURCE,
        model=model,
        reference=Reference(t_end, solution(t_end), 14.0, "exact solution", solution),
        groups={"unknowns": tuple(range(n))},
        tags=frozenset({*TAGS, f"index{index}"} - ({"index3"} - {f"index{index}"})),
    )
