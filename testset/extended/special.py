"""Problems whose ODE is better written by hand: polar forms in 40 digits, the chain in angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import cos, mpf, sin

from testset import hanging_chain
from testset.extended.methods import Rate, Vector
from testset.extended.underlying import Long, solve


@dataclass(frozen=True)
class System:
    """y' = rate(t, y) with a start, a span, and the way back to the unknowns of the problem."""

    rate: Rate
    start: Vector
    t_end: Any
    whole: Rate
    parameters: dict[str, float]
    source: str


def wind_pendulum() -> System:
    """Return x = l sin th, y = -l cos th, l th'' = -g sin th + alpha cos th - 2 l' th' for the pendulum of variable length."""
    m, g, l_end, pull, wind, calm, t_end = mpf(2), mpf("9.78"), mpf("0.5"), mpf("0.03"), mpf(1), mpf("0.04"), mpf(50)

    def length(t: Any) -> Any:
        return l_end + pull * (t_end - t)

    def rate(t: Any, y: Vector) -> Vector:
        return np.array([y[1], (-g * sin(y[0]) + (wind - calm * t) * cos(y[0]) + 2 * pull * y[1]) / length(t)])

    def whole(t: Any, state: Vector) -> Vector:
        r, s, c, omega = length(t), sin(state[0]), cos(state[0]), state[1]
        x, y, v, w = r * s, -r * c, -pull * s + r * omega * c, pull * c + r * omega * s
        return np.array([x, y, v, w, m * (v**2 + w**2 + x * (wind - calm * t) - g * y - pull**2) / (2 * r**2)])

    parameters = {"m": 2.0, "g": 9.78, "l0": 2.0, "pull": 0.03, "wind": 1.0, "calm": 0.04}
    return System(rate, np.array([mpf(0)] * 2), t_end, whole, parameters, "polar form of the pendulum of variable length in the wind")


def unit_circle() -> System:
    """Return y = (sin ph, cos ph), ph'' = tangential part of the force in system (62)."""

    def force(phi: Any, omega: Any) -> tuple[Any, ...]:
        y1, y2, v1, v2 = sin(phi), cos(phi), omega * cos(phi), -omega * sin(phi)
        return y1, y2, v1, v2, -y1 - 2 * y1 * v1 * v2, -v1 + 2 * y1 * v2**2

    def rate(_: Any, y: Vector) -> Vector:
        y1, y2, _, _, f1, f2 = force(*y)
        return np.array([y[1], y2 * f1 - y1 * f2])

    def whole(_: Any, y: Vector) -> Vector:
        y1, y2, v1, v2, f1, f2 = force(*y)
        return np.array([y1, y2, v1, v2, (y1 * f1 + y2 * f2 + v1**2 + v2**2) / 2])

    return System(rate, np.array([mpf(0), mpf(1)]), mpf("0.1"), whole, {}, "polar form phi'' = tau . F of system (62)")


def chain(N: int = 10) -> System:
    """Return the hanging chain in angles: sum_k M_jk (cos(th_j - th_k) th_k'' + sin(th_j - th_k) th_k'^2) + g (N - j) l m sin th_j = 0."""
    m, l, g = Long(1) / N, Long(1) / N, Long("9.81")  # noqa: E741
    count = np.arange(N)
    weight = m * l * l * (N - np.maximum.outer(count, count)).astype(Long)
    load = m * g * l * (N - count).astype(Long)

    def acceleration(y: Vector) -> Vector:
        between = np.subtract.outer(y[:N], y[:N])
        return solve(weight * np.cos(between), -(weight * np.sin(between)) @ y[N:] ** 2 - load * np.sin(y[:N]))

    def whole(_: Any, y: Vector) -> Vector:
        s, c, w, a = np.sin(y[:N]), np.cos(y[:N]), y[N:], acceleration(y)
        links, turns = l * np.column_stack([s, -c]), l * np.column_stack([c * w, s * w])
        bends = l * np.column_stack([c * a - s * w**2, s * a + c * w**2])
        pull = -m * (np.cumsum(bends, axis=0) + np.array([Long(0), g]))  # force of the links on each bob, with a minus
        tension = np.cumsum(pull[::-1], axis=0)[::-1]
        lam = (tension * links).sum(axis=1) / (2 * l * l)
        return np.concatenate([np.cumsum(links, axis=0).ravel(), np.cumsum(turns, axis=0).ravel(), lam])

    angle = 4 * np.arctan(Long(1)) / 6
    start = np.array([angle] * N + [Long(0)] * N)
    known = {"N": 10, "mass": 1.0, "length": 1.0, "g": 9.81, "angle": math.pi / 6}
    return System(lambda _, y: np.concatenate([y[N:], acceleration(y)]), start, Long(5), whole, known, hanging_chain.SOURCE)


BY_HAND = {"wind_pendulum": wind_pendulum, "unit_circle": unit_circle, "hanging_chain": chain}
