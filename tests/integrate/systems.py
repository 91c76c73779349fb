"""Small DAEs with exact solutions, as users write them: callables in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, exp, pi, sin

import numpy as np
from scipy.special import ellipj

import herk

G = 13.75037163604074565  # period of the pendulum from the horizontal: 2 s


@dataclass(frozen=True)
class System:
    """A DAE with its span and its exact solution."""

    name: str
    dae: herk.Dae
    t_span: tuple[float, float]
    exact: Callable[[float], np.ndarray]

    @property
    def y0(self) -> np.ndarray:
        return self.exact(self.t_span[0])


def academic_f(t, y):
    return np.array([y[0], y[0] - y[1]])


def academic_g(t, y):
    return np.array([y[0] - y[1]])


def selector_f(t, y):
    return np.array([y[1], -sin(t) * y[2], y[0] ** 2 + y[1] ** 2 - 1.0])


def selector_g(t, y):
    return np.array([y[0] ** 2 + y[1] ** 2 - 1.0, y[0] * y[1] - sin(t) * y[1] * y[2]])


def selector_jac(t, y):
    return np.array([[2 * y[0], 2 * y[1], 0.0], [y[1], y[0] - sin(t) * y[2], -sin(t) * y[1]]])


def pendulum_f(t, y):
    return np.array([y[2], y[3], -2 * y[0] * y[4], -2 * y[1] * y[4] - G, y[0] ** 2 + y[1] ** 2 - 1.0])


def pendulum_g(t, y):
    x, z, v, w, lam = y
    return np.array(
        [
            x * x + z * z - 1.0,
            2 * x * v + 2 * z * w,
            2 * v * v + 2 * w * w - 4 * (x * x + z * z) * lam - 2 * G * z,
        ]
    )


def pendulum_jac(t, y):
    x, z, v, w, lam = y
    return np.array(
        [
            [2 * x, 2 * z, 0.0, 0.0, 0.0],
            [2 * v, 2 * w, 2 * x, 2 * z, 0.0],
            [-8 * x * lam, -8 * z * lam - 2 * G, 4 * v, 4 * w, -4 * (x * x + z * z)],
        ]
    )


def no_time_derivative(t, y):
    return np.zeros(3)


def pendulum_exact(t: float) -> np.ndarray:
    """Angle from the vertical with sin(theta/2) = -k cd(omega t), k^2 = 1/2."""
    omega = np.sqrt(G)
    sn, cn, dn, _ = ellipj(omega * t, 0.5)
    k = np.sqrt(0.5)
    theta = 2 * np.arcsin(-k * cn / dn)
    rate = 2 * k * omega * np.sqrt(0.5) * sn / dn
    x, z, v, w = np.sin(theta), -np.cos(theta), np.cos(theta) * rate, np.sin(theta) * rate
    return np.array([x, z, v, w, (v * v + w * w - G * z) / 2])


ACADEMIC = System(
    "academic",
    herk.Dae(E=np.diag([1.0, 0.0]), f=academic_f, g=academic_g, n=2, m=1),
    (0.0, 1.0),
    lambda t: np.array([exp(t), exp(t)]),
)
SELECTOR = System(
    "selector_change",
    herk.Dae(E=np.diag([1.0, 1.0, 0.0]), f=selector_f, g=selector_g, n=3, m=2, jac_g=selector_jac),
    (pi / 8, 3 * pi / 8),
    lambda t: np.array([sin(t), cos(t), 1.0]),
)
PENDULUM = System(
    "pendulum",
    herk.Dae(
        E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]),
        f=pendulum_f,
        g=pendulum_g,
        n=5,
        m=3,
        jac_g=pendulum_jac,
        g_t=no_time_derivative,
    ),
    (0.0, 2.0),
    pendulum_exact,
)


class Plain:
    """A callable that no compiler reads."""

    def __init__(self, function) -> None:
        self.function = getattr(function, "py_func", function)

    def __call__(self, t, y):
        return self.function(t, y)


def called_back(dae: herk.Dae, yes: bool = True) -> herk.Dae:
    """Return the DAE with functions that compiled code has to call back into Python for, or as it is."""
    if not yes:
        return dae
    names = [name for name in ("E", "f", "g", "jac_g", "g_t") if callable(getattr(dae, name))]
    return replace(dae, generated=None, **{name: Plain(getattr(dae, name)) for name in names})
