"""Radau5 on a square form as the loop calls it: begin, try a step, accept it.

Newton's iteration, error estimate and controller are those of `herk.integrate.steppers.radau`; what is added
are the weights of unknowns of higher index, the collocation polynomial at output times, and projection.
"""

from __future__ import annotations

from baselines.irk.projection import Projection, project
from baselines.irk.radau5_layout import Direct
from herk.integrate.steppers.radau.equations import implicit
from herk.integrate.steppers.radau.error import estimate
from herk.integrate.steppers.radau.layout import NONFINITE, OK, Radau, function_at
from herk.integrate.steppers.radau.newton import factored, mixed, newton, predict
from herk.integrate.steppers.radau.order import enter
from herk.integrate.steppers.radau.polynomial import weight
from herk.integrate.steppers.radau.stepper import propose
from herk.integrate.steps import INFINITE, RUNNING, Loop
from herk.jit.program import Program
from herk.jit.state import view


def begin(loop: Loop) -> int:
    """Evaluate what the first step needs."""
    own = Radau.at(Direct.at(loop.own).radau)
    if not own.begun:
        own.begun = 1
        own.first = 1
        own.ceiling = INFINITE  # steps grow as the error allows
        evaluate_here(loop.t, own)
    return RUNNING


def evaluate_here(t: float, own: Radau) -> None:
    """Evaluate f at the current point, -F(t, y, 0), and E where it is not constant."""
    for j in range(own.n):
        own.rate[j] = 0.0
    implicit(t, own.y, own.rate, own.f, own)
    for j in range(own.n):
        own.f[j] = -own.f[j]
    if own.have_e:
        function_at(own.at_e)(t, own.y, own.parameters, own.e_here)


def weigh(h: float, direct: Direct, own: Radau) -> None:
    """Set the weights of the norm; an error of an unknown of index k counts h^(k-1) times only."""
    for j in range(own.n):
        scale = own.atol[j] + own.rtol * abs(own.y[j])
        for _ in range(1, direct.index[j]):
            scale /= abs(h)
        own.scale[j] = scale
        own.per[j] = 1.0 / scale


def try_step(loop: Loop) -> int:
    """Solve the stages, estimate the error, propose the next step; a failure renews an old Jacobian."""
    direct = Direct.at(loop.own)
    own = Radau.at(direct.radau)
    own.h, own.shorten = loop.h_tried, 0.5
    weigh(own.h, direct, own)
    status = factored(loop.t, own)
    if status == OK:
        predict(own)
        status = newton(loop.t, own)
    if status == OK:
        loop.error = estimate(loop, own)
        if not loop.error < 1e300:
            status = NONFINITE
            own.shorten = 0.5
    if status == OK:
        propose(loop, own)
    else:
        loop.proposed = own.shorten * loop.h_tried
    if (status != OK or loop.error > 1.0) and not own.fresh:
        own.jacobian_valid = 0
    return status


def accept(loop: Loop) -> int:
    """Go to the new point: its z', the stages kept for prediction and output."""
    direct = Direct.at(loop.own)
    own = Radau.at(direct.radau)
    n, h, y, z, old = own.n, own.h, own.y, own.z, own.old
    mixed(own.inverse, 6, z, own.slope, 1.0 / h, own)
    for j in range(n):
        direct.before[j] = y[j]
        y[j] += z[2 * n + j]
    for k in range(3 * n):
        old[k] = z[k]
    own.h_old = h
    own.error_old = max(1e-2, loop.error)
    own.first = 0
    own.fresh = 0
    if not own.keep:
        own.jacobian_valid = 0
    if direct.projection != 0:
        project(loop.t, y, own.slope, Projection.at(direct.projection))
    if direct.wanted:
        serve(loop.t, direct, own)
    if loop.t != loop.t_end:
        evaluate_here(loop.t, own)
    return RUNNING


def serve(t: float, direct: Direct, own: Radau) -> None:
    """Write the collocation polynomial at the wanted times of this step, projected if the steps are."""
    n, h, old, before, times = own.n, own.h, own.old, direct.before, direct.times
    while direct.served < times.size and (t - times[direct.served]) * h >= 0.0:
        k = direct.served
        s = 1.0 + (times[k] - t) / h
        a, b, c = weight(s, 0, own), weight(s, 1, own), weight(s, 2, own)
        value = view(direct.values, k * n, n)
        for j in range(n):
            inside = before[j] + a * old[j] + b * old[n + j] + c * old[2 * n + j]
            value[j] = own.y[j] if times[k] == t else inside
        if direct.projection != 0 and times[k] != t:
            project(times[k], value, own.slope, Projection.at(direct.projection))
        direct.served = k + 1


PROGRAM = Program(begin, try_step, accept, enter)
