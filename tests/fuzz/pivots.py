"""Right models whose natural pivots vanish at the start or on the way; others do not. Exact solutions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from tests.fuzz.driven import rows_of
from tests.fuzz.member import Member, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised, permuted

t = sp.Symbol("t", real=True)
Parts = tuple[str, dict[str, sp.Expr], tuple[tuple[str, ...], ...], list[str]]  # kind, solution, E, f


def _leading(differential: int, n: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple("1" if i == j < differential else "0" for j in range(n)) for i in range(n))


def two_guides(rng: np.random.Generator) -> Parts:
    """Return x' = w + x mu, y' = y mu, w' = lam - c x with x and y prescribed; x is zero at the start."""
    a, w, b, c = (
        round_digits(rng, 0.5, 2.0),
        round_digits(rng, 0.5, 3.0),
        round_digits(rng, -0.4, 0.4),
        round_digits(rng, 0.5, 3),
    )
    x, y = a * sp.sin(w * t), 1 + b * sp.sin(2 * t)
    mu = y.diff(t) / y
    v = x.diff(t) - x * mu
    solution = {"x": x, "y": y, "w": v, "mu": mu, "lam": v.diff(t) + c * x}
    f = ["w + x*mu", "y*mu", f"lam - {c}*x", f"x - {a}*sin({w}*t)", f"y - 1 - ({b})*sin(2*t)"]
    return "two guides", solution, _leading(3, 5), f


def quaternions(rng: np.random.Generator) -> Parts:
    """Return a rigid body, at first not turned, driven round a fixed axis by the torque this takes."""
    axis = rng.integers(-2, 3, 3)
    axis = axis if axis.any() else np.array([1, 2, 0])
    n = sp.Matrix([int(k) for k in axis]) / sp.sqrt(int((axis**2).sum()))
    w, c = round_digits(rng, 0.5, 3.0), round_digits(rng, 0.0, 1.0)
    turn = w * t + c * sp.sin(2 * t)
    inertia = sp.diag(*[round_digits(rng, 0.5, 3.0) for _ in range(3)])
    spin = turn.diff(t) * n
    torque = inertia * spin.diff(t) + spin.cross(inertia * spin)
    q, v, mu = sp.symbols("q0:4"), sp.symbols("v1:4"), sp.Symbol("mu")
    turning = sp.Matrix(
        [[-q[1], -q[2], -q[3]], [q[0], -q[3], q[2]], [q[3], q[0], -q[1]], [-q[2], q[1], q[0]]]
    )
    rate = sp.Matrix(v)
    rates = turning * rate / 2 + mu * sp.Matrix(q)
    couple = torque.evalf() - rate.cross(inertia * rate)
    values = [sp.cos(turn / 2), *(sp.sin(turn / 2) * n), *spin, sp.Integer(0)]
    names = [*(s.name for s in q), *(s.name for s in v), "mu"]
    diagonal = ["1"] * 4 + [str(inertia[i, i]) for i in range(3)] + ["0"]
    E = tuple(tuple(entry if i == j else "0" for j in range(8)) for i, entry in enumerate(diagonal))
    f = [*map(str, rates), *map(str, couple), "q0**2 + q1**2 + q2**2 + q3**2 - 1"]
    return "quaternions", dict(zip(names, values, strict=True)), E, f


def turning_pair(rng: np.random.Generator) -> Parts:
    """Return two constraints mixed by a rotation: each entry of their Jacobian vanishes in turn."""
    w, a, b = round_digits(rng, 0.5, 3.0), round_digits(rng, 0.5, 2.0), round_digits(rng, 0.5, 2.0)
    x, y = a * sp.cos(t), b * sp.sin(2 * t)
    f = [f"{a}*p*sin(t) + u", f"cos({w}*t)*x + sin({w}*t)*y - r", f"-sin({w}*t)*x + cos({w}*t)*y - s"]
    f += [
        f"r - ({a}*cos(t)*cos({w}*t) + {b}*sin(2*t)*sin({w}*t))",
        f"s - ({b}*sin(2*t)*cos({w}*t) - {a}*cos(t)*sin({w}*t))",
    ]
    r, s = x * sp.cos(w * t) + y * sp.sin(w * t), y * sp.cos(w * t) - x * sp.sin(w * t)
    p = sp.exp(-t / 2)
    u = p.diff(t) - a * p * sp.sin(t)
    solution = {"p": p, "x": x, "y": y, "r": r, "s": s, "u": u}
    return "turning pair", solution, _leading(1, 6), [*f, f"u - ({u})"]


KINDS: tuple[Callable[[np.random.Generator], Parts], ...] = (two_guides, quaternions, turning_pair)


def make(seed: int) -> Member:
    """Return the member of this seed, its rows and unknowns always in a random order."""
    rng = rng_of("pivots", seed)
    kind, solution, E, f = pick(rng, KINDS)(rng)
    t_end = float(rng.uniform(2.0, 5.0))
    truth = rows_of([sp.lambdify(t, row, "numpy") for row in solution.values()])
    size = np.abs(truth(np.linspace(0, t_end, 201))).max(axis=1)
    y0: list[float | None] = [float(v) for v in truth(np.zeros(1))[:, 0]]
    if rng.random() < 0.4:
        y0 = [None if name in ("mu", "lam") else value for name, value in zip(solution, y0, strict=True)]
    member = Member(
        family="pivots",
        kind=kind,
        seed=seed,
        states=tuple(solution),
        E=E,
        f=tuple(f),
        t_span=(0.0, t_end),
        y0=tuple(y0),
        sizes=tuple(float(s) or 1.0 for s in size),
        truth=truth,
    )
    return with_settings(permuted(disguised(member, rng), rng), rng)
