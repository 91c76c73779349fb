"""Fekete points: N particles on the unit sphere repel each other until they rest.

Index 2, the stabilised form of index 3; any N.
"""

from __future__ import annotations

import math

import numpy as np

from herk.core import Dae, Invariant, Problem
from herk.core.dae import Array
from herk.jit.compiled import compiled
from herk.model.forms.callable_forms import GivenForm, given_form
from testset.stored import stored

TAGS = (
    "index2",
    "mechanical",
    "mildly_stiff",
    "holonomic",
    "autonomous",
    "dissipative",
    "callables",
    "scalable",
    "large",
    "hessenberg",
)
SOURCE = "Test Set for IVP Solvers (CWI/Bari), problem fekete; contributed by C. Bendtsen and P. G. Thomsen"
ALPHA = 0.5  # friction
RINGS = (
    (3, 0, 13, 3 / 8),
    (7, 0, 29, 1 / 8),
    (6, 0, 7, -2 / 15),
    (4, -1, 17, -3 / 10),
)  # particles, first number, shift pi/., latitude pi*.


@compiled(_nrt=True)
def repulsion(y):  # type: ignore[no-untyped-def]
    """Return the forces F_i = sum over j of (p_i - p_j) / |p_i - p_j|^2."""
    N = y.size // 8
    out = np.zeros((N, 3))
    for i in range(N):
        for j in range(i):
            square = 0.0
            for k in range(3):
                square += (y[3 * i + k] - y[3 * j + k]) ** 2
            for k in range(3):
                part = (y[3 * i + k] - y[3 * j + k]) / square
                out[i, k] += part
                out[j, k] -= part
    return out


@compiled(_nrt=True)
def repulsion_slope(y):  # type: ignore[no-untyped-def]
    """Return dF/dp: 2 d d^T/|d|^4 - I/|d|^2 for each pair at distance d.

    Minus the sum over the others on the diagonal.
    """
    N = y.size // 8
    out, d = np.zeros((3 * N, 3 * N)), np.zeros(3)
    for i in range(N):
        for j in range(N):
            if j != i:
                for k in range(3):
                    d[k] = y[3 * i + k] - y[3 * j + k]
                square = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
                for k in range(3):
                    for c in range(3):
                        part = 2 * d[k] * d[c] / square**2 - (1.0 / square if k == c else 0.0)
                        out[3 * i + k, 3 * j + c] = part
                        out[3 * i + k, 3 * i + c] -= part
    return out


