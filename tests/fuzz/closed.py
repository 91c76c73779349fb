"""Mechanisms with rails or loops: crane, free four-bar linkage, loop of four links in angles."""

from __future__ import annotations

import numpy as np
import sympy as sp

from tests.fuzz.mechanism import Mechanism
from tests.fuzz.member import JudgeError, pick, round_digits

G = 9.81


def crane(rng: np.random.Generator) -> Mechanism:
    """Return a trolley on a rail with a load on a rope, hanging straight at the start every other time."""
    s, h, x, y = sp.symbols("s h x y")
    place, angle = sp.symbols("place angle")
    trolley, load, rope, push = (round_digits(rng, 0.5, 3.0) for _ in range(4))
    constraints = [h, (x - s) ** 2 + (y - h) ** 2 - sp.Float(rope) ** 2]
    return Mechanism(
        name="crane",
        names=("s", "h", "x", "y"),
        masses=(trolley, trolley, load, load),
        forces=(sp.Float(push), sp.Float(-trolley * G), sp.Float(0), sp.Float(-load * G)),
        constraints=tuple(constraints if rng.random() < 0.5 else reversed(constraints)),
        minimal=(place, angle),
        places=(place, sp.Integer(0), place + rope * sp.sin(angle), -rope * sp.cos(angle)),
        start=(0.0, float(pick(rng, (0.0, rng.uniform(-1, 1))))),
        speed=(0.0, float(rng.uniform(-1, 1))),
        t_end=float(rng.uniform(1, 3)),
        damping=float(pick(rng, (0.0, 0.2))),
    )


def _meeting(a: sp.Matrix, b: sp.Matrix, from_a: float, from_b: float, side: int) -> sp.Matrix:
    """Return the point at these distances from two points, on one side of the line through them."""
    line = b - a
    d2 = line.dot(line)
    along = (from_a**2 - from_b**2 + d2) / (2 * d2)
    return a + along * line + side * sp.sqrt(from_a**2 / d2 - along**2) * sp.Matrix([-line[1], line[0]])


def four_bar(rng: np.random.Generator) -> Mechanism:
    """Return a four-bar linkage that falls freely; its crank can turn all the way round."""
    ax, ay, bx, by = sp.symbols("ax ay bx by")
    angle = sp.Symbol("angle")
    crank, ground, coupler = (
        round_digits(rng, 0.3, 0.6),
        round_digits(rng, 1.5, 2.0),
        round_digits(rng, 1.5, 2.0),
    )
    rocker = float(f"{rng.uniform(abs(ground - coupler) + 1.3 * crank, ground + coupler - 1.3 * crank):.3g}")
    a = crank * sp.Matrix([sp.cos(angle), sp.sin(angle)])
    b = _meeting(a, sp.Matrix([ground, 0]), coupler, rocker, pick(rng, (1, -1)))
    m, k = round_digits(rng, 0.5, 2.0), round_digits(rng, 0.5, 2.0)
    return Mechanism(
        name="free four-bar linkage",
        names=("ax", "ay", "bx", "by"),
        masses=(m, m, k, k),
        forces=(sp.Float(0), sp.Float(-m * G), sp.Float(0), sp.Float(-k * G)),
        constraints=(
            ax**2 + ay**2 - sp.Float(crank) ** 2,
            (bx - ax) ** 2 + (by - ay) ** 2 - sp.Float(coupler) ** 2,
            (bx - ground) ** 2 + by**2 - sp.Float(rocker) ** 2,
        ),
        minimal=(angle,),
        places=(*a, *b),
        start=(float(rng.uniform(0.3, 2.8)),),
        speed=(float(rng.uniform(-2, 2)),),
        t_end=float(rng.uniform(0.5, 1.5)),
    )


def loop_in_angles(rng: np.random.Generator) -> Mechanism:
    """Return a loop of four links and the ground in the angles of the links: ten unknowns."""
    angles = sp.symbols("a b c e")
    l1, l4 = round_digits(rng, 0.7, 1.0), round_digits(rng, 0.7, 1.0)
    l2, l3, ground = round_digits(rng, 1.2, 1.5), round_digits(rng, 1.2, 1.5), round_digits(rng, 1.0, 1.5)
    lengths = (l1, l2, -l3, -l4)
    constraints = sp.Matrix([
        sum(r * sp.cos(s) for r, s in zip(lengths, angles, strict=True)) - ground,
        sum(r * sp.sin(s) for r, s in zip(lengths, angles, strict=True)),
    ])  # fmt: skip
    p, q = float(rng.uniform(1.6, 2.2)), float(rng.uniform(0.9, 1.5))
    first = l1 * sp.Matrix([sp.cos(p), sp.sin(p)])
    last = sp.Matrix([ground, 0]) + l4 * sp.Matrix([sp.cos(q), sp.sin(q)])
    joint = _meeting(first, last, l2, l3, 1)
    if not all(part.is_real for part in joint):
        raise JudgeError("The two links in the middle do not meet.")
    to, fro = joint - first, joint - last
    start = (p, float(sp.atan2(to[1], to[0])), float(sp.atan2(fro[1], fro[0])), q)
    jacobian = np.array(constraints.jacobian(list(angles)).subs(dict(zip(angles, start, strict=True))), float)
    outer = rng.uniform(-0.3, 0.3, 2)
    inner = -np.linalg.solve(jacobian[:, 1:3], jacobian[:, [0, 3]] @ outer)
    weights = [round_digits(rng, 0.5, 3.0) for _ in range(4)]
    return Mechanism(
        name="loop in angles",
        names=tuple(s.name for s in angles),
        masses=tuple(round_digits(rng, 0.5, 2.0) for _ in range(4)),
        forces=tuple(-weight * sp.cos(s) for weight, s in zip(weights, angles, strict=True)),
        constraints=tuple(constraints),
        minimal=(),
        places=(),
        start=start,
        speed=(float(outer[0]), float(inner[0]), float(inner[1]), float(outer[1])),
        t_end=float(rng.uniform(0.4, 0.8)),
    )


KINDS = (crane, four_bar, loop_in_angles)
