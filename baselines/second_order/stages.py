"""Newton's iteration on the stages of a method for second-order systems, and general linear steps, compiled.

Every method expresses the unknowns z of F(t, z, z') = 0 by stage unknowns K: slot j of z or z' in stage i is
base[i, ., j] + sum over l of coefficients[d, i, l] K[l, source[j]], with d the order of the derivative that
the slot stands for.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import jacobian_at, residual_at
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, view
from herk.linalg.dense import solve_block

MOST = 12  # Newton iterations
SINGULAR, DIVERGED, UNDERFLOW = -1, -2, -3


class Stages(State):
    """The stage equations of one step; arrays of several dimensions by rows."""

    n: int
    m: int  # unknowns of a stage
    s: int  # stages
    at_residual: int
    at_jacobian: int
    h: float
    limit: float  # of the last Newton correction
    times: Floats
    coefficients: Floats  # (q + 1) x s x s
    base: Floats  # s x 2 x n
    source: Wholes  # 2 x n: which unknown a slot of z or z' is,
    derivative: Wholes  # and how often differentiated; -1: it does not occur
    rows: Wholes  # equations used
    variable_index: Wholes  # index of each component of z
    k: Floats  # s x m
    z: Floats  # s x 2 x n
    out: Floats
    inner: Floats  # F_z
    outer: Floats  # F_z' + F_z
    work: Floats  # Newton matrix, and the correction behind it
    parameters: Floats  # of which there are none: values are part of the functions


def allocate(n: int, m: int, s: int, q: int) -> Stages:
    """Return the state of a step, all zero."""
    sizes = {"times": s, "coefficients": (q + 1) * s * s, "base": 2 * s * n, "source": 2 * n, "rows": m}
    sizes |= {"derivative": 2 * n, "variable_index": n, "k": s * m, "z": 2 * s * n, "out": n, "parameters": 1}
    own = Stages(**sizes, inner=n * n, outer=n * n, work=(s * m + 1) * s * m)
    own.n, own.m, own.s = n, m, s
    return own


def solve_scaled(work: Floats, size: int) -> float:
    """Solve as `solve_block` does, rows scaled first.

    Constraints come with a factor h^2 that must not decide over pivots.
    """
    for r in range(size):
        largest = 0.0
        for c in range(size):
            largest = max(largest, abs(work[r * size + c]))
        if largest > 0.0:
            for c in range(size):
                work[r * size + c] /= largest
            work[size * size + r] /= largest
    return abs(solve_block(work, size))  # its sign is that of the determinant


def place(own: Stages) -> None:
    """Compute z and z' of all stages."""
    n, m, s, k = own.n, own.m, own.s, own.k
    for i in range(s):
        for j in range(2 * n):
            value, d = own.base[2 * i * n + j], own.derivative[j]
            if d >= 0:
                for stage in range(s):
                    value += own.coefficients[(d * s + i) * s + stage] * k[stage * m + own.source[j]]
            own.z[2 * i * n + j] = value


def linearise(own: Stages) -> None:
    """Write the Newton matrix of all stages and the residual behind it into work, rows not used left out."""
    n, m, s, work = own.n, own.m, own.s, own.work
    size = s * m
    for i in range(work.size):
        work[i] = 0.0
    for i in range(s):
        z, rate = view(own.z, 2 * i * n, n), view(own.z, (2 * i + 1) * n, n)
        residual_at(own.at_residual)(own.times[i], z, rate, own.parameters, own.out)
        jacobian_at(own.at_jacobian)(own.times[i], z, rate, 0.0, own.parameters, own.inner)
        jacobian_at(own.at_jacobian)(own.times[i], z, rate, 1.0, own.parameters, own.outer)
        for r in range(m):
            row = view(work, (i * m + r) * size, size)
            work[size * size + i * m + r] = own.out[own.rows[r]]
            for j in range(2 * n):
                add_entry(row, i, own.rows[r] * n, j, own)


def add_entry(row: Floats, i: int, at: int, j: int, own: Stages) -> None:
    """Add what slot j contributes to a row of the Newton matrix; `at` is where that row of F' begins."""
    n, m, s, d = own.n, own.m, own.s, own.derivative[j]
    column = at + j if j < n else at + j - n
    entry = own.inner[column] if j < n else own.outer[column] - own.inner[column]
    if entry != 0.0 and d >= 0:
        for stage in range(s):
            row[stage * m + own.source[j]] += entry * own.coefficients[(d * s + i) * s + stage]


