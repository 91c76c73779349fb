"""Tolerances inside the steps of Radau: of errors, of Newton's iteration, and how often that may iterate."""

from __future__ import annotations

from herk.integrate.options import Request
from herk.integrate.steppers.radau.layout import EPS, Radau
from herk.linalg.differences import time_size

MOST_ITERATIONS, WITH_FIXED_STEPS = 10, 60
EXACT = 1e-11  # tolerance of Newton with fixed steps, where only the error of the method should show


def set_tolerances(asked: Request, state: Radau) -> None:
    """Set the tolerances.

    As in the code of Hairer and Wanner 0.1 rtol^(2/3) takes the place of rtol, and atol changes by the same
    factor, since the estimate has a lower order than the method.
    """
    fixed = asked.step is not None
    own = EXACT if fixed else 0.1 * asked.rtol ** (2.0 / 3.0)
    state.rtol, state.atol[:] = own, own / asked.rtol * asked.atol
    state.floor[:] = asked.atol / asked.rtol
    state.newton_tolerance = 0.01 if fixed else max(10 * EPS / own, min(0.03, own**0.5))
    state.most_iterations = WITH_FIXED_STEPS if fixed else MOST_ITERATIONS
    state.t_size = time_size(asked.t0, asked.t1)
    state.fixed, state.tangent = fixed, fixed
    state.t_low, state.t_high = sorted((asked.t0, asked.t1))
