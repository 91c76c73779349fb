"""Pendulum of n masses on n rods in Cartesian coordinates, let go when it lies straight: index 3.

Energy is constant.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from herk.core import InputError, Invariant, Problem
from herk.core.dae import Array
from herk.model.model import Model
from testset.stored import stored

TAGS = (
    "index3",
    "mechanical",
    "nonstiff",
    "holonomic",
    "autonomous",
    "conservative",
    "hessenberg",
    "further",
)
SOURCE = (
    "Joh. Bernoulli, D. Bernoulli 1732-33 (oscillations of a hanging chain of masses); masses 1/n, rods of"
    " length 1/n, chosen for this set"
)


def energy(t: float, y: Array, n: int, g: float) -> float:  # noqa: ARG001
    """Return kinetic plus potential energy."""
    return float((y[2 * n : 4 * n] @ y[2 * n : 4 * n] / 2 + g * y[n : 2 * n].sum()) / n)


def problem(n: int = 3, t_end: float = 1.5, g: float = 9.81) -> Problem:
    """Return the pendulum; unknowns are x, y, v, w of all masses and the multipliers of the rods.

    At the start it falls freely: every acceleration is -g and no rod is under tension.
    """
    if not isinstance(n, int) or n < 1:
        raise InputError(f"n_pendulum has at least 1 mass, not {n!r}.")
    x, y, v, w, lam = (sp.symbols(f"{name}1:{n + 1}", real=True) for name in ("x", "y", "v", "w", "lam"))
    gravity, mass = sp.Symbol("g", real=True), sp.Rational(1, n)
    dx, dy = ([z[i] - (z[i - 1] if i else 0) for i in range(n)] for z in (x, y))
    pull_x, pull_y = ([2 * lam[i] * d[i] for i in range(n)] + [0] for d in (dx, dy))
    f = [
        *(*v, *w),
        *(pull_x[i + 1] - pull_x[i] for i in range(n)),
        *(pull_y[i + 1] - pull_y[i] - mass * gravity for i in range(n)),
        *(dx[i] ** 2 + dy[i] ** 2 - mass**2 for i in range(n)),
    ]
    E = {(i, i): 1 if i < 2 * n else mass for i in range(4 * n)}
    start = np.zeros(5 * n)
    start[:n] = np.arange(1, n + 1) / n
    model = Model(
        "n_pendulum",
        [*x, *y, *v, *w, *lam],
        E,
        f,
        parameters={gravity: g},
        t_span=(0.0, t_end),
        y0=tuple(start),
    )
    return Problem(
        name="n_pendulum",
        title=f"Pendulum of {n} masses",
        t_span=model.t_span,
        y0=start,
        source=SOURCE,
        model=model,
        reference=stored("n_pendulum", t_end, n=n, g=g),  # of three masses
        invariants=(Invariant("energy", partial(energy, n=n, g=g)),),
        groups={
            "positions": tuple(range(2 * n)),
            "velocities": tuple(range(2 * n, 4 * n)),
            "multipliers": tuple(range(4 * n, 5 * n)),
        },
        tags=frozenset(TAGS),
    )
