"""The error of a step: the estimate of Hairer and Wanner, and the constraints between the nodes."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import constraints, everything
from herk.integrate.steppers.radau.layout import EPS, Radau
from herk.integrate.steppers.radau.newton import collect, mixed
from herk.integrate.steppers.radau.polynomial import farthest_from_nodes, weight
from herk.integrate.steppers.radau.rows import first_entry, mass_times, terms
from herk.integrate.steppers.radau.sample import AS_EXACT
from herk.integrate.steppers.radau.settle import CANCELLED
from herk.integrate.steppers.radau.systems import solve_real
from herk.integrate.steps import Loop

PART = 0.1  # of the size of a component that may be due to rounding
DIGITS = 4  # times beside one with which its last digits are tried
JUMP = 8  # rejections in a row that shorten steps by so much that only a jump is left


def error(loop: Loop, own: Radau) -> float:
    """Return the norm of the error, 1 being what is allowed."""
    size = estimate(loop, own)
    return max(size, off_between(loop, own) / AS_EXACT) if size <= 1.0 and own.m > 0 else size


def estimate(loop: Loop, own: Radau) -> float:
    """Return the norm of the error estimate (gamma/h M + J)^-1 (S f - S E p'; 0).

    p is the collocation polynomial, at the start of the step (Hairer & Wanner II, IV.8.18, for any number of
    stages). It is tangent to the constraints, so components that they determine are estimated by what errors
    of the others do to them. It is filtered once more where stiffness may spoil it.
    """
    n, d, stage, rows = own.n, own.d, own.stage, own.rows
    mixed(own.first_slope, 0, own.z, stage, -1.0 / own.h, own)
    for k in range(n):
        own.right_1[k], own.right_2[k] = 0.0, 0.0
    for k in range(d):
        value = mass_times(rows[k], stage, own)
        own.right_2[k] = own.leveled[k] * value
        own.right_1[k] = own.leveled[k] * (value + own.f[rows[k]])
    solve_real(own.right_1, own.error, own)
    size = norm(own)
    if size < 1.0 or not (own.first or loop.rejected > 0):
        return size
    for j in range(n):
        stage[j] = own.y[j] + own.error[j]
        own.rate[j] = 0.0
    everything(loop.t, stage, own.rate, own)
    collect(own.right_1, own)
    for k in range(n):
        own.right_1[k] = own.right_2[k] - own.right_1[k]
    solve_real(own.right_1, own.error, own)
    return norm(own)


def off_between(loop: Loop, own: Radau) -> float:
    """Return how far the collocation polynomial is from the constraints where it is farthest from its nodes.

    Nothing else limits steps of components that constraints alone determine: they could cross a pole, where
    the polynomial is off by as much as they change. They are exact at the nodes, so it need not be as exact
    as steps are. A jump between values that are level, however short the step, is no pole.
    """
    x = farthest_from_nodes(own)
    stage, t = own.stage, loop.t + x * own.h
    for i in range(own.s):
        own.lift[i] = weight(x, i, own)
    mixed(own.lift, 0, own.z, stage, 1.0, own)
    for j in range(own.n):
        stage[j] += own.y[j]
    constraints(t, stage, own.g, own)
    correct(own)
    size = beside_changes(own)
    if not size > AS_EXACT:
        return size
    if loop.rejected >= JUMP and level(own):
        return 0.0
    for j in range(own.n):  # beside a pole the last digit of the time is all there is between both sides
        if not abs(own.error[j]) <= PART * (abs(own.y[j]) + own.floor[j]):
            return size
    last_digits(t, own)
    for k in range(own.m):
        own.g[k] = beyond_rounding(k, own)
    correct(own)
    return beside_changes(own)


def beside_changes(own: Radau) -> float:
    """Return the norm of `error`, its unit being the tolerance and a small part of what components change.

    With more than three stages the tolerance alone counts: Newton would suffer from longer steps. So it does
    where equations have kinks, of which the estimate of a step knows little: multipliers show them.
    """
    n, z, total, part = own.n, own.z, 0.0, own.slack if own.s == 3 else 0.0
    for j in range(n):
        low, high = 0.0, 0.0
        for i in range(own.s):
            low, high = min(low, z[i * n + j]), max(high, z[i * n + j])
        total += (own.error[j] / (own.scale[j] + part * (high - low))) ** 2
    return (total / n) ** 0.5


def level(own: Radau) -> bool:
    """Tell whether components change by no more than the tolerance before the step and among its stages."""
    n, z = own.n, own.z
    for j in range(n):
        change = abs(own.h * own.slope[j])
        for i in range(1, own.s):
            change = max(change, abs(z[i * n + j] - z[i * n - n + j]))
        if not change <= own.scale[j]:
            return False
    return True


def correct(own: Radau) -> None:
    """Write the correction of g = 0 with the real factors of the step into `error`."""
    for k in range(own.d):
        own.right_1[k] = 0.0
    for k in range(own.m):
        own.right_1[own.d + k] = -own.leveled[own.d + k] * own.g[k]
    solve_real(own.right_1, own.error, own)


def noise(t: float, own: Radau) -> float:
    """Return the norm of what the last digits of the time do to the current point by the constraints."""
    for j in range(own.n):
        own.stage[j] = own.y[j]
    constraints(t, own.stage, own.g, own)
    last_digits(t, own)
    for k in range(own.m):
        own.g[k] = own.right_2[k]
    correct(own)
    return norm(own)


def last_digits(t: float, own: Radau) -> None:
    """Write by how much each g changes with the last digits of the time: one of them may agree by chance."""
    for k in range(own.m):
        own.right_2[k] = 0.0
    for i in range(DIGITS):
        shift = 2.0 * EPS * abs(t) * (1 + i // 2)
        constraints(t + shift if i % 2 == 0 else t - shift, own.stage, own.g_moved, own)
        for k in range(own.m):
            own.right_2[k] = max(own.right_2[k], abs(own.g_moved[k] - own.g[k]))


def beyond_rounding(k: int, own: Radau) -> float:
    """Return what of g_k is neither left over from large terms nor from the last digits of the time."""
    value, size = own.g[k], terms(k, own.jacobian, first_entry(own), own.stage, own)
    rounding = 4.0 * own.right_2[k] + CANCELLED * size
    return 0.0 if abs(value) <= rounding else value


def norm(own: Radau) -> float:
    """Return the weighted root mean square of the error."""
    total = 0.0
    for j in range(own.n):
        total += (own.error[j] * own.per[j]) ** 2
    size = (total / own.n) ** 0.5
    return 1e-10 if size < 1e-10 else size
