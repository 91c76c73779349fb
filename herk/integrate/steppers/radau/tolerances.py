"""Tolerances inside the steps of Radau: of errors, of Newton's iteration, and how often that may iterate."""

from __future__ import annotations

from herk.integrate.options import Request
from herk.integrate.steppers.radau.layout import Radau
from herk.integrate.steppers.radau.order import inner_rtol, most_iterations, newton_tolerance
from herk.linalg.differences import time_size


def set_tolerances(asked: Request, state: Radau) -> None:
    """Set the tolerances of the method with the fewest stages, with which a run begins."""
    fixed, s = asked.step is not None, state.fewest
    own = inner_rtol(asked.rtol, s, fixed)
    state.rtol, state.rtol_asked = own, asked.rtol
    state.floor[:] = asked.atol / asked.rtol
    state.atol[:] = own * state.floor
    state.newton_tolerance = newton_tolerance(own, s, state.noise, fixed)
    state.most_iterations = most_iterations(s, fixed)
    state.t_size = time_size(asked.t0, asked.t1)
    state.fixed, state.tangent = fixed, fixed
    state.t_low, state.t_high = sorted((asked.t0, asked.t1))