def change(own: Stages) -> float:
    """Return the largest correction of z, unknowns of level k weighed by h^(k-1)."""
    n, m, s, largest = own.n, own.m, own.s, 0.0
    size = s * m
    for i in range(s):
        for j in range(n):
            moved, d = 0.0, own.derivative[j]
            for stage in range(s):
                step = own.work[size * size + stage * m + own.source[j]]
                moved += own.coefficients[(d * s + i) * s + stage] * step
            relative = abs(moved) / (1.0 + abs(own.z[2 * i * n + j]))
            part = relative * abs(own.h) ** (own.variable_index[j] - 1)
            largest = part if not part <= largest else largest  # nan counts
    return largest


def solve_stages(own: Stages) -> int:
    """Solve F = 0 in all stages by Newton's method from K on; return the iterations, or what went wrong.

    The last correction is at most `limit`; convergence is quadratic, what is left is rounding.
    """
    size = own.s * own.m
    for iteration in range(MOST):
        place(own)
        linearise(own)
        if solve_scaled(own.work, size) == 0.0:
            return SINGULAR
        moved = change(own)
        for r in range(size):
            own.k[r] -= own.work[size * size + r]
        if not moved < 1e10:
            return DIVERGED
        if moved <= own.limit:
            place(own)
            return iteration + 1
    return DIVERGED


class Linear(State):
    """A general linear method on its way along a grid."""

    stages: int  # where the state of its stages stands
    q: int
    kept: int  # quantities passed from step to step
    nfev: int
    wrong: int
    before: float  # the step before
    c: Floats
    a: Floats  # (q + 1) x s x s
    u: Floats  # (q + 1) x s x kept
    b: Floats  # kept x s
    v: Floats  # kept x kept
    powers: Floats
    x: Floats  # kept x m, row r scaled by h^r
    following: Floats
    grid: Floats  # this and the next live elsewhere
    points: Floats


def begin_step(t: float, h: float, linear: Linear, own: Stages) -> None:
    """Write the stage equations of a step."""
    n, m, s, q, kept, x = own.n, own.m, own.s, linear.q, linear.kept, linear.x
    for r in range(kept):
        scale = (h / linear.before) ** linear.powers[r]  # D(d) of (58)
        for j in range(m):
            x[r * m + j] *= scale
    linear.before = h
    own.h = h
    for d in range(q + 1):
        scale = h ** (q - d)
        for i in range(s * s):
            own.coefficients[d * s * s + i] = linear.a[d * s * s + i] * scale
    for i in range(s):
        own.times[i] = t + linear.c[i] * h
        for j in range(2 * n):
            value, d = 0.0, own.derivative[j]
            if d >= 0:
                scale = h**d
                for r in range(kept):
                    value += linear.u[(d * s + i) * kept + r] * x[r * m + own.source[j]] / scale
            own.base[2 * i * n + j] = value


def end_step(h: float, linear: Linear, own: Stages) -> None:
    """Write V x + h^q B K in place of x."""
    m, s, kept, x, new, scale = own.m, own.s, linear.kept, linear.x, linear.following, h**linear.q
    for r in range(kept):
        for j in range(m):
            old, made = 0.0, 0.0
            for i in range(kept):
                old += linear.v[r * kept + i] * x[i * m + j]
            for i in range(s):
                made += linear.b[r * s + i] * own.k[i * m + j]
            new[r * m + j] = old + scale * made
    for i in range(kept * m):
        x[i] = new[i]


def advance(linear: Linear) -> int:
    """Step along the grid, (60) with its first-order twin; return the steps made."""
    own = Stages.at(linear.stages)
    n, m, grid = own.n, own.m, linear.grid
    for step in range(grid.size - 1):
        h = grid[step + 1] - grid[step]
        begin_step(grid[step], h, linear, own)
        made = solve_stages(own)
        linear.nfev += own.s * (made if made > 0 else MOST)
        if made < 0:
            linear.wrong = made
            return step
        end_step(h, linear, own)
        for j in range(n):
            d = own.derivative[j]
            linear.points[step * n + j] = linear.x[d * m + own.source[j]] / h**d
    return grid.size - 1


PROGRAM = Program(advance)
