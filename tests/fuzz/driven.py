"""Driven mechanisms, without masses (index 1) and with (index 3): only the constraints move them.

The motion is a closed formula on a branch that is known; forces follow from it by solving G' lam = F - M q''.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from tests.fuzz.member import Array, Member, Truth, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised

t = sp.Symbol("t", real=True)
Kinematics = Callable[[Array], tuple[Array, ...]]


@dataclass(frozen=True)
class Mechanism:
    """Coordinates, as many constraints, and the motion they force."""

    name: str
    names: tuple[str, ...]
    constraints: tuple[sp.Expr, ...]
    motion: tuple[sp.Expr, ...]
    t_end: float
    singular_at: tuple[float, ...] = ()


def slider_crank(rng: np.random.Generator) -> Mechanism:
    """Return a crank with a slider; the slider is on either side of the crank."""
    ax, ay, s = sp.symbols("ax ay s")
    r, w, side = round_digits(rng, 0.5, 2.0), round_digits(rng, 1.0, 8.0), pick(rng, (1, -1))
    L = float(f"{r * rng.uniform(1.05, 3.0):.3g}")
    x, y = r * sp.cos(w * t), r * sp.sin(w * t)
    constraints = (ax - x, ay - y, (s - ax) ** 2 + ay**2 - sp.Float(L) ** 2)
    motion = (x, y, x + side * sp.sqrt(sp.Float(L) ** 2 - y**2))
    return Mechanism(
        "slider crank", ("ax", "ay", "s"), constraints, motion, float(rng.uniform(1, 4) * 2 * np.pi / w)
    )


def four_bar(rng: np.random.Generator) -> Mechanism:
    """Return a crank-rocker: by Grashof's rule the crank, the shortest link, turns all the way round."""
    bx, by = sp.symbols("bx by")
    crank, w, side = round_digits(rng, 0.3, 0.8), round_digits(rng, 0.5, 5.0), pick(rng, (1, -1))
    ground, coupler = round_digits(rng, 1.5, 2.5), round_digits(rng, 1.5, 2.5)
    rocker = float(f"{rng.uniform(abs(ground - coupler) + 1.1 * crank, ground + coupler - 1.1 * crank):.3g}")
    phase = round_digits(rng, 0.0, 6.0)
    a = sp.Matrix([crank * sp.cos(w * t + phase), crank * sp.sin(w * t + phase)])
    constraints = (
        (bx - a[0]) ** 2 + (by - a[1]) ** 2 - sp.Float(coupler) ** 2,
        (bx - ground) ** 2 + by**2 - sp.Float(rocker) ** 2,
    )
    link = sp.Matrix([ground - a[0], -a[1]])
    d2 = link.dot(link)
    along = (coupler**2 - rocker**2 + d2) / (2 * d2)
    across = side * sp.sqrt(coupler**2 / d2 - along**2)
    b = a + along * link + across * sp.Matrix([-link[1], link[0]])
    return Mechanism(
        "four-bar linkage", ("bx", "by"), constraints, tuple(b), float(rng.uniform(1, 4) * 2 * np.pi / w)
    )


def two_link_arm(rng: np.random.Generator) -> Mechanism:
    """Return an arm in angles whose hand is led round a circle that the arm reaches with a bent elbow."""
    p, q = sp.symbols("p q")
    l1 = round_digits(rng, 1.0, 2.0)
    l2, w, elbow = float(f"{l1 * rng.uniform(0.5, 0.9):.3g}"), round_digits(rng, 0.5, 4.0), pick(rng, (1, -1))
    inner, outer = l1 - l2, l1 + l2
    radius = float(f"{rng.uniform(0.1, 0.4) * (outer - inner):.3g}")
    distance = float(f"{rng.uniform(inner + 1.1 * radius, outer - 1.1 * radius):.3g}")
    x, y = distance + radius * sp.cos(w * t), radius * sp.sin(w * t)
    constraints = (l1 * sp.cos(p) + l2 * sp.cos(p + q) - x, l1 * sp.sin(p) + l2 * sp.sin(p + q) - y)
    bend = elbow * sp.acos((x**2 + y**2 - l1**2 - l2**2) / (2 * l1 * l2))
    shoulder = sp.atan2(y, x) - sp.atan2(l2 * sp.sin(bend), l1 + l2 * sp.cos(bend))
    return Mechanism(
        "two-link arm", ("p", "q"), constraints, (shoulder, bend), float(rng.uniform(1, 3) * 2 * np.pi / w)
    )


KINDS: tuple[Callable[[np.random.Generator], Mechanism], ...] = (slider_crank, four_bar, two_link_arm)


def make(seed: int) -> Member:
    """Return the driven mechanism of this seed."""
    rng = rng_of("driven", seed)
    mechanism = pick(rng, KINDS)(rng)
    member = member_of(mechanism, "driven", seed, rng, masses=bool(rng.random() < 0.5))
    if rng.random() < 0.15:  # backwards in time
        start = member.truth(np.array([mechanism.t_end]))[:, 0]
        member = replace(member, t_span=(mechanism.t_end, 0.0), y0=tuple(float(v) for v in start))
    return with_settings(disguised(member, rng), rng)


