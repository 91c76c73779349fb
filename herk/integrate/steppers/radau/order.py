"""Which Radau IIA method is in force: its numbers, its tolerances, and when another one takes its place.

As in the code RADAU of Hairer and Wanner (J. Comput. Appl. Math. 111, 1999) the rate of convergence of
Newton's iteration decides: a small one means that steps are short for this order.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.coefficients import TABLES
from herk.integrate.steppers.radau.layout import EPS, Radau
from herk.integrate.steppers.radau.newton import mixed
from herk.integrate.steppers.radau.polynomial import weight
from herk.integrate.steps import Loop
from herk.jit.state import Floats, view

FEWEST, MORE = 3, 2  # stages, and how many more the next method has
ITERATIONS, FURTHER, WITH_FIXED_STEPS = 10, 2.5, 60
EXACT = 1e-11  # tolerance of Newton with fixed steps, where only the error of the method should show
QUICK, SLOW = 0.01, 0.8  # rates of convergence that ask for a higher, for a lower order
EVEN_FROM, EVEN_TO = 0.8, 1.2  # change of the step with which the order may rise
PAUSE = 10  # steps before it rises again


def rows_of(fewest: int, most: int) -> list[float]:
    """Return the numbers of all methods from `fewest` to `most` stages, one behind the other."""
    chosen = [TABLES[s] for s in range(fewest, most + 1, MORE)]
    return [value for table in chosen for part in table for value in part]


def inner_rtol(rtol: float, s: int, fixed: int) -> float:
    """Return what takes the place of rtol inside steps, since the estimate has a lower order than the method.

    Hairer and Wanner: 0.1 rtol^((s + 1)/(2 s)).
    """
    return EXACT if fixed else 0.1 * rtol ** ((s + 1.0) / (2.0 * s))


def newton_tolerance(rtol: float, s: int, noise: float, fixed: int) -> float:
    """Return the tolerance of Newton's iteration beside that of errors, `rtol` being the inner one."""
    return 0.01 if fixed else max(2.0 * EPS * noise / rtol, min(0.03, rtol ** (2.0 * s / (s + 1.0) - 1.0)))


def most_iterations(s: int, fixed: int) -> int:
    """Return how often Newton may iterate."""
    return WITH_FIXED_STEPS if fixed else ITERATIONS + int(FURTHER * (s - FEWEST))


def root(x: float, s: int) -> float:
    """Return the root of order s + 1: two square roots are quicker than a power."""
    return (x**0.5) ** 0.5 if s == FEWEST else x ** (1.0 / (s + 1.0))


def copied(source: Floats, place: int, size: int, out: Floats) -> int:
    """Copy `size` numbers; return the place behind them."""
    for k in range(size):
        out[k] = source[place + k]
    return place + size


def enter(s: int, own: Radau) -> None:
    """Put the method with s stages in force."""
    place, other = 0, own.fewest
    while other != s:
        place += 2 * other + 3 * other * other
        other += MORE
    own.s, own.factors_valid, own.since, own.convergence = s, 0, 0, 1.0
    place = copied(own.tables, place, s, own.nodes)
    place = copied(own.tables, place, s * s, own.inverse)
    place = copied(own.tables, place, s, own.values)
    place = copied(own.tables, place, s * s, own.basis)
    copied(own.tables, place, s * s, own.back)
    for i in range(s):
        under, slope = own.nodes[i], 1.0
        for k in range(s):
            if k != i:
                under *= own.nodes[i] - own.nodes[k]
                slope *= -own.nodes[k]
        own.under[i] = 1.0 / under
        own.first_slope[i] = slope / under
    own.rtol = inner_rtol(own.rtol_asked, s, own.fixed)
    own.noise = 0.0
    for i in range(s):
        row = 0.0
        for k in range(s):
            row += abs(own.back[i * s + k])
        own.noise = max(own.noise, row)
    own.newton_tolerance = newton_tolerance(own.rtol, s, own.noise, own.fixed)
    own.most_iterations = most_iterations(s, own.fixed)
    for j in range(own.n):
        own.atol[j] = own.rtol * own.floor[j]


def control(loop: Loop, own: Radau) -> None:
    """Choose the order of the next step after an accepted one of length h; h_old is that before it."""
    s, change = own.s, own.h / own.h_old
    even = own.h_old != 0.0 and change > EVEN_FROM and change < EVEN_TO
    own.since += 1
    wanted = s
    if own.iterations > 1 and own.theta <= QUICK and even and own.since > PAUSE:
        wanted = min(s + MORE, own.most_stages)
    if own.theta >= SLOW or own.failed:
        wanted = max(s - MORE, own.fewest)
    own.failed = 0
    if wanted != s:
        exchange(wanted, own)
        loop.slot = (wanted - FEWEST) // MORE


def exchange(s: int, own: Radau) -> None:
    """Go over to s stages; the polynomial of the last step is kept by its values at the new nodes."""
    n, old, z = own.n, own.old, own.z
    for i in range(s):
        x = node(s, i, own)
        for k in range(own.s):
            own.lift[k] = weight(x, k, own)
        mixed(own.lift, 0, old, view(z, i * n, n), 1.0, own)
    for k in range(s * n):
        old[k] = z[k]
    enter(s, own)


def node(s: int, i: int, own: Radau) -> float:
    """Return a node of the method with s stages."""
    place, other = 0, own.fewest
    while other != s:
        place += 2 * other + 3 * other * other
        other += MORE
    return own.tables[place + i]
