"""A cloth of N x N masses in space, held along its upper edge, neighbours joined by rods: index 3, any N.

Rods along rows and columns and none across: the cloth shears and folds, and no thread ever stretches.
"""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np
import scipy.sparse as ss
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.sparse.linalg import spsolve

from herk.core import InputError, Invariant, Problem, Reference
from herk.core.dae import Array
from herk.model.model import Model

TAGS = (
    "index3",
    "mechanical",
    "nonstiff",
    "oscillatory",
    "holonomic",
    "autonomous",
    "conservative",
    "scalable",
    "further",
    "hessenberg",
)
LARGEST_REFERENCE = 6  # masses in each direction
SOURCE = (
    "Net of inextensible threads (P. L. Chebyshev 1878, On the cutting of garments); data chosen for this set"
)


def rods(N: int) -> list[tuple[int, int]]:
    """Return the masses every rod joins, -1 - j for the point j of the edge that is held."""
    hanging = [(N * i + j - N if i else -1 - j, N * i + j) for i in range(N) for j in range(N)]
    across = [(N * i + j, N * i + j + 1) for i in range(N) for j in range(N - 1)]
    return hanging + across


def rest(N: int, angle: float) -> Array:
    """Return the places of the masses: a plane, an angle away from the vertical."""
    j, i = np.meshgrid(np.arange(N), np.arange(1, N + 1))
    return np.stack([j, i * math.sin(angle), -i * math.cos(angle)], axis=-1).reshape(-1, 3) / N


def push(N: int, angle: float, speed: float) -> Array:
    """Return velocities across the plane, a wave along the edge: no rod changes its length."""
    j, i = np.meshgrid(np.arange(N), np.arange(1, N + 1))
    size = speed * (i / N) * np.sin(2 * np.pi * (j + 0.5) / N)
    across = np.array([0.0, math.cos(angle), math.sin(angle)])
    return np.asarray(size.reshape(-1, 1) * across)


def ends(r: Array, held: Array) -> Array:
    """Return masses and held points in one list, so that the point -1 - j stands last but j."""
    return np.concatenate([r, held[::-1]])


def edge(N: int) -> Array:
    """Return the points of the edge that is held."""
    return np.column_stack([np.arange(N) / N, np.zeros(N), np.zeros(N)])


def tensions(r: Array, v: Array, N: int, g: float) -> Array:
    """Return the multipliers: d . (a_b - a_a) + |w|^2 = 0 for every rod, linear in them."""
    joined, m = np.array(rods(N)), 1 / N**2
    d = np.subtract(*(ends(r, edge(N))[joined[:, k]] for k in (1, 0)))
    w = np.subtract(*(ends(v, np.zeros((N, 3)))[joined[:, k]] for k in (1, 0)))
    rows = np.repeat(np.arange(len(joined)), 3)
    columns = [(3 * joined[:, [k]] + np.arange(3)).ravel() for k in (0, 1)]
    free = columns[0] >= 0
    G = ss.csr_array((d.ravel(), (rows, columns[1])), (len(joined), 3 * N * N))
    G -= ss.csr_array((d.ravel()[free], (rows[free], columns[0][free])), G.shape)
    fall = G @ np.tile([0.0, 0.0, -g], N * N)
    return np.asarray(spsolve((2 / m * (G @ G.T)).tocsc(), fall + (w**2).sum(axis=1)))


def forces(r: Array, tension: Array, N: int, g: float) -> Array:
    """Return the accelerations of the masses."""
    joined, m, out = np.array(rods(N)), 1 / N**2, np.tile([0.0, 0.0, -g], (N * N, 1))
    d = np.subtract(*(ends(r, edge(N))[joined[:, k]] for k in (1, 0)))
    pull, free = 2 * tension[:, None] * d / m, joined[:, 0] >= 0
    np.subtract.at(out, joined[:, 1], pull)
    np.add.at(out, joined[free, 0], pull[free])
    return out