def member_of(mechanism: Mechanism, family: str, seed: int, rng: np.random.Generator, masses: bool) -> Member:
    """Return a member with or without masses, sometimes with forces left open at the start."""
    names, E, f, truth = (_massive if masses else _massless)(mechanism, rng)
    size = np.abs(truth(np.linspace(0, 0.9 * min((mechanism.t_end, *mechanism.singular_at)), 201))).max(
        axis=1
    )
    k = len(mechanism.names)
    y0: list[float | None] = [float(v) for v in truth(np.zeros(1))[:, 0]]
    if masses and rng.random() < 0.5:
        y0[2 * k :] = [None] * k
    return Member(
        family,
        f"{mechanism.name}, {'masses' if masses else 'no masses'}",
        seed,
        names,
        E,
        f,
        (0.0, mechanism.t_end),
        tuple(y0),
        tuple(float(s) or 1.0 for s in size),
        truth,
        singular_at=mechanism.singular_at,
    )


def _massless(mechanism: Mechanism, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple, tuple, Truth]:
    """Return names, E, f and truth of the constraints alone, sometimes beside a clock tau' = 1."""
    k, clock = len(mechanism.names), bool(rng.random() < 0.3)
    n = k + clock
    E = tuple(tuple("1" if clock and i == j == k else "0" for j in range(n)) for i in range(n))
    f = tuple(str(g) for g in mechanism.constraints) + (("1",) if clock else ())
    formulas = [*mechanism.motion, t] if clock else list(mechanism.motion)
    return (
        mechanism.names + (("tau",) if clock else ()),
        E,
        f,
        rows_of([sp.lambdify(t, row, "numpy") for row in formulas]),
    )


def _massive(mechanism: Mechanism, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple, tuple, Truth]:
    """Return names, E, f and truth of M q'' = F - G' lam, 0 = g(t, q) as a system of first order."""
    k, names = len(mechanism.names), mechanism.names
    q, lam = sp.symbols(names), sp.symbols([f"lam{i}" for i in range(k)])
    velocities = [f"v_{name}" for name in names]
    masses, forces = [round_digits(rng, 0.5, 3.0) for _ in names], [round_digits(rng, -10, 10) for _ in names]
    G = sp.Matrix(mechanism.constraints).jacobian(list(q))
    pull = G.T * sp.Matrix(lam)
    f = [*velocities, *(f"{force!r} - ({row})" for force, row in zip(forces, pull, strict=True))]
    f += [str(g) for g in mechanism.constraints]
    diagonal = ["1"] * k + [repr(m) for m in masses] + ["0"] * k
    E = tuple(tuple(diagonal[i] if i == j else "0" for j in range(3 * k)) for i in range(3 * k))
    kinematics = _kinematics(mechanism, q, G)

    def truth(times: Array) -> Array:
        place, speed, gain, jacobians = kinematics(np.asarray(times, dtype=float))
        load = np.array(forces) - np.array(masses) * gain
        force = np.linalg.solve(jacobians.transpose(0, 2, 1), load[:, :, None])[:, :, 0]
        return np.hstack([place, speed, force]).T

    return (*names, *velocities, *(str(s) for s in lam)), E, tuple(f), truth


def _kinematics(
    mechanism: Mechanism, q: tuple[sp.Symbol, ...], G: sp.Matrix
) -> Callable[[Array], tuple[Array, ...]]:
    """Return q, q', q'' and G at many times; rates follow from the constraints, differentiated."""
    dq = sp.symbols([f"d_{s}" for s in q])
    g, rate = sp.Matrix(mechanism.constraints), sp.Matrix(dq)
    total = G * rate + g.diff(t)  # is zero, and so is its derivative
    rest = total.jacobian(list(q)) * rate + total.diff(t)
    motion = rows_of([sp.lambdify(t, row, "numpy", cse=True) for row in mechanism.motion])
    entries, drive, curve = (sp.lambdify([t, *q, *dq], list(part), "numpy") for part in (G, g.diff(t), rest))

    def stacked(values: list[Array], times: Array) -> Array:
        return np.array([np.broadcast_to(value, times.shape) for value in values], dtype=float).T

    def at(times: Array) -> tuple[Array, ...]:
        place = motion(times)
        still = np.zeros_like(place)
        G_now = stacked(entries(times, *place, *still), times).reshape(-1, len(q), len(q))
        speed = -np.linalg.solve(G_now, stacked(drive(times, *place, *still), times)[:, :, None])[:, :, 0]
        gain = -np.linalg.solve(G_now, stacked(curve(times, *place, *speed.T), times)[:, :, None])[:, :, 0]
        return place.T, speed, gain, G_now

    return at


def rows_of(functions: list[Callable[[Array], Array]]) -> Truth:
    """Return the truth whose rows are these functions of time."""

    def truth(times: Array) -> Array:
        times = np.asarray(times, dtype=float)
        return np.array(
            [np.broadcast_to(function(times), times.shape) for function in functions], dtype=float
        )

    return truth
