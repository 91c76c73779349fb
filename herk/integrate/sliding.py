"""Where a run stays on a switch: at rest from the start, or sliding, because the equations jump there."""

from __future__ import annotations

import numpy as np

from herk.core import HerkError, Switches
from herk.core.dae import Array
from herk.integrate.options import Request
from herk.model.evaluate import Linearisation, linearise
from herk.model.large import rate_of

JUMP = 1e-6  # of E, f or g, beside their sizes
SHORT = 1e-6  # of the span that is left: a step in which nothing happens but what happens at once
STILL = 1e-14  # the value of a switch that does not move
LATEST, OFTEN = 64, 0.25  # points that are looked at, and the part of them at which a switch changes sides


def jumps(switches: Switches, which: int, t: float, y: Array) -> bool:
    """Tell whether the equations differ on both sides of this switch; yes where one side is unknown."""
    modes = switches.modes(t, y)
    sides = []
    for mode in (0.0, 1.0):
        modes[which] = mode
        try:
            with np.errstate(all="ignore"):
                here = linearise(switches.dae, t, np.concatenate([y, modes]))
        except HerkError:
            return True
        sides.append(here)
    low, high = sides
    pairs = [(low.E, high.E), (low.f, high.f), (low.g, high.g)]
    top = max(abs(one).max() for one, _ in pairs if min(one.shape))
    beyond = [abs(other - one) - JUMP * (abs(other) + abs(one)) for one, other in pairs]
    if low.sparse:
        beyond[0] = beyond[0].data
    return any(bool((each > JUMP * top).any()) for each in beyond)


def slope_at(here: Linearisation) -> Array | None:
    """Return y'; None where it is not finite."""
    if here.sparse:
        try:
            slope = rate_of(here)
        except RuntimeError:  # singular
            return None
        return slope if np.isfinite(slope).all() else None
    rows, right = np.vstack([here.E, here.jac]), np.concatenate([here.f, -here.g_t])
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return None
    return np.asarray(np.linalg.lstsq(rows, right, rcond=None)[0])


def careful_step(
    asked: Request, switches: Switches | None, passed: tuple[int, float] | None, t: float, y: Array
) -> float | None:
    """Return a step short enough to see it if the equations behind a switch lead back; None if they do not.

    In a long one the solution may be led back and come again, and at its end nothing would tell.
    """
    if switches is None or passed is None:
        return None
    which, mode = passed
    modes, h = switches.modes(t, y), SHORT * (asked.t1 - t)
    modes[which] = mode
    try:
        with np.errstate(all="ignore"):
            here = linearise(switches.dae, t, np.concatenate([y, modes]), asked.t1)
    except HerkError:
        return None
    slope = slope_at(here)
    if slope is None:
        return None
    ahead = switches.events[which](t + h, y + h * slope[: y.size])
    return abs(h) if (ahead > 0.0) != (mode > 0.5) else None


def at_rest(asked: Request, switches: Switches) -> bool:
    """Tell whether the run begins on a switch, and the equations as written leave it there."""
    if None in asked.y0:
        return False
    t, y = asked.t0, np.array(asked.y0, dtype=float)
    on = [event for event in switches.events if event(t, y) == 0.0]
    if not on:
        return False
    try:
        here = linearise(asked.dae, t, y, asked.t1)
    except HerkError:
        return False
    slope, h = slope_at(here), 1e-6 * (asked.t1 - t)
    if slope is None:
        return False
    return any(abs(event(t + h, y + h * slope)) <= STILL for event in on)


def slid_along(switches: Switches, t: Array, y: Array) -> object | None:
    """Return the switch around which the last points of a run hop while the equations jump; None if none."""
    t, y = t[-LATEST:], y[-LATEST:]
    for which, event in enumerate(switches.events):
        sides = np.array([event(float(time), state) > 0.0 for time, state in zip(t, y, strict=True)])
        hops = np.count_nonzero(sides[1:] != sides[:-1])
        if hops > OFTEN * LATEST and jumps(switches, which, float(t[-1]), y[-1]):
            return event
    return None


def stuck(t: float, segments: int, event: object | None) -> str:
    """Return why a run in segments does not get on: along which switch it slides, if that is why."""
    if event is None:
        return f"The run stopped at t = {t!r}: it was begun anew {segments} times and does not get on."
    where = getattr(event, "label", "a switch")
    return (
        f"The run stopped at t = {t!r}: the solution slides along {where} = 0, and the"
        " equations push it back from both sides. Write what holds there, such as rest, as equations, or end"
        " the run before."
    )


def ever_faster(t: float) -> str:
    """Return why a run does not get on where events pile up."""
    return f"Events with a reset come ever faster before t = {t!r}: the run cannot pass them."
