"""The three problems of the order tests in 50-digit numbers, with exact solutions."""

from __future__ import annotations

from typing import Any

import gmpy2
import mpmath
import numpy as np
from gmpy2 import mpfr

from tests.integrate.extended import DIGITS, Precise, long_numbers

G = "13.75037163604074565"
with long_numbers():
    GRAVITY = mpfr(G)


def academic_f(t: Any, y: Any) -> Any:
    return [y[0], y[0] - y[1]]


def academic_g(t: Any, y: Any) -> Any:
    return [y[0] - y[1]]


def academic_jac(t: Any, y: Any) -> Any:
    return [[1, -1]]


def selector_f(t: Any, y: Any) -> Any:
    return [y[1], -gmpy2.sin(t) * y[2], y[0] ** 2 + y[1] ** 2 - 1]


def selector_g(t: Any, y: Any) -> Any:
    return [y[0] ** 2 + y[1] ** 2 - 1, y[0] * y[1] - gmpy2.sin(t) * y[1] * y[2]]


def selector_jac(t: Any, y: Any) -> Any:
    s = gmpy2.sin(t)
    return [[2 * y[0], 2 * y[1], 0], [y[1], y[0] - s * y[2], -s * y[1]]]


def pendulum_f(t: Any, y: Any) -> Any:
    return [y[2], y[3], -2 * y[0] * y[4], -2 * y[1] * y[4] - GRAVITY, y[0] ** 2 + y[1] ** 2 - 1]


def pendulum_g(t: Any, y: Any) -> Any:
    x, z, v, w, lam = y
    return [
        x * x + z * z - 1,
        2 * x * v + 2 * z * w,
        2 * v * v + 2 * w * w - 4 * (x * x + z * z) * lam - 2 * GRAVITY * z,
    ]


def pendulum_jac(t: Any, y: Any) -> Any:
    x, z, v, w, lam = y
    third = [-8 * x * lam, -8 * z * lam - 2 * GRAVITY, 4 * v, 4 * w, -4 * (x * x + z * z)]
    return [[2 * x, 2 * z, 0, 0, 0], [2 * v, 2 * w, 2 * x, 2 * z, 0], third]


def pendulum_exact(t: Any) -> list[Any]:
    """Angle from the vertical with sin(theta/2) = -k cd(omega t), k^2 = 1/2."""
    gravity, k = mpmath.mpf(G), mpmath.sqrt(mpmath.mpf(1) / 2)
    omega = mpmath.sqrt(gravity)
    sn, cn, dn = (mpmath.ellipfun(name, omega * t, m=mpmath.mpf(1) / 2) for name in ("sn", "cn", "dn"))
    theta, rate = 2 * mpmath.asin(-k * cn / dn), 2 * k * omega * k * sn / dn
    x, z = mpmath.sin(theta), -mpmath.cos(theta)
    v, w = -z * rate, x * rate
    return [x, z, v, w, (v * v + w * w - gravity * z) / 2]


# Short, so that errors behave as their first terms after a few hundred steps. Not to 3 pi/8 as in the thesis:
# on an interval symmetric about the change of selection odd orders cancel at the end.
with long_numbers():
    SELECTOR_SPAN = tuple(mpmath.nstr(mpmath.mpf(part) * mpmath.pi, DIGITS) for part in ("0.22", "0.3"))
PENDULUM_SPAN = ("0.28", "0.7")  # through the lowest point, with changes of the selection on both sides of it
ACADEMIC = Precise(
    "academic",
    np.diag([1.0, 0.0]),
    academic_f,
    academic_g,
    academic_jac,
    1,
    ("0", "1"),
    lambda t: [mpmath.exp(t)] * 2,
)
SELECTOR = Precise(
    "selector_change", np.diag([1.0, 1.0, 0.0]), selector_f, selector_g, selector_jac, 2, SELECTOR_SPAN,
    lambda t: [mpmath.sin(t), mpmath.cos(t), mpmath.mpf(1)],
)  # fmt: skip
PENDULUM = Precise(
    "pendulum",
    np.diag([1.0, 1.0, 1.0, 1.0, 0.0]),
    pendulum_f,
    pendulum_g,
    pendulum_jac,
    3,
    PENDULUM_SPAN,
    pendulum_exact,
)
