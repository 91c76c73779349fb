"""The water tube system as an ODE in long doubles: flows, one pressure and a difference.

Other pressures keep the nodes balanced.

Flows depend on differences of pressures, which are a millionth of the pressures: all others are computed
relative to the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from testset import water_tube
from testset.extended.methods import Vector
from testset.extended.system import Switches, System
from testset.extended.underlying import Long, solve

N, BUFFERS = water_tube.N, 2
BEGIN = Long(109800)
UNITS = np.array(
    [Long(10) ** 6, Long(100)]
)  # of the rise of the first pressure and of the difference: errors count as those of flows
NU, GRAVITY, RHO, LENGTH, ROUGHNESS, DIAMETER, BUFFER, CRITICAL = map(
    Long, ("1.31e-6", "9.8", "1e3", "1e3", "2e-4", "1", "200", "2300")
)
AREA = np.arctan(Long(1)) * DIAMETER**2
CAPACITY, INERTIA = BUFFER / (RHO * GRAVITY), RHO * LENGTH / AREA
LAMINAR, ROUGH, REYNOLDS = (
    32 * NU * RHO * LENGTH / (AREA * DIAMETER**2),
    RHO * LENGTH / (AREA**2 * DIAMETER),
    DIAMETER / (NU * AREA),
)
INTO = np.array(
    [
        [Long(int(node == end) - int(node == begin)) for begin, end in water_tube.TUBES]
        for node in water_tube.NODES
    ]
)
FREE, HELD = INTO[BUFFERS:], INTO[:BUFFERS]
INVERSE = solve(FREE @ FREE.T, np.eye(len(FREE), dtype=Long))


def supply(t: Vector) -> tuple[Vector, Vector]:
    """Return what flows in from outside, node by node, and its derivative, at each of the times (k,)."""
    tau, out, slope = t / 3600, np.zeros((13, len(t)), dtype=Long), np.zeros((13, len(t)), dtype=Long)
    e = np.exp(-tau)
    for node, part in ((1, 200), (13, 80)):
        row = water_tube.NODES.index(node)
        out[row], slope[row] = (1 - np.cos(e - 1)) / part, -np.sin(e - 1) * e / (3600 * Long(part))
    row = water_tube.NODES.index(10)
    out[row] = -(tau**2) * (3 * tau**2 - 92 * tau + 720) / 10**6
    slope[row] = -tau * (12 * tau**2 - 276 * tau + 1440) / (3600 * Long(10**6))
    return out, slope


def factors(flow: Vector, modes: Vector) -> Vector:
    """Return the friction factors of Colebrook's law: Newton's method for x = 1 / sqrt(factor)."""
    number = np.where(modes[:, None], REYNOLDS * abs(flow), CRITICAL)
    rough, smooth, x = 2 * ROUGHNESS / DIAMETER, Long("18.7") / number, np.full(flow.shape, Long(4))
    ten = np.log(Long(10))
    for _ in range(8):
        inner = rough + smooth * x
        x = x - (x - Long("1.74") + 2 * np.log(inner) / ten) / (1 + 2 * smooth / (ten * inner))
    return 1 / x**2


def pressures(t: Vector, y: Vector, modes: Vector) -> tuple[Vector, Vector, Vector]:
    """Return all pressures minus the first, the friction and the inflow.

    Sums of flows at nodes without a buffer must not change.
    """
    flow, held = y[:N], np.stack([0 * y[N], UNITS[1] * y[N + 1]])
    friction = np.where(modes[:, None], factors(flow, modes) * ROUGH * flow**2, LAMINAR * flow)
    inflow, change = supply(t)
    free = INVERSE @ (INERTIA * change[BUFFERS:] - FREE @ (friction + HELD.T @ held))
    return np.concatenate([held, free]), friction, inflow


def rate(t: Vector, y: Vector, modes: Vector) -> Vector:
    """Return the derivatives of 18 flows, of a pressure and of a difference."""
    p, friction, inflow = pressures(t, y, modes)
    first, second = (HELD @ y[:N] + inflow[:BUFFERS]) / CAPACITY
    return np.concatenate(
        [-(INTO.T @ p + friction) / INERTIA, [first / UNITS[0], (second - first) / UNITS[1]]]
    )


def whole(t: Any, y: Vector, modes: Vector) -> Vector:
    """Return the unknowns of the problem at one time."""
    columns = y[:, None]
    p = pressures(np.array([t]), columns, modes)[0][:, 0]
    return np.concatenate([y[:N], factors(columns[:N], modes)[:, 0], p + BEGIN + UNITS[0] * y[N]])


def excess(_: Any, y: Vector, modes: Vector) -> Vector:  # noqa: ARG001
    """Return by how much the Reynolds numbers exceed the critical one."""
    return REYNOLDS * abs(y[:N]) / CRITICAL - 1


def tubes() -> System:
    """Return the system at rest."""
    start = np.array([Long(0)] * N + [Long(0)] * BUFFERS)
    return System(rate, start, Long(61200), whole, {}, water_tube.SOURCE, Switches(N, excess))