@cache
def reference(N: int, t_end: float, g: float, angle: float, speed: float) -> Reference:
    """Return the end of a run that shares nothing with ours: tensions eliminated by numbers, SciPy."""
    k = 3 * N * N

    def rate(time: float, z: Array) -> Array:  # noqa: ARG001
        r, v = z[:k].reshape(-1, 3), z[k:].reshape(-1, 3)
        return np.concatenate([z[k:], forces(r, tensions(r, v, N, g), N, g).ravel()])

    start = np.concatenate([rest(N, angle).ravel(), push(N, angle, speed).ravel()])
    z = solve_ivp(rate, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    last = tensions(z[:k].reshape(-1, 3), z[k:].reshape(-1, 3), N, g)
    how = "tensions eliminated by numbers, then SciPy's DOP853 at 1e-13"
    return Reference(t_end, np.concatenate([z, last]), 9.0, how)


def energy(t: float, y: Array, N: int, g: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy."""
    k = 3 * N * N
    return float((y[k : 2 * k] @ y[k : 2 * k] / 2 + g * y[2:k:3].sum()) / N**2)


def stretch(t: float, y: Array, N: int) -> float:  # noqa: ARG001
    """Return the largest deviation of a rod from its length."""
    r, joined = ends(y[: 3 * N * N].reshape(-1, 3), edge(N)), np.array(rods(N))
    return float(np.abs(np.linalg.norm(r[joined[:, 1]] - r[joined[:, 0]], axis=1) - 1 / N).max())


def net(y: Array, N: int) -> Array:
    """Return the places of the masses by rows, the edge that is held before them."""
    return np.concatenate([edge(N), y[: 3 * N * N].reshape(-1, 3)]).reshape(N + 1, N, 3)


def problem(
    t_end: float = 1.0, N: int = 2, g: float = 9.81, angle: float = math.pi / 6, speed: float = 1.0
) -> Problem:
    """Return the cloth of mass 1 and side 1: places and velocities of masses, a multiplier for each rod."""
    if not isinstance(N, int) or N < 1:
        raise InputError(f"cloth has at least 1 mass in each direction, not {N!r}.")
    joined, k = rods(N), 3 * N * N
    place = np.array(sp.symbols(f"r0:{k}", real=True)).reshape(-1, 3)
    velocity, lam = sp.symbols(f"v0:{k}", real=True), sp.symbols(f"lam1:{len(joined) + 1}", real=True)
    mass, length, gravity = sp.Rational(1, N * N), sp.Rational(1, N), sp.Symbol("g", real=True)
    force, lengths = [list[sp.Expr]() for _ in range(k)], []
    for (a, b), tension in zip(joined, lam, strict=True):
        other = place[a] if a >= 0 else (sp.Rational(-1 - a, N), sp.S.Zero, sp.S.Zero)
        d = [place[b][c] - other[c] for c in range(3)]
        lengths.append(sp.Add(*(each**2 for each in d), -(length**2)))
        for c in range(3):
            force[3 * b + c].append(-2 * tension * d[c])
            if a >= 0:
                force[3 * a + c].append(2 * tension * d[c])
    weight = (sp.S.Zero, sp.S.Zero, -mass * gravity)
    f = [*velocity, *(sp.Add(*parts, weight[i % 3]) for i, parts in enumerate(force)), *lengths]
    r, v = rest(N, angle), push(N, angle, speed)
    start = np.concatenate([r.ravel(), v.ravel(), tensions(r, v, N, g)])
    model = Model(
        "cloth", [*place.ravel(), *velocity, *lam], {(i, i): 1 if i < k else mass for i in range(2 * k)}, f,
        parameters={gravity: g}, t_span=(0.0, t_end), y0=tuple(start),
    )  # fmt: skip
    kept = Invariant("energy", partial(energy, N=N, g=g)), Invariant("stretch", partial(stretch, N=N))
    return Problem(
        name="cloth",
        title=f"Cloth of {N} x {N} masses",
        t_span=model.t_span,
        y0=start,
        source=SOURCE,
        model=model,
        reference=reference(N, t_end, g, angle, speed) if N <= LARGEST_REFERENCE else None,
        invariants=kept,
        groups={
            "positions": tuple(range(k)),
            "velocities": tuple(range(k, 2 * k)),
            "multipliers": tuple(range(2 * k, 2 * k + len(joined))),
        },
        tags=frozenset(TAGS),
        net=partial(net, N=N),
    )
