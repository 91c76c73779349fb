"""The equations of Chapter 4 exactly as the thesis and its program write them.

Scaling and order of operations decide the last digits. They are written in the language of
compiled code; `par`, where parameters of a model would come, is not used.
"""

from __future__ import annotations

from math import cos, nan, sin, sqrt

from herk.jit.state import Floats

PRINTED_G = 13.7503716373294544
WIND_G = 9.78
CHAIN_C = 1 / 6


def nothing(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Stand where a derivative is not given."""
    for i in range(out.size):
        out[i] = nan


def academic_f(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Section 4.2.3."""
    out[0] = x[0]
    out[1] = x[0] - x[1]


def academic_g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Section 4.2.3."""
    out[0] = x[0] - x[1]


def selector_f(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Equation (4.1a)."""
    out[0] = x[1]
    out[1] = -sin(t) * x[2]
    out[2] = x[0] ** 2 + x[1] ** 2 - 1


def selector_g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Equation (4.1b), the second row doubled as in the program."""
    out[0] = x[0] ** 2 + x[1] ** 2 - 1
    out[1] = 2 * x[0] * x[1] - 2 * sin(t) * x[1] * x[2]


def selector_jac(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Equation (4.3), the second row doubled."""
    s = sin(t)
    out[0], out[1], out[2] = 2 * x[0], 2 * x[1], 0.0
    out[3], out[4], out[5] = 2 * x[1], 2 * x[0] - 2 * s * x[2], -2 * s * x[1]


def pendulum_f(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (4.5), m = l = 1, g as printed."""
    out[0], out[1] = x[2], x[3]
    out[2] = -2 * x[0] * x[4]
    out[3] = -2 * x[1] * x[4] - PRINTED_G
    out[4] = x[0] ** 2 + x[1] ** 2 - 1


def pendulum_g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (4.5)."""
    out[0] = x[0] ** 2 + x[1] ** 2 - 1
    out[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3]
    out[2] = 2 * x[2] ** 2 + 2 * x[3] ** 2 - 4 * (x[0] ** 2 + x[1] ** 2) * x[4] - 2 * PRINTED_G * x[1]


def drifting_g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (4.6), divided by two as in the program: tol acts on the residual, so the scaling counts."""
    out[0] = x[2] ** 2 + x[3] ** 2 - 2 * (x[0] ** 2 + x[1] ** 2) * x[4] - PRINTED_G * x[1]


def wind_f(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (4.7), m = 2."""
    length = 0.5 + 0.03 * (50 - t)
    out[0], out[1] = x[2], x[3]
    out[2] = -2 * x[0] * x[4] + 2 * (1 - 0.04 * t)
    out[3] = -2 * x[1] * x[4] - 2 * WIND_G
    out[4] = x[0] ** 2 + x[1] ** 2 - length**2


def wind_g_printed(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Give the constraints of Section 4.4 as printed, without the derivatives of the length."""
    length = 0.5 + 0.03 * (50 - t)
    out[0] = x[0] ** 2 + x[1] ** 2 - length**2
    out[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3]
    out[2] = (
        2 * x[2] ** 2
        + 2 * x[3] ** 2
        + 2 * x[0] * (1 - 0.04 * t)
        - 2 * (x[0] ** 2 + x[1] ** 2) * x[4]
        - 2 * WIND_G * x[1]
    )


def wind_g_corrected(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Give the constraints of Section 4.4 with l' = -0.03 and l'' = 0."""
    length = 0.5 + 0.03 * (50 - t)
    out[0] = x[0] ** 2 + x[1] ** 2 - length**2
    out[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3] + 0.06 * length
    third = (
        2 * x[2] ** 2
        + 2 * x[3] ** 2
        + 2 * x[0] * (1 - 0.04 * t)
        - 2 * (x[0] ** 2 + x[1] ** 2) * x[4]
        - 2 * WIND_G * x[1]
    )
    out[2] = third - 2 * 0.03**2


def chain_f(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (4.8), m = 1."""
    out[0], out[1], out[2] = x[3], x[4], x[5]
    out[3] = x[6] - CHAIN_C * (x[0] - x[1])
    out[4] = CHAIN_C * (x[0] - x[1]) - CHAIN_C * (x[1] - x[2])
    out[5] = x[6] + CHAIN_C * (x[1] - x[2])
    out[6] = x[1] - sin(t)


def chain_g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (4.8)."""
    s, k = sin(t), cos(t)
    out[0] = x[1] - s
    out[1] = x[4] - k
    out[2] = CHAIN_C * (x[0] - x[1]) - CHAIN_C * (x[1] - x[2]) + s
    out[3] = CHAIN_C * (x[3] - x[4]) - CHAIN_C * (x[4] - x[5]) + k
    out[4] = CHAIN_C * (-3 * CHAIN_C * (x[0] - x[1]) + 3 * CHAIN_C * (x[1] - x[2]) + 2 * x[6]) - s


def circuit_f(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """System (2.3)."""
    out[0] = x[2] + x[4]
    out[1] = x[3]
    out[2] = x[2] - sin(100 * t)
    out[3] = x[0] - x[2] + x[3]
    out[4] = x[1] - x[3]


def circuit_g(t: float, x: Floats, par: Floats, out: Floats) -> None:
    """Section 4.6."""
    out[0] = x[2] - sin(100 * t)
    out[1] = x[0] - x[2] + x[3]
    out[2] = x[1] - x[3]
    out[3] = 2 * x[2] + x[3] + 2 * x[4] + 100 * cos(100 * t)


def akzo_f(t: float, y: Floats, par: Floats, out: Floats) -> None:
    """Section 4.7."""
    root = sqrt(y[1])
    r1 = 18.7 * y[0] ** 4 * root
    r2 = 0.58 * y[2] * y[3]
    r3 = 0.58 * y[0] * y[4] / 34.4
    r4 = 0.09 * y[0] * y[3] ** 2
    r5 = 0.42 * y[5] ** 2 * root
    out[0] = -2 * r1 + r2 - r3 - r4
    out[1] = -0.5 * r1 - r4 - 0.5 * r5 + 3.3 * (0.9 / 737 - y[1])
    out[2] = r1 - r2 + r3
    out[3] = -r2 + r3 - 2 * r4
    out[4] = r2 - r3 + r5
    out[5] = 115.83 * y[0] * y[3] - y[5]


def akzo_g(t: float, y: Floats, par: Floats, out: Floats) -> None:
    """Section 4.7."""
    out[0] = 115.83 * y[0] * y[3] - y[5]
