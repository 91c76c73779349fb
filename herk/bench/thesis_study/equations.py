"""The equations of Chapter 4 exactly as the thesis and its program write them.

Scaling and order of operations decide the last digits.
"""

from __future__ import annotations

import math

import numpy as np

from herk.jit.compiled import compiled
from herk.thesis.memory import FUNCTION

PRINTED_G = 13.7503716373294544
WIND_G = 9.78
CHAIN_C = 1 / 6


@compiled(FUNCTION)
def nothing(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Stand where a derivative is not given."""
    out[:] = np.nan


@compiled(FUNCTION)
def academic_f(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Section 4.2.3."""
    out[0] = x[0]
    out[1] = x[0] - x[1]


@compiled(FUNCTION)
def academic_g(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Section 4.2.3."""
    out[0] = x[0] - x[1]


@compiled(FUNCTION)
def selector_f(t, x, out):  # type: ignore[no-untyped-def]
    """Equation (4.1a)."""
    out[0] = x[1]
    out[1] = -math.sin(t) * x[2]
    out[2] = x[0] ** 2 + x[1] ** 2 - 1


@compiled(FUNCTION)
def selector_g(t, x, out):  # type: ignore[no-untyped-def]
    """Equation (4.1b), the second row doubled as in the program."""
    out[0] = x[0] ** 2 + x[1] ** 2 - 1
    out[1] = 2 * x[0] * x[1] - 2 * math.sin(t) * x[1] * x[2]


@compiled(FUNCTION)
def selector_jac(t, x, out):  # type: ignore[no-untyped-def]
    """Equation (4.3), the second row doubled."""
    s = math.sin(t)
    out[0], out[1], out[2] = 2 * x[0], 2 * x[1], 0.0
    out[3], out[4], out[5] = 2 * x[1], 2 * x[0] - 2 * s * x[2], -2 * s * x[1]


@compiled(FUNCTION)
def pendulum_f(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """System (4.5), m = l = 1, g as printed."""
    out[0], out[1] = x[2], x[3]
    out[2] = -2 * x[0] * x[4]
    out[3] = -2 * x[1] * x[4] - PRINTED_G
    out[4] = x[0] ** 2 + x[1] ** 2 - 1


@compiled(FUNCTION)
def pendulum_g(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """System (4.5)."""
    out[0] = x[0] ** 2 + x[1] ** 2 - 1
    out[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3]
    out[2] = 2 * x[2] ** 2 + 2 * x[3] ** 2 - 4 * (x[0] ** 2 + x[1] ** 2) * x[4] - 2 * PRINTED_G * x[1]


@compiled(FUNCTION)
def drifting_g(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """System (4.6), divided by two as in the program: tol acts on the residual, so the scaling counts."""
    out[0] = x[2] ** 2 + x[3] ** 2 - 2 * (x[0] ** 2 + x[1] ** 2) * x[4] - PRINTED_G * x[1]


@compiled(FUNCTION)
def drifting_g_printed(t, x, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """System (4.6) in the scaling that is printed."""
    out[0] = 2 * x[2] ** 2 + 2 * x[3] ** 2 - 4 * (x[0] ** 2 + x[1] ** 2) * x[4] - 2 * PRINTED_G * x[1]


@compiled(FUNCTION)
def wind_f(t, x, out):  # type: ignore[no-untyped-def]
    """System (4.7), m = 2."""
    length = 0.5 + 0.03 * (50 - t)
    out[0], out[1] = x[2], x[3]
    out[2] = -2 * x[0] * x[4] + 2 * (1 - 0.04 * t)
    out[3] = -2 * x[1] * x[4] - 2 * WIND_G
    out[4] = x[0] ** 2 + x[1] ** 2 - length**2


@compiled(FUNCTION)
def wind_g_printed(t, x, out):  # type: ignore[no-untyped-def]
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


@compiled(FUNCTION)
def wind_g_corrected(t, x, out):  # type: ignore[no-untyped-def]
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


@compiled(FUNCTION)
def chain_f(t, x, out):  # type: ignore[no-untyped-def]
    """System (4.8), m = 1."""
    out[0], out[1], out[2] = x[3], x[4], x[5]
    out[3] = x[6] - CHAIN_C * (x[0] - x[1])
    out[4] = CHAIN_C * (x[0] - x[1]) - CHAIN_C * (x[1] - x[2])
    out[5] = x[6] + CHAIN_C * (x[1] - x[2])
    out[6] = x[1] - math.sin(t)


@compiled(FUNCTION)
def chain_g(t, x, out):  # type: ignore[no-untyped-def]
    """System (4.8)."""
    s, k = math.sin(t), math.cos(t)
    out[0] = x[1] - s
    out[1] = x[4] - k
    out[2] = CHAIN_C * (x[0] - x[1]) - CHAIN_C * (x[1] - x[2]) + s
    out[3] = CHAIN_C * (x[3] - x[4]) - CHAIN_C * (x[4] - x[5]) + k
    out[4] = CHAIN_C * (-3 * CHAIN_C * (x[0] - x[1]) + 3 * CHAIN_C * (x[1] - x[2]) + 2 * x[6]) - s


@compiled(FUNCTION)
def circuit_f(t, x, out):  # type: ignore[no-untyped-def]
    """System (2.3)."""
    out[0] = x[2] + x[4]
    out[1] = x[3]
    out[2] = x[2] - math.sin(100 * t)
    out[3] = x[0] - x[2] + x[3]
    out[4] = x[1] - x[3]


@compiled(FUNCTION)
def circuit_g(t, x, out):  # type: ignore[no-untyped-def]
    """Section 4.6."""
    out[0] = x[2] - math.sin(100 * t)
    out[1] = x[0] - x[2] + x[3]
    out[2] = x[1] - x[3]
    out[3] = 2 * x[2] + x[3] + 2 * x[4] + 100 * math.cos(100 * t)


@compiled(FUNCTION)
def akzo_f(t, y, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Section 4.7."""
    root = math.sqrt(y[1])
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


@compiled(FUNCTION)
def akzo_g(t, y, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Section 4.7."""
    out[0] = 115.83 * y[0] * y[3] - y[5]
