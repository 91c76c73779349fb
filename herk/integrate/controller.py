"""Step size: weighted norms and a PI controller."""

from __future__ import annotations

from math import exp, log

from herk.integrate.steps import Loop

EPS = 2.220446049250313e-16
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
# Weight of the previous error in the PI controller, times the exponent
# (Hairer & Wanner II, IV.2: 0.04 at order 5)
MEMORY = 0.2
# Logarithm of the least error that is remembered: smaller ones say nothing about the next
LEAST = -9.210340371976182


def next_step(loop: Loop) -> float:
    """Return the step size that follows from the error of this one; after a rejection it does not grow.

    A stepper that knows better has proposed one.
    """
    if loop.proposed != 0.0:
        return loop.proposed
    error, exponent = loop.error, loop.exponent
    factor = SAFETY
    loop.log_error = LEAST
    if not error > 1e-10:
        factor = GROW if error >= 0.0 else SHRINK
    else:
        now = log(error)
        power = -now
        if error <= 1.0:
            power = MEMORY * loop.old_log - (1.0 - 0.75 * MEMORY) * now
        loop.log_error = max(now, LEAST)
        factor = SAFETY * exp(exponent * power)
    most = 1.0 if loop.rejected > 0 and error <= 1.0 else GROW
    return loop.h_tried * min(max(factor, SHRINK), most)


def shortest(loop: Loop) -> float:
    """Return the length from which on steps are too short to go on."""
    return max(loop.h_min, 16.0 * EPS * (abs(loop.t) + 1e-3 * abs(loop.t_end - loop.t_start)))


def starting_step(h: float, d1: float, d2: float, most: float, loop: Loop) -> float:
    """Return a first step from the sizes of y' and y'' (Hairer, Norsett & Wanner, II.4), h a trial step."""
    span, largest = loop.t_end - loop.t, max(d1, d2)
    other = (0.01 / largest) ** loop.exponent if largest > 1e-15 else max(1e-6 * abs(span), 1e-3 * h)
    h = min(100.0 * h, other, most)
    if not h > 0.0:
        h = 1e-6 * most
    h = max(h, min(shortest_first(loop.t, span), most))
    return h if span > 0.0 else -h


def shortest_first(t: float, span: float) -> float:
    """Return the shortest first step; t + h must differ from t, or the run would stand still."""
    return 64.0 * EPS * (abs(t) + 1e-3 * abs(span))
