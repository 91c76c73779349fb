"""Radau as the loop calls it: begin, try a step, accept it; predictive control."""

from __future__ import annotations

from herk.integrate.controller import shortest_first
from herk.integrate.steppers.radau.branches import (
    crossed,
    farthest,
    follow_units,
    moved,
    of_elsewhere,
    turned,
)
from herk.integrate.steppers.radau.ending import undecided
from herk.integrate.steppers.radau.equations import constraints, derivative, evaluate_here
from herk.integrate.steppers.radau.error import error, noise
from herk.integrate.steppers.radau.layout import (
    BRANCH,
    NO_CONVERGENCE,
    NONFINITE,
    OFF_CONSTRAINTS,
    OK,
    OVERTURNED,
    SINGULAR,
    Radau,
    function_at,
)
from herk.integrate.steppers.radau.newton import (
    entries_missing,
    factored,
    mixed,
    newton,
    predict,
    unmoved,
    weigh,
)
from herk.integrate.steppers.radau.on_patterns import POWERS, fastest_on_patterns
from herk.integrate.steppers.radau.open_start import filled
from herk.integrate.steppers.radau.order import FEWEST, MORE, control, enter, root
from herk.integrate.steppers.radau.overturning import begin_upright, overturned
from herk.integrate.steppers.radau.parting import parted
from herk.integrate.steppers.radau.rows import column_of, row_start
from herk.integrate.steppers.radau.sample import further, repeat, sample
from herk.integrate.steppers.radau.selecting import NO_PIVOT, reconsider
from herk.integrate.steppers.radau.settle import settle
from herk.integrate.steppers.radau.slopes import slopes
from herk.integrate.steps import INFINITE, NEED_PYTHON, RUNNING, STUCK, Loop
from herk.jit.program import Program
from herk.linalg.dense import factor, level_rows, substitute

SAFETY, SHRINK, GROW = 0.9, 5.0, 0.125  # h_old / h_new lies between GROW and SHRINK
FIRST_GROW = 1e-3  # after the first step, which is short since nothing is known yet
SLOWEST = 0.4  # rate of convergence up to which steps may grow: it grows with them
BELOW, RISE = 0.8, 2.0  # part of a length with which Newton failed that is tried next, and how it rises again
KEEP_BELOW = 1e-3  # a Jacobian with which Newton converges this quickly is kept
SUSPECT = 4  # failures in a row that may be due to the selection
LOOK, CRAWL = 256, 1e-3  # steps after which their way is looked at, and what is none, in units of the time
NOISY = 0.1  # rounding of constraints, in units of the tolerance, that may hold up steps
SAME_FROM, SAME_TO = 1.0, 1.2  # a step that would grow by no more than this is kept, and its factors with it


def begin(loop: Loop) -> int:
    """Evaluate what the first step needs, and choose its length."""
    own = Radau.at(loop.own)
    if own.begun:
        return RUNNING
    own.begun = 1
    own.first = 1
    own.ceiling = INFINITE
    loop.slot = (own.s - FEWEST) // MORE
    own.h = loop.t_end - loop.t  # its sign counts
    evaluate_here(loop.t, own)
    begin_upright(loop.t, own)
    if not derivative(loop.t, own):
        loop.cause = SINGULAR
        return STUCK
    if loop.h == 0.0:
        loop.h = first_step(loop, own)
    return RUNNING


def check(loop: Loop) -> int:
    """Look at a new start: is y' determined, do the constraints hold.

    `error` tells how far y may be from them, in units of the tolerance.
    """
    own = Radau.at(loop.own)
    worst = 0.0
    if not own.general or own.at_jac_f:  # a constant E may depend on parameters
        function_at(own.at_e)(loop.t, own.y, own.parameters, own.e_here)
    evaluate_here(loop.t, own)
    if not derivative(loop.t, own):
        return STUCK
    constraints(loop.t, own.y, own.g, own)
    for k in range(own.m):
        allowed = 0.0
        for p in range(row_start(k, own), row_start(k + 1, own)):
            j = column_of(p, k, own)
            allowed += abs(own.g_y[p]) * (loop.atol[j] + loop.rtol * abs(own.y[j]))
        off = abs(own.g[k]) / allowed
        worst = off if not off <= worst else worst
    loop.error = worst
    own.nfev, own.ngev = 0, 0
    return RUNNING


