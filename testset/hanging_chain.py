"""A chain of N rigid links, hanging from a fixed point, bobs in Cartesian coordinates: index 3, any N.

N = 1 is the pendulum.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import diags_array

from herk.core import Dae, Invariant, Problem
from herk.core.dae import Array, is_large
from herk.jit.compiled import compiled
from herk.model.forms.callable_forms import mechanical_forms
from testset.chain_entries import entries, places
from testset.stored import stored

TAGS = (
    "index3",
    "mechanical",
    "nonstiff",
    "oscillatory",
    "holonomic",
    "autonomous",
    "conservative",
    "callables",
    "scalable",
    "hessenberg",
)
MOST_LINKS_IN_FULL = 200  # up to which forms for other solvers, with full matrices, are offered
SOURCE = (
    "N-fold mathematical pendulum in Cartesian coordinates, a classical example; data chosen for this set"
)


@compiled(_nrt=True)
def links(y, start):  # type: ignore[no-untyped-def]
    """Return the differences of neighbours, the first one to the fixed point.

    With a zero behind the free end.
    """
    N = y.size // 5
    d = np.zeros((N + 1, 2))
    for i in range(N):
        for k in range(2):
            d[i, k] = y[start + 2 * i + k] - (y[start + 2 * i - 2 + k] if i else 0.0)
    return d


@compiled(_nrt=True)
def right(y, m, l, g):  # type: ignore[no-untyped-def]  # noqa: E741
    """Return f of the chain with the links d_i = r_i - r_(i-1).

    m v_i' = -m g e_2 - 2 d_i lam_i + 2 d_(i+1) lam_(i+1), 0 = |d_i|^2 - l^2.
    """
    N = y.size // 5
    d, out = links(y, 0), np.zeros(y.size)
    for i in range(N):
        for k in range(2):
            below = y[4 * N + i + 1] * d[i + 1, k] if i < N - 1 else 0.0
            out[2 * i + k] = y[2 * N + 2 * i + k]
            out[2 * N + 2 * i + k] = 2 * below - 2 * y[4 * N + i] * d[i, k] - (m * g if k else 0.0)
        out[4 * N + i] = d[i, 0] ** 2 + d[i, 1] ** 2 - l * l
    return out


@compiled(_nrt=True)
def constraints(y, m, l, g):  # type: ignore[no-untyped-def]  # noqa: E741
    """Return the lengths d_i . d_i - l^2 with their first and second derivatives along the motion."""
    N = y.size // 5
    d, w, f, out = links(y, 0), links(y, 2 * N), right(y, m, l, g), np.zeros(3 * N)
    for i in range(N):
        for k in range(2):
            pull = f[2 * N + 2 * i + k] - (f[2 * N + 2 * i - 2 + k] if i else 0.0)
            out[i] += d[i, k] ** 2
            out[N + i] += 2 * d[i, k] * w[i, k]
            out[2 * N + i] += 2 * w[i, k] ** 2 + 2 * d[i, k] * pull / m
        out[i] -= l * l
    return out


@compiled(_nrt=True)
def right_slope(y):  # type: ignore[no-untyped-def]
    """Return df/dy."""
    N = y.size // 5
    d, out = links(y, 0), np.zeros((y.size, y.size))
    for i in range(N):
        for k in range(2):
            r, v = 2 * i + k, 2 * N + 2 * i + k
            out[r, v] = 1.0
            for j in range(i, min(i + 2, N)):  # the forces -2 lam_i d_i and 2 lam_(i+1) d_(i+1)
                sign = -2.0 if j == i else 2.0
                out[v, 4 * N + j] = sign * d[j, k]
                out[v, 2 * j + k] += sign * y[4 * N + j]
                if j:
                    out[v, 2 * j - 2 + k] -= sign * y[4 * N + j]
            out[4 * N + i, r] = 2 * d[i, k]
            if i:
                out[4 * N + i, r - 2] = -2 * d[i, k]
    return out


@compiled(_nrt=True)
def constraints_slope(y, m, l, g):  # type: ignore[no-untyped-def]  # noqa: E741
    """Return dg/dy; accelerations reach the bobs i - 2 ... i + 1 and the multipliers i - 1 ... i + 1."""
    N = y.size // 5
    d, w, f, slope, out = (
        links(y, 0),
        links(y, 2 * N),
        right(y, m, l, g),
        right_slope(y),
        np.zeros((3 * N, y.size)),
    )
    for i in range(N):
        for k in range(2):
            pull = f[2 * N + 2 * i + k] - (f[2 * N + 2 * i - 2 + k] if i else 0.0)
            for j in range(max(i - 1, 0), i + 1):
                sign, r, v = 2.0 if j == i else -2.0, 2 * j + k, 2 * N + 2 * j + k
                out[i, r] = sign * d[i, k]
                out[N + i, r], out[N + i, v] = sign * w[i, k], sign * d[i, k]
                out[2 * N + i, r] += sign * pull / m
                out[2 * N + i, v] = 2 * sign * w[i, k]
                for q in range(max(j - 1, 0), min(j + 2, N)):
                    out[2 * N + i, 2 * q + k] += sign * d[i, k] / m * slope[v, 2 * q + k]
                    out[2 * N + i, 4 * N + q] += sign * d[i, k] / m * slope[v, 4 * N + q]
    return out


@cache
def functions(m: float, l: float, g: float) -> tuple[Any, Any, Any, Any]:  # noqa: E741 - the length is called l in `pendulum`
    """Return f, g, df/dy and dg/dy as functions of (t, y) for bobs of mass m and links of length l."""
    here = compiled(cache=False, _nrt=True)  # small; what they call is kept on disk
    return (
        here(lambda t, y: right(y, m, l, g)),  # noqa: ARG005
        here(lambda t, y: constraints(y, m, l, g)),  # noqa: ARG005
        here(lambda t, y: right_slope(y)),  # noqa: ARG005
        here(lambda t, y: constraints_slope(y, m, l, g)),  # noqa: ARG005
    )


@cache
def entries_of(m: float, g: float) -> Any:
    """Return dg/dy as a function of (t, y) that gives its values by rows."""
    return compiled(cache=False, _nrt=True)(lambda t, y: entries(y, m, g))  # noqa: ARG005


def energy(t: float, y: Array, m: float, g: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy."""
    N = len(y) // 5
    return float(m * (y[2 * N : 4 * N] @ y[2 * N : 4 * N]) / 2 + m * g * y[1 : 2 * N : 2].sum())