@compiled(_nrt=True)
def f(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return p' = q + 2 mu p, q' = -alpha q + 2 lam p + F, and the constraints |p|^2 - 1, 2 p . q."""
    N = y.size // 8
    F, out = repulsion(y), np.zeros(y.size)
    for i in range(N):
        lam, mu = y[6 * N + i], y[7 * N + i]
        out[6 * N + i] = -1.0
        for k in range(3):
            p, q = y[3 * i + k], y[3 * N + 3 * i + k]
            out[3 * i + k] = q + 2 * mu * p
            out[3 * N + 3 * i + k] = -ALPHA * q + 2 * lam * p + F[i, k]
            out[6 * N + i] += p * p
            out[7 * N + i] += 2 * p * q
    return out


@compiled(_nrt=True)
def jac_f(t, y):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return df/dy."""
    N = y.size // 8
    out = np.zeros((y.size, y.size))
    out[3 * N : 6 * N, : 3 * N] = repulsion_slope(y)
    for i in range(N):
        lam, mu = 6 * N + i, 7 * N + i
        for k in range(3):
            p, q = 3 * i + k, 3 * N + 3 * i + k
            out[p, q], out[p, p], out[p, mu] = 1.0, 2 * y[mu], 2 * y[p]
            out[q, q], out[q, lam] = -ALPHA, 2 * y[p]
            out[q, p] += 2 * y[lam]
            out[lam, p] = out[mu, q] = 2 * y[p]
            out[mu, p] = 2 * y[q]
    return out


@compiled(_nrt=True)
def g(t, y):  # type: ignore[no-untyped-def]
    """Return |p|^2 - 1 and 2 p . q, then the derivatives of both along the motion.

    Which determine mu = 0 and lam.
    """
    N = y.size // 8
    rate, out = f(t, y), np.zeros(4 * N)
    for i in range(N):
        out[i], out[N + i] = rate[6 * N + i], rate[7 * N + i]
        for k in range(3):
            p, q = 3 * i + k, 3 * N + 3 * i + k
            out[2 * N + i] += 2 * y[p] * rate[p]
            out[3 * N + i] += 2 * rate[p] * y[q] + 2 * y[p] * rate[q]
    return out


@compiled(_nrt=True)
def jac_g(t, y):  # type: ignore[no-untyped-def]
    """Return dg/dy."""
    N = y.size // 8
    rate, slope, out = f(t, y), jac_f(t, y), np.zeros((4 * N, y.size))
    out[: 2 * N] = slope[6 * N :]
    for i in range(N):
        for k in range(3):
            p, q = 3 * i + k, 3 * N + 3 * i + k
            out[2 * N + i] += 2 * y[p] * slope[p]
            out[2 * N + i, p] += 2 * rate[p]
            out[3 * N + i] += 2 * y[q] * slope[p] + 2 * y[p] * slope[q]
            out[3 * N + i, q] += 2 * rate[p]
            out[3 * N + i, p] += 2 * rate[q]
    return out


def points(N: int) -> Array:
    """Return the start of the source for N = 20, and a spiral from pole to pole for other N."""
    if N == 20:
        angles = [
            (2 * math.pi * (i + first) / count + math.pi / shift, latitude * math.pi)
            for count, first, shift, latitude in RINGS
            for i in range(1, count + 1)
        ]
    else:
        angles = [((3 - math.sqrt(5)) * math.pi * i, math.asin((2 * i + 1) / N - 1)) for i in range(N)]
    return np.array([[math.cos(a) * math.cos(b), math.sin(a) * math.cos(b), math.sin(b)] for a, b in angles])


def momentum(t: float, y: Array) -> float:  # noqa: ARG001
    """Return the size of the angular momentum, which friction damps and nothing drives.

    Zero from a start at rest.
    """
    p, q = y[: 6 * len(y) // 8].reshape(2, -1, 3)
    return float(np.linalg.norm(np.cross(p, q).sum(axis=0)))


def forms(dae: Dae, N: int, t_span: tuple[float, float], y0: Array) -> dict[str, GivenForm]:
    """Return the system as stated (index 2) and with its constraints differentiated (index 1)."""
    plain, stated = (1,) * (8 * N), (1,) * (6 * N) + (2,) * (2 * N)
    made = (
        given_form(dae, "index1", 1, plain, [range(2 * N, 4 * N)], (1.0,), jac_f, t_span, y0),
        given_form(dae, "index2", 2, stated, [range(2 * N)], (1.0,), jac_f, t_span, y0),
    )
    return {form.form: form for form in made}


def problem(t_end: float = 1000.0, N: int = 20) -> Problem:
    """Return N particles at rest; with every q = 0 the multipliers are -(N - 1)/4 and 0."""
    y0 = np.concatenate([points(N).ravel(), np.zeros(3 * N), np.full(N, -(N - 1) / 4), np.zeros(N)])
    names = [f"{name}{i}{k}" for name in "pq" for i in range(1, N + 1) for k in "xyz"]
    names += [f"{name}{i}" for name in ("lam", "mu") for i in range(1, N + 1)]
    dae = Dae(
        E=np.diag([1.0] * (6 * N) + [0.0] * (2 * N)),
        f=f,
        g=g,
        n=8 * N,
        m=4 * N,
        jac_g=jac_g,
        names=tuple(names),
    )
    places = {"positions": (0, 3), "velocities": (3, 6), "multipliers": (6, 8)}
    return Problem(
        name="fekete",
        title=f"Fekete points, {N} particles",
        t_span=(0.0, t_end),
        y0=y0,
        source=SOURCE,
        given_dae=dae,
        given_forms=forms(dae, N, (0.0, t_end), y0),
        reference=stored("fekete", t_end, N=N),
        invariants=(Invariant("angular momentum", momentum),),
        groups={name: tuple(range(a * N, b * N)) for name, (a, b) in places.items()},
        tags=frozenset(TAGS),
    )