def first_step(loop: Loop, own: Radau) -> float:
    """Return a step in which the unknowns change by a hundredth of their size."""
    weigh(own)
    d0, d1, span = 0.0, 0.0, loop.t_end - loop.t
    for j in range(own.n):
        d0 += (own.y[j] * own.per[j]) ** 2
        d1 += (own.slope[j] * own.per[j]) ** 2
    d0, d1 = (d0 / own.n) ** 0.5, (d1 / own.n) ** 0.5
    h = 0.01 * d0 / d1 if min(d0, d1) > 1e-5 else 1e-6 * abs(span)
    h = min(max(h, shortest_first(loop.t, span)), 1e-3 * abs(span), loop.h_max)
    return h if span > 0.0 else -h


def try_step(loop: Loop) -> int:
    """Solve the stages, estimate the error, put the new point on the constraints, propose the next step."""
    own = Radau.at(loop.own)
    own.h = loop.h_tried
    failed = loop.rejected > 0 and loop.cause != OK
    own.careful = failed and loop.rejected > 1  # a shorter step has its g_y ahead nearer
    if failed and own.ahead:
        own.jacobian_valid = 0
    reconsider(own.careful and loop.rejected >= SUSPECT, own)
    weigh(own)
    follow_units(loop.t, own)
    status = solved(loop, own)
    if status == NO_CONVERGENCE and entries_missing(own):
        return NEED_PYTHON
    if status > OK:
        return status
    if status != OK and not own.first:
        own.ceiling = BELOW * abs(own.h)
    if status == OK:
        for j in range(own.n):
            own.new[j] = own.y[j] + own.z[(own.s - 1) * own.n + j]
        loop.error = 0.0 if loop.fixed else error(loop, own)
        if not loop.error < 1e300:
            status = NONFINITE
    if status == OK and loop.error <= 1.0:
        status = on_constraints(loop, own)
    if status > OK:
        return status
    if status != OK:
        own.failed = 1
        loop.proposed = own.shorten * loop.h_tried
        return status
    propose(loop, own)
    return OK


def solved(loop: Loop, own: Radau) -> int:
    """Solve the stage equations; an old Jacobian is renewed before the step is given up."""
    for _ in range(3):
        own.shorten = 0.5
        status = factored(loop.t, own)
        if status == OK:
            predict(own)
            status = newton(loop.t, own)
        if status >= OK or (own.fresh and not (own.ahead and loop.fixed)):
            return status
        own.jacobian_valid = 0
        own.careful = loop.fixed
    return status


def on_constraints(loop: Loop, own: Radau) -> int:
    """Put the new point on the constraints; if the factors do not serve, they were too old."""
    own.shorten, status = 0.5, OK
    for attempt in range(2):
        if attempt == 1:
            own.jacobian_valid = 0
            status = solved(loop, own)
            if status != OK:
                return status
            for j in range(own.n):
                own.new[j] = own.y[j] + own.z[(own.s - 1) * own.n + j]
        if not settle(loop.target, own):
            status = OFF_CONSTRAINTS
        elif unmoved(loop.target, own):
            status = NO_CONVERGENCE
        else:
            if crossed(loop.target, own) or undecided(loop, own) or parted(loop, own):
                return BRANCH
            return OVERTURNED if overturned(loop.target, own) else OK
        if own.fresh:
            return status
    return status