def stretch(t: float, y: Array, l: float) -> float:  # noqa: ARG001, E741
    """Return the largest deviation of a link from its length."""
    r = y[: 2 * len(y) // 5].reshape(-1, 2)
    return float(np.abs(np.linalg.norm(np.diff(r, axis=0, prepend=0.0), axis=1) - l).max())


def start(N: int, l: float, m: float, angle: float, g: float) -> Array:  # noqa: E741
    """Return the straight chain at rest, where d_i . (F_i - F_(i-1)) = 0.

    So 2 lam_i = lam_(i-1) + lam_(i+1) but for the first link: each one carries what hangs below it.
    """
    y = np.zeros(5 * N)
    y[0 : 2 * N : 2], y[1 : 2 * N : 2] = (
        np.arange(1, N + 1) * l * part for part in (math.sin(angle), -math.cos(angle))
    )
    y[4 * N :] = np.arange(N, 0, -1) * m * g * math.cos(angle) / (2 * l)
    return y


def problem(
    t_end: float = 5.0,
    N: int = 10,
    mass: float = 1.0,
    length: float = 1.0,
    g: float = 9.81,
    angle: float = math.pi / 6,
) -> Problem:
    """Return the chain of this mass and length, N links, released at rest, straight.

    At an angle to the vertical.
    """
    m, l = float(mass) / N, float(length) / N  # noqa: E741
    f, lengths, jac_f, jac_g = functions(m, l, float(g))
    y0 = start(N, l, m, angle, float(g))
    names = [f"{name}{i}" for pair in ("xy", "vw", ("lam",)) for i in range(1, N + 1) for name in pair]
    given = {"f": f, "g": lengths, "n": 5 * N, "m": 3 * N, "names": tuple(names)}
    E = np.array([1.0] * (2 * N) + [m] * (2 * N) + [0.0] * N)
    dae = full = None
    if N <= MOST_LINKS_IN_FULL:
        dae = full = Dae(E=np.diag(E), jac_g=jac_g, **given)
    if is_large(5 * N):
        dae = Dae(E=diags_array(E), jac_g=entries_of(m, float(g)), jac_g_sparsity=places(N), **given)
    levels = (1,) * (2 * N) + (2,) * (2 * N) + (3,) * N
    groups = {
        "positions": range(2 * N),
        "velocities": range(2 * N, 4 * N),
        "multipliers": range(4 * N, 5 * N),
    }
    return Problem(
        name="hanging_chain",
        title=f"Hanging chain of {N} links",
        t_span=(0.0, t_end),
        y0=y0,
        source=SOURCE,
        given_dae=dae,
        given_forms=mechanical_forms(full, N, jac_f, (0.0, t_end), y0, levels) if full else {},
        reference=stored("hanging_chain", t_end, N=N, mass=mass, length=length, g=g, angle=angle),
        invariants=(
            Invariant("energy", partial(energy, m=m, g=g)),
            Invariant("stretch", partial(stretch, l=l)),
        ),
        groups={name: tuple(members) for name, members in groups.items()},
        tags=frozenset(TAGS),
    )
