"""Mechanisms that move freely, index 3; the judges run when a member is made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from tests.fuzz import closed
from tests.fuzz.mechanism import Mechanism, judged
from tests.fuzz.member import Member, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised


def _angle(rng: np.random.Generator, low: float, high: float) -> float:
    """Return an angle, upright or level every third time: coordinates are zero there."""
    return float(pick(rng, (0.0, np.pi / 2)) if rng.random() < 0.33 else rng.uniform(low, high))


def pendulum(rng: np.random.Generator) -> Mechanism:
    """Return a pendulum that swings, or turns over."""
    (x, y), a = sp.symbols("x y"), sp.Symbol("a")
    m, r, g = round_digits(rng, 0.3, 3), round_digits(rng, 0.3, 3), 9.81
    return Mechanism(
        "pendulum",
        ("x", "y"),
        (m, m),
        (sp.Float(0), sp.Float(-m * g)),
        (x**2 + y**2 - sp.Float(r) ** 2,),
        (a,),
        (r * sp.sin(a), -r * sp.cos(a)),
        (_angle(rng, -3, 3),),
        (float(rng.uniform(-4, 4)),),
        float(rng.uniform(1, 3)) * 2 * np.pi * np.sqrt(r / g),
        float(pick(rng, (0.0, round_digits(rng, 0.05, 0.5)))),
    )


def double_pendulum(rng: np.random.Generator) -> Mechanism:
    """Return a double pendulum, over a time in which its chaos has not begun."""
    x1, y1, x2, y2 = sp.symbols("x1 y1 x2 y2")
    a, b = sp.symbols("a b")
    m1, m2, l1, l2 = (round_digits(rng, 0.5, 2) for _ in range(4))
    g = 9.81
    first, second = (l1 * sp.sin(a), -l1 * sp.cos(a)), (l2 * sp.sin(b), -l2 * sp.cos(b))
    constraints = (x1**2 + y1**2 - sp.Float(l1) ** 2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - sp.Float(l2) ** 2)
    places = (*first, first[0] + second[0], first[1] + second[1])
    forces = (sp.Float(0), sp.Float(-m1 * g), sp.Float(0), sp.Float(-m2 * g))
    return Mechanism(
        "double pendulum",
        ("x1", "y1", "x2", "y2"),
        (m1, m1, m2, m2),
        forces,
        constraints,
        (a, b),
        places,
        (_angle(rng, -1.5, 1.5), _angle(rng, -1.5, 1.5)),
        tuple(float(v) for v in rng.uniform(-1, 1, 2)),
        1.5 * np.sqrt((l1 + l2) / g) * 2,
    )


def bead(rng: np.random.Generator) -> Mechanism:
    """Return a bead on a wire y = h(x): a parabola, a wave or a chain's curve."""
    (x, y), s = sp.symbols("x y"), sp.Symbol("s")
    m, c, g = round_digits(rng, 0.3, 3), round_digits(rng, 0.3, 1.2), 9.81
    name, height = pick(
        rng, (("parabola", c * s**2), ("wave", c * sp.sin(2 * s)), ("catenary", c * sp.cosh(s)))
    )
    return Mechanism(
        f"bead on a {name}",
        ("x", "y"),
        (m, m),
        (sp.Float(0), sp.Float(-m * g)),
        (y - height.subs(s, x),),
        (s,),
        (s, height),
        (float(rng.uniform(-1, 1)),),
        (float(rng.uniform(-2, 2)),),
        float(rng.uniform(1, 4)),
        round_digits(rng, 0.0, 0.4),
    )


def spherical(rng: np.random.Generator) -> Mechanism:
    """Return a spherical pendulum that goes round, so that its angles stay away from the pole."""
    x, y, z = sp.symbols("x y z")
    a, b = sp.symbols("a b")
    m, r, g = round_digits(rng, 0.3, 3), round_digits(rng, 0.3, 3), 9.81
    places = (r * sp.sin(a) * sp.cos(b), r * sp.sin(a) * sp.sin(b), -r * sp.cos(a))
    turn = float(rng.uniform(0.7, 1.5) * np.sqrt(g / r))
    return Mechanism(
        "spherical pendulum",
        ("x", "y", "z"),
        (m, m, m),
        (sp.Float(0), sp.Float(0), sp.Float(-m * g)),
        (x**2 + y**2 + z**2 - sp.Float(r) ** 2,),
        (a, b),
        places,
        (float(rng.uniform(0.6, 1.4)), float(rng.uniform(0, 6))),
        (float(rng.uniform(-1, 1)), turn),
        4 * np.sqrt(r / g) * np.pi,
    )


KINDS: tuple[Callable[[np.random.Generator], Mechanism], ...] = (
    pendulum,
    double_pendulum,
    bead,
    spherical,
    *closed.KINDS,
)


def make(seed: int) -> Member:
    """Return the mechanism of this seed."""
    rng = rng_of("mechanisms", seed)
    mechanism = pick(rng, KINDS)(rng)
    k, c = len(mechanism.names), len(mechanism.constraints)
    lam = sp.symbols([f"lam{i}" for i in range(c)])
    velocities = [f"v_{name}" for name in mechanism.names]
    pull = sp.Matrix(mechanism.constraints).jacobian(sp.symbols(mechanism.names)).T * sp.Matrix(lam)
    drag = [f" - {mechanism.damping!r}*{v}" if mechanism.damping else "" for v in velocities]
    f = [f"{force}{slow} - ({row})" for force, slow, row in zip(mechanism.forces, drag, pull, strict=True)]
    diagonal = ["1"] * k + [repr(m) for m in mechanism.masses] + ["0"] * c
    E = tuple(tuple(entry if i == j else "0" for j in range(2 * k + c)) for i, entry in enumerate(diagonal))
    truth, enlarged = judged(mechanism)
    grid = truth(np.linspace(0, mechanism.t_end, 201))
    size = np.abs(grid).max(axis=1)
    start = np.where(np.abs(grid[:, 0]) < 1e-15 * size, 0.0, grid[:, 0])  # sin(pi) and the like
    y0: list[float | None] = [float(v) for v in start]
    if rng.random() < 0.5:
        y0[2 * k :] = [None] * c
    member = Member(
        "mechanisms",
        mechanism.name,
        seed,
        (*mechanism.names, *velocities, *(s.name for s in lam)),
        E,
        (*velocities, *f, *(str(g) for g in mechanism.constraints)),
        (0.0, float(mechanism.t_end)),
        tuple(y0),
        tuple(float(s) or 1.0 for s in size),
        truth,
        enlarged=enlarged,
    )
    return with_settings(disguised(member, rng), rng)
