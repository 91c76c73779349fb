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

from typing import Any

import numpy as np

from herk.core.dae import Array
from herk.integrate.steppers.radau.layout import EPS, function_at, jacobian_at
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes
from herk.linalg.dense import factor, substitute
from herk.model.forms.forms import analysis

MOST_CORRECTIONS = 4


class Projection(State):
    """Code, structure and scratch memory of a projection."""

    n: int
    m: int  # constraints, hidden ones included
    count: int  # constraints of the form of highest index
    highest: int  # index of unknowns that are corrected
    at_e: int
    at_jacobian: int
    at_g: int
    at_jac_g: int
    have_e: int  # E is a function
    ngev: int
    level: Wholes  # of unknowns: their index
    powers: Wholes  # of rows: highest power of a
    rows: Wholes  # the constraints as they stand in the form of highest index
    members: Wholes  # of all constraints: the index of the unknowns they correct, 0 for those left alone
    mass: Floats
    matrix: Floats
    order: Wholes
    unit: Floats
    directions: Floats  # count x n
    g: Floats
    jac_g: Floats
    small: Floats
    small_order: Wholes
    right: Floats
    answer: Floats
    parameters: Floats  # of the form of highest index
    g_parameters: Floats


def find_directions(t: float, y: Floats, slope: Floats, p: Projection) -> bool:
    """Solve the leading part of (a E + F_z) d = e_i for every constraint; return whether it is regular."""
    n, matrix, unit = p.n, p.matrix, p.unit
    jacobian_at(p.at_jacobian)(t, y, slope, 0.0, p.parameters, matrix)
    if p.have_e:
        function_at(p.at_e)(t, y, p.parameters, p.mass)
    for i in range(n):
        for j in range(n):
            value = 0.0
            if p.level[j] == p.powers[i]:
                value += p.mass[i * n + j]
            if p.level[j] - 1 == p.powers[i]:
                value += matrix[i * n + j]
            matrix[i * n + j] = value
    if factor(matrix, 0, n, p.order) == 0.0:
        return False
    for k in range(p.count):
        for i in range(n):
            unit[i] = 0.0
        unit[p.rows[k]] = 1.0
        substitute(matrix, 0, n, p.order, unit, p.directions, k * n)
    return True


def answers(level: int, p: Projection) -> int:
    """Write (derivative of the constraints) times (directions), squared if there are fewer constraints.

    Return their number.
    """
    n, count, answer, own = p.n, p.count, p.answer, 0
    for i in range(p.m):
        if p.members[i] == level:
            for k in range(count):
                value = 0.0
                for j in range(n):
                    if p.level[j] == level:
                        value += p.jac_g[i * n + j] * p.directions[k * n + j]
                answer[own * count + k] = value
            own += 1
    for r in range(own):
        for c in range(own):
            value = 0.0
            for k in range(count):
                value += answer[r * count + k] * answer[c * count + k]
            p.small[r * own + c] = value if own < count else answer[r * count + c]
    return own


def move(level: int, own: int, y: Floats, p: Projection) -> bool:
    """Correct the unknowns of one level; tell whether the corrections are larger than rounding."""
    n, count, largest, size = p.n, p.count, 0.0, 0.0
    for j in range(n):
        if p.level[j] == level:
            change = 0.0
            for k in range(count):
                along = p.unit[k] if own == count else 0.0
                if own < count:
                    for r in range(own):
                        along += p.answer[r * count + k] * p.unit[r]
                change += along * p.directions[k * n + j]
            y[j] -= change
            largest = max(largest, abs(change))
            size = max(size, abs(y[j]))
    return largest > 4.0 * EPS * size


def correct(t: float, y: Floats, level: int, p: Projection) -> None:
    """Simplified Newton for the constraints of one level.

    Until the corrections are of the size of rounding.
    """
    function_at(p.at_jac_g)(t, y, p.g_parameters, p.jac_g)
    own = answers(level, p)
    if own == 0 or factor(p.small, 0, own, p.small_order) == 0.0:
        return
    for _ in range(MOST_CORRECTIONS):
        function_at(p.at_g)(t, y, p.g_parameters, p.g)
        p.ngev += 1
        place = 0
        for i in range(p.m):
            if p.members[i] == level:
                p.right[place] = p.g[i]
                place += 1
        substitute(p.small, 0, own, p.small_order, p.right, p.unit, 0)
        if not move(level, own, y, p):
            return


def project(t: float, y: Floats, slope: Floats, p: Projection) -> None:
    """Correct y in place, unknowns of index 1 first; evaluations of constraints are counted as ngev."""
    if find_directions(t, y, slope, p):
        for level in range(1, p.highest + 1):
            correct(t, y, level, p)


PROGRAM = Program(project)


def projection(top: Any, whole: Any, y0: Array, slope: Array, t0: float) -> Projection:
    """Return the projection: `top` is the form of highest index, `whole` the one with all constraints."""
    n, m, level = top.n, whole.m, np.array(top.variable_index, dtype=np.int64)
    E, F_z, C = patterns(top, whole, y0, slope, t0)
    powers = np.array([max(_powers(E[i], F_z[i], level), default=0) for i in range(n)], dtype=np.int64)
    rows = np.flatnonzero((powers == 0) & ~E.any(axis=1))
    members = np.array([level[row].max() if row.any() else 0 for row in C], dtype=np.int64)
    members[members >= top.index] = 0
    p = _allocate(n, m, len(rows))
    p.level[:], p.powers[:], p.rows[:], p.members[:] = level, powers, rows, members
    p.highest, p.have_e = top.index - 1, callable(top.E)
    if not p.have_e:
        p.mass[:] = np.ravel(top.E)
    code, constraints = top.generated.code, whole.generated.code.functions
    p.at_e, p.at_jacobian = code.functions["E"].entry, code.implicit["jacobian"].entry
    p.at_g, p.at_jac_g = constraints["g"].entry, constraints["jac_g"].entry
    p.bind("parameters", top.generated.parameters)
    p.bind("g_parameters", whole.generated.parameters)
    return p


def _allocate(n: int, m: int, count: int) -> Projection:
    most = max(m, n, 1)
    sizes = dict.fromkeys(("level", "powers", "order"), n) | {"members": m, "g": m, "jac_g": m * n}
    sizes |= {"mass": n * n, "matrix": n * n, "directions": count * n, "small": most * most, "rows": count}
    sizes |= dict.fromkeys(("unit", "right", "small_order"), most) | {"answer": most * max(count, 1)}
    p = Projection(**sizes)
    p.n, p.m, p.count = n, m, count
    return p


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
