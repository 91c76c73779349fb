"""A mechanism in coordinates with constraints and in minimal ones, judged by two solvers on two formulations.

DOP853 solves Lagrange's equations in minimal coordinates, LSODA the constrained equations at the level of
accelerations (both the latter, where minimal coordinates would take pages); where the two differ, nothing
is said about herk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from tests.fuzz.member import Array, JudgeError, Truth

JUDGES_AGREE = 1e-6  # of the size of an unknown
SHIFT = 1e-5  # of the size of an unknown, to a neighbouring solution
NEIGHBOUR = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-12}  # how that is solved for


@dataclass(frozen=True)
class Mechanism:
    """Points under weight and damping: Cartesian coordinates, constraints, and minimal coordinates."""

    name: str
    names: tuple[str, ...]
    masses: tuple[float, ...]  # one per coordinate
    forces: tuple[sp.Expr, ...]  # of the Cartesian coordinates; damping is added
    constraints: tuple[sp.Expr, ...]
    minimal: tuple[sp.Symbol, ...]
    places: tuple[sp.Expr, ...]  # coordinates as functions of the minimal ones
    start: tuple[float, ...]  # of the minimal coordinates, of all if there are none
    speed: tuple[float, ...]
    t_end: float
    damping: float = 0.0


def judged(mechanism: Mechanism) -> tuple[Truth, float]:
    """Return positions, velocities and multipliers, and how many times errors are enlarged on the way.

    Raise JudgeError if the judges differ.
    """
    field, k = accelerations(mechanism), len(mechanism.names)
    span, start = (0.0, float(mechanism.t_end)), np.concatenate([mechanism.start, mechanism.speed])

    def rate(_: float, y: Array) -> Array:
        return np.concatenate([y[k:], field(y)[0]])

    small, state = (lagrange(mechanism), cartesian(mechanism)) if mechanism.minimal else (rate, np.array)
    run = solve_ivp(small, span, start, method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True)

    def truth(times: Array) -> Array:
        motion = np.array([state(u) for u in run.sol(times).T]).T
        return np.vstack([motion, np.array([field(y)[1] for y in motion.T]).T])

    grid = np.linspace(*span, 60)
    other = solve_ivp(rate, span, state(start), method="LSODA", rtol=1e-11, atol=1e-12, t_eval=grid)
    if not (run.success and other.success):
        raise JudgeError(f"a judge failed on {mechanism.name}")
    right = truth(grid)[: 2 * k]
    compare(mechanism.name, right, other.y)
    return truth, enlargement(small, state, start, grid, right)


def enlargement(
    rate: Callable[[float, Array], Array],
    state: Callable[[Array], Array],
    start: Array,
    grid: Array,
    right: Array,
) -> float:
    """Return by what factor errors grow at most between two times, in parts of the sizes of the unknowns.

    A solver makes errors at any time and in any direction, not at the start alone: one made where a bead is
    fast in a hollow is enlarged a hundred times more at the next hollow than one of its start.
    """
    run = solve_ivp(rate, grid[[0, -1]], start, method="DOP853", rtol=1e-10, atol=1e-11, t_eval=grid)
    if not run.success:
        raise JudgeError("a judge failed on the growth of errors")
    sizes, seen = _sizes(run.y), _sizes(right)
    shifts = SHIFT * np.diag(sizes)
    grown, most = np.zeros((start.size, 0)), 0.0
    for k in range(grid.size - 1):
        here, there = run.y[:, k], run.y[:, k + 1]
        ends = [
            [solve_ivp(rate, grid[k : k + 2], here + side * shift, **NEIGHBOUR).y[:, -1] for side in (1, -1)]
            for shift in shifts
        ]
        step = np.array([high - low for high, low in ends]).T / (2 * SHIFT)
        grown = step @ np.hstack([grown, np.eye(start.size)]) / sizes[:, None]
        shown = np.array([state(there + shift) - state(there - shift) for shift in shifts]).T / (2 * SHIFT)
        most = max(most, float((np.abs(shown @ grown) / seen[:, None]).max()))
    return most


def _sizes(values: Array) -> Array:
    """Return the largest size of each row, 1 for one that is zero."""
    largest = np.abs(values).max(axis=1)
    return np.where(largest > 0, largest, 1.0)


def compare(name: str, one: Array, other: Array) -> None:
    """Raise JudgeError if two runs differ by more than is allowed in any unknown."""
    worst = float((np.abs(one - other).max(axis=1) / (1e-3 + np.abs(one).max(axis=1))).max())
    if not worst <= JUDGES_AGREE:
        raise JudgeError(f"the judges of {name} differ by {worst:.1e}")


def lagrange(mechanism: Mechanism) -> Callable[[float, Array], Array]:
    """Return u' for u = (minimal coordinates, their rates): J' M J q'' = J' (F - M (dJ/dt) q')."""
    q, dq = list(mechanism.minimal), [sp.Symbol(f"d_{s}") for s in mechanism.minimal]
    J = sp.Matrix(mechanism.places).jacobian(q)
    speed = J * sp.Matrix(dq)
    turning = speed.jacobian(q) * sp.Matrix(dq)
    M = sp.diag(*mechanism.masses)
    here = dict(zip(sp.symbols(mechanism.names), mechanism.places, strict=True))
    force = sp.Matrix(mechanism.forces).xreplace(here) - mechanism.damping * speed
    system = sp.lambdify([*q, *dq], [J.T * M * J, J.T * (force - M * turning)], "numpy", cse=True)

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
    both = sp.lambdify([*q, *dq], [*places, *(places.jacobian(q) * sp.Matrix(dq))], "numpy", cse=True)
    return lambda u: np.array(both(*u), dtype=float)


def accelerations(mechanism: Mechanism) -> Callable[[Array], tuple[Array, Array]]:
    """Return accelerations and multipliers as a function of places and velocities."""
    q, v = list(sp.symbols(mechanism.names)), [sp.Symbol(f"v_{name}") for name in mechanism.names]
    G = sp.Matrix(mechanism.constraints).jacobian(q)
    speed = G * sp.Matrix(v)
    force = sp.Matrix(mechanism.forces) - mechanism.damping * sp.Matrix(v)
    parts = sp.lambdify([*q, *v], [G, speed.jacobian(q) * sp.Matrix(v), force], "numpy", cse=True)
    k, c, mass = len(q), G.rows, np.diag(mechanism.masses)

    def field(y: Array) -> tuple[Array, Array]:
        jacobian, bend, load = (np.array(part, dtype=float) for part in parts(*y))
        left = np.block([[mass, jacobian.T], [jacobian, np.zeros((c, c))]])
        both = np.linalg.solve(left, np.concatenate([load[:, 0], -bend[:, 0]]))
        return both[:k], both[k:]

    return field
