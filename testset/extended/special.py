"""Problems whose ODE is better written by hand.

Polar forms and small stiff systems in 40 digits, the chain, points on a sphere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath import mp, mpf

from testset import fekete, hanging_chain, robertson
from testset.extended.methods import Vector
from testset.extended.stiff import Quadratic
from testset.extended.system import System
from testset.extended.underlying import Long, solve

sin, cos = (np.frompyfunc(function, 1, 1) for function in (mp.sin, mp.cos))


def wind_pendulum() -> System:
    """Return x = l sin th, y = -l cos th.

    L th'' = -g sin th + alpha cos th - 2 l' th' for the pendulum of variable length.
    """
    m, g, l_end, pull, wind, calm, t_end = (
        mpf(2),
        mpf("9.78"),
        mpf("0.5"),
        mpf("0.03"),
        mpf(1),
        mpf("0.04"),
        mpf(50),
    )

    def length(t: Any) -> Any:
        return l_end + pull * (t_end - t)

    def rate(t: Any, y: Vector) -> Vector:
        return np.array(
            [y[1], (-g * sin(y[0]) + (wind - calm * t) * cos(y[0]) + 2 * pull * y[1]) / length(t)]
        )

    def whole(t: Any, state: Vector) -> Vector:
        r, s, c, omega = length(t), sin(state[0]), cos(state[0]), state[1]
        x, y, v, w = r * s, -r * c, -pull * s + r * omega * c, pull * c + r * omega * s
        return np.array(
            [x, y, v, w, m * (v**2 + w**2 + x * (wind - calm * t) - g * y - pull**2) / (2 * r**2)]
        )

    parameters = {"m": 2.0, "g": 9.78, "l0": 2.0, "pull": 0.03, "wind": 1.0, "calm": 0.04}
    return System(
        rate,
        np.array([mpf(0)] * 2),
        t_end,
        whole,
        parameters,
        "polar form of the pendulum of variable length in the wind",
    )


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

    return System(
        rate, np.array([mpf(0), mpf(1)]), mpf("0.1"), whole, {}, "polar form phi'' = tau . F of system (62)"
    )


def chain(N: int = 10) -> System:
    """Return the hanging chain in angles.

    Sum_k M_jk (cos(th_j - th_k) th_k'' + sin(th_j - th_k) th_k'^2) + g (N - j) l m sin th_j = 0.
    """
    m, l, g = Long(1) / N, Long(1) / N, Long("9.81")  # noqa: E741
    count = np.arange(N)
    weight = m * l * l * (N - np.maximum.outer(count, count)).astype(Long)
    load = m * g * l * (N - count).astype(Long)

    def acceleration(y: Vector) -> Vector:
        angles, speeds = y[:N], y[N:]
        between = angles[:, None] - angles
        bends = (weight[..., None] * np.sin(between) * speeds**2).sum(axis=1)
        return solve(weight[..., None] * np.cos(between), -bends - load[:, None] * np.sin(angles))

    def whole(_: Any, y: Vector) -> Vector:
        s, c, w, a = np.sin(y[:N]), np.cos(y[:N]), y[N:], acceleration(y[:, None])[:, 0]
        links, turns = l * np.column_stack([s, -c]), l * np.column_stack([c * w, s * w])
        bends = l * np.column_stack([c * a - s * w**2, s * a + c * w**2])
        pull = -m * (
            np.cumsum(bends, axis=0) + np.array([Long(0), g])
        )  # force of the links on each bob, with a minus
        tension = np.cumsum(pull[::-1], axis=0)[::-1]
        lam = (tension * links).sum(axis=1) / (2 * l * l)
        return np.concatenate([np.cumsum(links, axis=0).ravel(), np.cumsum(turns, axis=0).ravel(), lam])

    angle = 4 * np.arctan(Long(1)) / 6
    start = np.array([angle] * N + [Long(0)] * N)
    known = {"N": 10, "mass": 1.0, "length": 1.0, "g": 9.81, "angle": math.pi / 6}
    return System(
        lambda _, y: np.concatenate([y[N:], acceleration(y)]),
        start,
        Long(5),
        whole,
        known,
        hanging_chain.SOURCE,
    )


def sphere(N: int = 20) -> System:
    """Return Fekete's points as p' = q + mu p, q' = F - alpha q + 2 lam p.

    On the sphere mu is zero and lam such that p . q stays zero; off it they lead back, because errors grow
    with time otherwise.
    """
    alpha, pi = Long("0.5"), 4 * np.arctan(Long(1))

    def motion(y: Vector) -> tuple[Vector, Vector, Vector]:
        p, q = y.reshape(2, N, 3, -1)
        apart = p[:, None] - p
        square = (apart**2).sum(axis=2) + np.eye(N, dtype=int)[..., None]
        force = (apart / square[:, :, None]).sum(axis=1) - alpha * q
        length, lift = (p**2).sum(axis=1), (p * q).sum(axis=1)
        mu = (1 - length) / 2
        lam = -((q**2).sum(axis=1) + (p * force).sum(axis=1) + (1 + mu) * lift) / (2 * length)
        return q + mu[:, None] * p, force + 2 * lam[:, None] * p, lam

    def rate(_: Any, y: Vector) -> Vector:
        return np.concatenate(motion(y)[:2]).reshape(y.shape)

    def whole(_: Any, y: Vector) -> Vector:
        return np.concatenate([y, motion(y)[2][:, 0], np.zeros(N, dtype=Long)])

    turns = [
        (2 * pi * (i + first) / count + pi / shift, Long(round(120 * latitude)) / 120 * pi)
        for count, first, shift, latitude in fekete.RINGS
        for i in range(1, count + 1)
    ]
    p = [[np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)] for a, b in turns]
    start = np.concatenate([np.array(p).ravel(), np.zeros(3 * N, dtype=Long)])
    return System(rate, start, Long(1000), whole, {"N": N}, fekete.SOURCE)


def reaction() -> System:
    """Return Robertson's reaction without the third substance, which is what the others leave of one."""
    k1, k2, k3 = mpf("0.04"), mpf("3e7"), mpf("1e4")
    linear, products = (
        [[-k1, k3], [k1, -k3]],
        {(0, 0, 1): -k3, (0, 1, 1): -k3, (1, 0, 1): k3, (1, 1, 1): k3 - k2},
    )
    known = {"k1": 0.04, "k2": 3e7, "k3": 1e4}
    found = quadratic(linear, products)
    start = np.array([mpf(1), mpf(0)])
    return System(
        found.rate,
        start,
        mpf("1e11"),
        lambda _, y: np.array([y[0], y[1], 1 - y[0] - y[1]]),
        known,
        robertson.SOURCE,
        quadratic=found,
    )


def quadratic(linear: list[list[Any]], products: dict[tuple[int, int, int], Any]) -> Quadratic:
    """Return y' = linear y and in row i the entry (i, j, k) times y_j y_k."""
    n = len(linear)
    full = np.full((n, n, n), mpf(0))
    for (i, j, k), value in products.items():
        full[i, j, k] += value / 2
        full[i, k, j] += value / 2
    return Quadratic(np.full(n, mpf(0)), np.array(linear), full)
