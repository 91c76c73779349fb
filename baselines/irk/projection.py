"""Projection of a numerical solution on its constraints, hidden ones included.

(2.7) of Schropp's paper, for models of any index above one.

For u' = f(u, v), v' = k(u, v, lam), 0 = g(u) the paper corrects u along f_v k_lam and v along k_lam until g =
0 and Dg f = 0. In a model with other equations beside these (masses, accelerations as unknowns), the same
directions are the leading parts of (a E + F_z)^-1 e_i for a -> oo, where e_i is a constraint: an unknown of
index k answers with a^(k-1). So the terms of highest order in a are kept of every row, and one factorisation
of what is left gives all directions. Constraints whose highest unknown has index k correct unknowns of index
k.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from baselines.irk.radau5_memory import JACOBIAN, NGEV, jacobian_at
from herk.core.dae import Array
from herk.jit.compiled import compiled, inner
from herk.jit.pointers import FUNCTION, address, function_at
from herk.linalg.for_numba import factor, substitute
from herk.model.forms import analysis

MOST_CORRECTIONS = 4
EPS = 2.220446049250313e-16

# Places in `at`.
AT_E, AT_JACOBIAN, AT_G, AT_JAC_G, E_CONSTANT, HIGHEST = range(6)


class Projection(NamedTuple):
    """Addresses, structure and scratch memory of a projection.

    `rows` are the constraints as they stand in the form of highest index.
    """

    at: np.ndarray
    levels: np.ndarray  # of unknowns
    powers: np.ndarray  # of rows: highest power of a
    rows: np.ndarray
    members: np.ndarray  # of all constraints: the index of the unknowns they correct, 0 for those left alone
    mass: Array
    matrix: Array
    order: np.ndarray
    unit: Array
    directions: Array  # len(rows) x n
    g: Array
    jac_g: Array
    small: Array
    small_order: np.ndarray
    right: Array
    answer: Array


@inner()
def find_directions(t, y, slope, p):  # type: ignore[no-untyped-def]
    """Solve the leading part of (a E + F_z) d = e_i for every constraint; return whether it is regular."""
    n = y.size
    jacobian_at(p.at[AT_JACOBIAN])(t, y, slope, 0.0, p.matrix)
    if not p.at[E_CONSTANT]:
        function_at(p.at[AT_E])(t, y, p.mass)
    for i in range(n):
        for j in range(n):
            value = 0.0
            if p.levels[j] == p.powers[i]:
                value += p.mass[i * n + j]
            if p.levels[j] - 1 == p.powers[i]:
                value += p.matrix[i * n + j]
            p.matrix[i * n + j] = value
    if factor(p.matrix, 0, n, p.order) == 0.0:
        return False
    for k in range(p.rows.size):
        p.unit[:] = 0.0
        p.unit[p.rows[k]] = 1.0
        substitute(p.matrix, 0, n, p.order, p.unit, p.directions[k], 0)
    return True


@inner()
def answers(level, p, n):  # type: ignore[no-untyped-def]
    """Write (derivative of the constraints) times (directions), squared if there are fewer constraints.

    Return their number.
    """
    count = p.rows.size
    own = 0
    for i in range(p.members.size):
        if p.members[i] == level:
            for k in range(count):
                value = 0.0
                for j in range(n):
                    if p.levels[j] == level:
                        value += p.jac_g[i * n + j] * p.directions[k, j]
                p.answer[own * count + k] = value
            own += 1
    for r in range(own):
        for c in range(own):
            value = 0.0
            for k in range(count):
                value += p.answer[r * count + k] * p.answer[c * count + k]
            p.small[r * own + c] = value if own < count else p.answer[r * count + c]
    return own


@inner()
def correct(t, y, level, p, ints):  # type: ignore[no-untyped-def]
    """Simplified Newton for the constraints of one level.

    Until the corrections are of the size of rounding.
    """
    n, count = y.size, p.rows.size
    function_at(p.at[AT_JAC_G])(t, y, p.jac_g)
    own = answers(level, p, n)
    if own == 0 or factor(p.small, 0, own, p.small_order) == 0.0:
        return
    for _ in range(MOST_CORRECTIONS):
        function_at(p.at[AT_G])(t, y, p.g)
        ints[NGEV] += 1
        place = 0
        for i in range(p.members.size):
            if p.members[i] == level:
                p.right[place] = p.g[i]
                place += 1
        substitute(p.small, 0, own, p.small_order, p.right, p.unit, 0)
        largest, size = 0.0, 0.0
        for j in range(n):
            if p.levels[j] == level:
                move = 0.0
                for k in range(count):
                    along = p.unit[k] if own == count else 0.0
                    if own < count:
                        for r in range(own):
                            along += p.answer[r * count + k] * p.unit[r]
                    move += along * p.directions[k, j]
                y[j] -= move
                largest = max(largest, abs(move))
                size = max(size, abs(y[j]))
        if not largest > 4.0 * EPS * size:
            return


@inner()
def project(t, y, slope, p, ints):  # type: ignore[no-untyped-def]
    """Correct y in place, unknowns of index 1 first; evaluations of constraints are counted as ngev."""
    if find_directions(t, y, slope, p):
        for level in range(1, p.at[HIGHEST] + 1):
            correct(t, y, level, p, ints)


@compiled()
def project_all(t, y, slope, p, ints):  # type: ignore[no-untyped-def]
    """Correct several points, one in each row of y."""
    for i in range(t.size):
        project(t[i], y[i], slope, p, ints)


@cache
def none() -> Projection:
    """Return a projection that is never called, the same for all."""
    whole, floats = np.zeros(1, dtype=np.int64), np.zeros(1)
    kinds = {"at": np.zeros(6, dtype=np.int64), "directions": np.zeros((1, 1))}
    integer = ("levels", "powers", "rows", "members", "order", "small_order")
    return Projection(
        **{name: kinds.get(name, whole if name in integer else floats) for name in Projection._fields}
    )


def projection(
    top: Any, whole: Any, functions: tuple[Callable[..., Any], ...], y0: Array, slope: Array, t0: float
) -> Projection:
    """Return the projection of a model: `top` is its form of highest index, `whole` the overdetermined one.

    Functions E, F', g, g_y.
    """
    n, m = top.n, whole.m
    levels = np.array(top.levels, dtype=np.int64)
    E, F_z, C = patterns(top, whole, y0, slope, t0)
    powers = np.array([max(_powers(E[i], F_z[i], levels), default=0) for i in range(n)], dtype=np.int64)
    rows = np.flatnonzero((powers == 0) & ~E.any(axis=1))
    members = np.array([levels[row].max() if row.any() else 0 for row in C], dtype=np.int64)
    members[members >= top.index] = 0
    at = np.zeros(6, dtype=np.int64)
    signatures = (FUNCTION, JACOBIAN, FUNCTION, FUNCTION)
    at[:4] = [address(function, signature) for function, signature in zip(functions, signatures, strict=True)]
    at[E_CONSTANT], at[HIGHEST] = not callable(top.E), top.index - 1
    mass = np.zeros(n * n) if callable(top.E) else np.array(top.E, dtype=float).ravel()
    most = max(m, n, 1)
    return Projection(
        at,
        levels,
        powers,
        rows,
        members,
        mass,
        np.zeros(n * n),
        np.zeros(n, dtype=np.int64),
        np.zeros(most),
        np.zeros((len(rows), n)),
        np.zeros(m),
        np.zeros(m * n),
        np.zeros(most * most),
        np.zeros(most, dtype=np.int64),
        np.zeros(most),
        np.zeros(most * max(len(rows), 1)),
    )


def _powers(E: Array, F_z: Array, levels: np.ndarray) -> list[int]:
    return [*levels[E.astype(bool)], *(levels[F_z.astype(bool)] - 1)]


def patterns(top: Any, whole: Any, y0: Array, slope: Array, t0: float) -> tuple[Array, Array, Array]:
    """Return where E, F_z and g_y are not identically zero, from values at the start and near it."""
    rng = np.random.default_rng(7)
    found = [
        np.zeros((top.n, top.n), dtype=bool),
        np.zeros((top.n, top.n), dtype=bool),
        np.zeros((whole.m, top.n), dtype=bool),
    ]
    for _ in range(4):
        y, v = (x + 1e-3 * (1 + np.abs(x)) * rng.uniform(0.5, 1.5, top.n) for x in (y0, slope))
        E = top.E(t0, y) if callable(top.E) else top.E
        for pattern, values in zip(
            found, (E, top.residual_jacobian(t0, y, v, 0.0), whole.jac_g(t0, y)), strict=True
        ):
            pattern |= np.asarray(values) != 0.0
    return found[0], found[1], found[2]


def own_index(model: Any) -> int:
    """Return the index of the model as written."""
    return int(analysis(model).index)
