"""Small systems with exact solutions, one for each index.

And the spherical pendulum in every index, for steps in decimals.

The exponential systems were chosen so that orders show at h = 1/8 to 1/128: candidates whose stage equations
have other solutions near by at h = 1/8 were left out. Those of index 3 follow L. Jay (1993); in the first the
multiplier enters linearly, in the second it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np

from baselines.irk.families import tableau
from baselines.irk.hessenberg import DIGITS, System, march
from herk.core.dae import Array

FINEST = 128  # steps of the finest mesh; coarser ones are part of it
T_END = 1.0
_TWO, _THREE = {"x": (0, 1), "z": (2,)}, {"x": (0, 1), "y": (2, 3), "z": (4,)}


@dataclass(frozen=True, eq=False)
class Case:
    """A system, and its solution on the mesh of `FINEST` steps."""

    system: System
    truth: Callable[[], Array]

    def errors(self, points: Array) -> dict[str, float]:
        """Return the largest error over the mesh for each group of components."""
        steps = len(points) - 1
        with localcontext() as context:
            context.prec = DIGITS
            wrong = np.abs(points - self.truth()[:: FINEST // steps])
        return {group: float(wrong[:, list(places)].max()) for group, places in self.system.groups.items()}


def _exponential(
    name: str, index: int, rates: tuple[int, ...], m: int, right: Callable[..., list[Any]]
) -> Case:
    """Return a system that is solved by exp(rate t) in every component."""
    groups = {"x": (0, 1)} if index == 0 else _TWO if index < 3 else _THREE
    system = System(name, index, groups, right, (Decimal(1),) * len(rates), tuple(map(Decimal, rates)), m)

    @cache
    def truth() -> Array:
        with localcontext() as context:
            context.prec = DIGITS
            return np.array(
                [[(rate * Decimal(k) / FINEST).exp() for rate in rates] for k in range(FINEST + 1)]
            )

    return Case(system, truth)


def _index3(third: Callable[..., Any]) -> Callable[..., list[Any]]:
    return lambda a, b, p, q, u: [
        2 * a * b * p * q,
        -a * b * q**2,
        third(a, b, p, q, u),
        -a * b**2 * q**2 * u,
        a * b**2 - 1,
    ]


OWN = {
    0: _exponential("ODE", 0, (1, -2), 0, lambda a, b: [a**3 * b, -2 * a**2 * b**2]),
    1: _exponential(
        "index 1", 1, (1, -2, 2), 1, lambda a, b, z: [a * b * z, -2 * a**2 * b**2, z**2 * b - a**2]
    ),
    2: _exponential(
        "index 2",
        2,
        (1, -2, 2),
        1,
        lambda a, b, z: [(3 * a * b * z + a * b**2 * z**2) / 4, -2 * a**2 * b**2, a**2 * b - 1],
    ),
    3: _exponential("index 3", 3, (2, -1, 2, -1, 1), 1, _index3(lambda a, b, p, q, u: (a * b + p * q) * u)),
}
NONLINEAR = _exponential(
    "index 3, z enters as z³", 3, (2, -1, 2, -1, 1), 1, _index3(lambda _a, b, _p, _q, u: 2 * b * u**3)
)

GRAVITY = Decimal("9.81")  # data of testset/pendulum_3d
_START = tuple(map(Decimal, ("0.6", "0", "-0.8", "0", "1.5", "0")))


def multiplier(q1: Any, q2: Any, q3: Any, v1: Any, v2: Any, v3: Any) -> Any:
    """Return lambda as the second derivative of the constraint determines it."""
    return (v1**2 + v2**2 + v3**2 - GRAVITY * q3) / (2 * (q1**2 + q2**2 + q3**2))


def pendulum_system(index: int) -> System:
    """Return the pendulum with the constraint differentiated 3 - index times.

    Index 0: multiplier eliminated.
    """

    def moved(q1: Any, q2: Any, q3: Any, v1: Any, v2: Any, v3: Any, z: Any) -> list[Any]:
        return [v1, v2, v3, -2 * z * q1, -2 * z * q2, -2 * z * q3 - GRAVITY]

    def right(*state: Any) -> list[Any]:
        (q1, q2, q3), (v1, v2, v3) = state[:3], state[3:6]
        if index == 0:
            return moved(*state, multiplier(*state))
        z = state[6]
        squares = q1**2 + q2**2 + q3**2
        constraint = (
            v1**2 + v2**2 + v3**2 - GRAVITY * q3 - 2 * z * squares,
            q1 * v1 + q2 * v2 + q3 * v3,
            squares - 1,
        )[index - 1]
        return [*moved(*state), constraint]

    start = _START if index == 0 else (*_START, multiplier(*_START))
    slope = (
        *_START[3:],
        *moved(*_START, multiplier(*_START))[3:],
        *((Decimal(0),) if index else ()),
    )  # z' = -3/2 g v3 = 0
    groups = {"x": tuple(range(6))} if index == 0 else {"x": tuple(range(6)), "z": (6,)}
    if index == 3:
        groups = {"x": (0, 1, 2), "y": (3, 4, 5), "z": (6,)}
    return System(f"pendulum, index {index}", index, groups, right, start, slope, 0 if index == 0 else 1)


@cache
def pendulum_truth() -> Array:
    """Return the pendulum on the finest mesh: Gauss with 9 stages on the ODE, errors below 1e-30."""
    points = march(pendulum_system(0), tableau("gauss", 9), T_END, FINEST)
    with localcontext() as context:
        context.prec = DIGITS
        return np.column_stack([points, [multiplier(*point) for point in points]])


def _pendulum(index: int) -> Case:
    return Case(pendulum_system(index), pendulum_truth if index else lambda: pendulum_truth()[:, :6])


PENDULUM = {index: _pendulum(index) for index in range(4)}
