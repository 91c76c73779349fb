"""Open mechanisms in Cartesian coordinates (index 3), judged by two solvers on two other formulations.

DOP853 solves Lagrange's equations in minimal coordinates, LSODA the Cartesian equations at the level of
accelerations; where the two differ, nothing is said about herk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from tests.fuzz.member import Array, JudgeError, Member, Truth, pick, rng_of, round_digits, with_settings
from tests.fuzz.units import disguised

t = sp.Symbol("t", real=True)
JUDGES_AGREE = 1e-6  # of the size of an unknown


@dataclass(frozen=True)
class Mechanism:
    """Points under weight and damping: Cartesian coordinates, constraints, and minimal coordinates."""

    name: str
    names: tuple[str, ...]
    masses: tuple[float, ...]  # one per coordinate
    forces: tuple[sp.Expr, ...]  # of the Cartesian coordinates; damping is added
    constraints: tuple[sp.Expr, ...]
    minimal: tuple[sp.Symbol, ...]
    places: tuple[sp.Expr, ...]  # Cartesian coordinates as functions of the minimal ones
    start: tuple[float, ...]
    speed: tuple[float, ...]
    t_end: float
    damping: float = 0.0


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
        (float(rng.uniform(-3, 3)),),
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
        tuple(rng.uniform(-1.5, 1.5, 2)),
        tuple(rng.uniform(-1, 1, 2)),
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


KINDS: tuple[Callable[[np.random.Generator], Mechanism], ...] = (pendulum, double_pendulum, bead, spherical)


def make(seed: int) -> Member:
    """Return the mechanism of this seed; the judges run when the truth is first asked for."""
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
    truth = judged(mechanism)
    grid = truth(np.linspace(0, mechanism.t_end, 201))
    y0: list[float | None] = [float(v) for v in grid[:, 0]]
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
        tuple(float(s) or 1.0 for s in np.abs(grid).max(axis=1)),
        truth,
    )
    return with_settings(disguised(member, rng), rng)


def judged(mechanism: Mechanism) -> Truth:
    """Return positions, velocities and multipliers; raise JudgeError if the judges differ."""
    field, state = accelerations(mechanism), cartesian(mechanism)
    span, start = (0.0, float(mechanism.t_end)), np.concatenate([mechanism.start, mechanism.speed])
    small = solve_ivp(
        lagrange(mechanism), span, start, method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    )
    k = len(mechanism.names)

    def first(times: Array) -> Array:
        motion = np.array([state(u) for u in small.sol(times).T]).T
        return np.vstack([motion, np.array([field(y)[1] for y in motion.T]).T])

    def rate(_: float, y: Array) -> Array:
        return np.concatenate([y[k:], field(y)[0]])

    grid = np.linspace(*span, 60)
    other = solve_ivp(rate, span, state(start), method="LSODA", rtol=1e-11, atol=1e-12, t_eval=grid)
    if not (small.success and other.success):
        raise JudgeError(f"a judge failed on {mechanism.name}")
    one = first(grid)[: 2 * k]
    worst = float((np.abs(one - other.y).max(axis=1) / (1e-3 + np.abs(one).max(axis=1))).max())
    if worst > JUDGES_AGREE:
        raise JudgeError(f"the judges of {mechanism.name} differ by {worst:.1e}")
    return first


def lagrange(mechanism: Mechanism) -> Callable[[float, Array], Array]:
    """Return u' for u = (minimal coordinates, their rates): J' M J q'' = J' (F - M (dJ/dt) q')."""
    q, dq = list(mechanism.minimal), [sp.Symbol(f"d_{s}") for s in mechanism.minimal]
    J = sp.Matrix(mechanism.places).jacobian(q)
    speed = J * sp.Matrix(dq)
    turning = speed.jacobian(q) * sp.Matrix(dq)
    M = sp.diag(*mechanism.masses)
    force = sp.Matrix(mechanism.forces) - mechanism.damping * speed
    system = sp.lambdify([*q, *dq], [J.T * M * J, J.T * (force - M * turning)], "numpy")

    def rate(_: float, u: Array) -> Array:
        inertia, load = system(*u)
        return np.concatenate(
            [u[len(q) :], np.linalg.solve(np.array(inertia, float), np.array(load, float))[:, 0]]
        )

    return rate


def cartesian(mechanism: Mechanism) -> Callable[[Array], Array]:
    """Return the map from minimal coordinates and rates to places and velocities."""
    q, dq = list(mechanism.minimal), [sp.Symbol(f"d_{s}") for s in mechanism.minimal]
    places = sp.Matrix(mechanism.places)
    both = sp.lambdify([*q, *dq], [*places, *(places.jacobian(q) * sp.Matrix(dq))], "numpy")
    return lambda u: np.array(both(*u), dtype=float)


def accelerations(mechanism: Mechanism) -> Callable[[Array], tuple[Array, Array]]:
    """Return accelerations and multipliers as a function of places and velocities."""
    q, v = list(sp.symbols(mechanism.names)), [sp.Symbol(f"v_{name}") for name in mechanism.names]
    G = sp.Matrix(mechanism.constraints).jacobian(q)
    speed = G * sp.Matrix(v)
    force = sp.Matrix(mechanism.forces) - mechanism.damping * sp.Matrix(v)
    parts = sp.lambdify([*q, *v], [G, speed.jacobian(q) * sp.Matrix(v), force], "numpy")
    k, c, mass = len(q), G.rows, np.diag(mechanism.masses)

    def field(y: Array) -> tuple[Array, Array]:
        jacobian, bend, load = (np.array(part, dtype=float) for part in parts(*y))
        left = np.block([[mass, jacobian.T], [jacobian, np.zeros((c, c))]])
        both = np.linalg.solve(left, np.concatenate([load[:, 0], -bend[:, 0]]))
        return both[:k], both[k:]

    return field