def propose(loop: Loop, own: Radau) -> None:
    """Propose the length of the next step: Gustafsson's predictive controller.

    It never grows after a rejection nor to where Newton fails, and keeps a length with which Jacobian and
    factors can be kept.
    """
    h, size, most = loop.h_tried, loop.error, own.most_iterations
    own.keep = own.theta <= KEEP_BELOW and not own.always
    if loop.fixed:
        return
    safety = min(SAFETY, SAFETY * (1 + 2 * most) / (own.iterations + 2 * most))
    quotient = max(FIRST_GROW if own.first else GROW, min(SHRINK, root(size, own.s) / safety))
    if size > 1.0:
        loop.proposed = 0.1 * h if own.first else h / quotient
        return
    if not own.first:
        predicted = own.h_old / h * root(size * size / own.error_old, own.s) / SAFETY
        quotient = max(quotient, min(max(predicted, GROW), SHRINK))
    new = h / max(quotient, min(1.0, own.theta / SLOWEST))
    longest = abs(h) if loop.rejected > 0 else max(abs(h), own.ceiling)
    if abs(new) > longest:
        new = longest if h > 0.0 else -longest
    if own.keep and new / h >= SAME_FROM and new / h <= SAME_TO:
        new = h
    loop.proposed = new


def accept(loop: Loop) -> int:
    """Go to the new point: its y', f and E; the stages are kept for the next prediction."""
    own = Radau.at(loop.own)
    n, s, z, old = own.n, own.s, own.z, own.old
    for j in range(n):
        z[(s - 1) * n + j] = own.new[j] - own.y[j]
        own.y[j] = own.new[j]
    mixed(own.inverse, (s - 1) * s, z, own.slope, 1.0 / own.h, own)
    for k in range(s * n):
        old[k] = z[k]
    control(loop, own)
    own.h_old = own.h
    own.error_old = max(1e-2, loop.error)
    own.first = 0
    own.ceiling *= RISE
    own.fresh = 0
    moved(own)
    if not own.keep or turned(loop.t, own) or of_elsewhere(own):
        own.jacobian_valid = 0
    most = SAFETY * farthest(own)
    if abs(loop.h) > most:
        loop.h = most if own.h > 0.0 else -most
    own.worst_residual = max(own.worst_residual, own.residual)
    evaluate_here(loop.t, own)
    return STUCK if lost(loop, own) else RUNNING


def lost(loop: Loop, own: Radau) -> bool:
    """Tell whether steps lead nowhere since constraints, nearly singular, say less than rounding does."""
    own.since_look += 1
    if own.m == 0 or own.fixed or own.since_look < LOOK:
        return False
    way, own.since_look, own.t_look = abs(loop.t - own.t_look), 0, loop.t
    if way > CRAWL * own.t_size or not noise(loop.t, own) > NOISY:
        return False
    loop.cause = SINGULAR
    return True


def fastest(loop: Loop) -> float:
    """Return about the modulus of the fastest eigenvalue, by powers of the last Jacobian along g = 0.

    It is infinite where [S E; g_y] is singular to rounding.
    """
    own = Radau.at(loop.own)
    if own.sparse:
        return fastest_on_patterns(own)
    n, d, a, v, right = own.n, own.d, own.stacked, own.moved, own.right_1
    for k in range(d * n):
        a[k] = own.mass[k]
    for k in range(d * n, n * n):
        a[k] = own.jacobian[k]
    level_rows(a, n, own.scale, own.right_2)
    if not factor(a, 0, n, own.used) > 0.0:
        return INFINITE
    for k in range(n):
        if not abs(a[own.used[k] * n + k]) * own.scale[k] > NO_PIVOT:
            return INFINITE
        right[k] = 0.0
        v[k] = own.scale[k] * (1.0 if k % 2 == 0 else -0.7)
    found, before = 0.0, 0.0
    for _ in range(POWERS):
        for k in range(d):
            right[k] = 0.0
            for j in range(n):
                right[k] -= own.right_2[k] * own.jacobian[k * n + j] * v[j]
        substitute(a, 0, n, own.used, right, own.delta, 0)
        total = 0.0
        for j in range(n):
            total += (own.delta[j] * own.per[j]) ** 2
        size = (total / n) ** 0.5
        before, found = found, size
        for j in range(n):
            v[j] = own.delta[j] / size if size > 0.0 else 0.0
    return max(found, before)


PROGRAM = Program(begin, try_step, accept, check, sample, further, slopes, fastest, repeat, enter, filled)
