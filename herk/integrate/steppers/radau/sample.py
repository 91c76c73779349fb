"""Values between steps: the collocation polynomial of the step, solved for again, put on the constraints."""

from __future__ import annotations

from herk.integrate.steppers.radau.equations import derivative, evaluate_here
from herk.integrate.steppers.radau.layout import NO_CONVERGENCE, NONFINITE, OK, Radau
from herk.integrate.steppers.radau.newton import combine, factored, mixed, newton, weigh
from herk.integrate.steppers.radau.order import FEWEST, MORE, enter
from herk.integrate.steppers.radau.polynomial import farthest_from_nodes, weight
from herk.integrate.steppers.radau.selecting import other_sizes
from herk.integrate.steppers.radau.settle import settle
from herk.jit.state import Floats, Wholes, view

SHORT_STEPS, SHORTER = 16, 8  # of a step that cannot be repeated; how many times more if these fail, too
AS_EXACT = 3.0  # errors of the polynomial, in units of the tolerance inside steps
ROUGH = -6


def interval(t: Floats, time: float, forward: bool) -> int:
    """Return the step that contains a time, by bisection."""
    low, high = 0, t.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if (t[middle] <= time) == forward:
            low = middle
        else:
            high = middle
    return low


def renew_point(t: float, h: float, own: Radau) -> None:
    """Evaluate what a first step from the current point needs; the rows in use may be those of elsewhere."""
    own.h, own.first, own.jacobian_valid, own.selected = h, 1, 0, own.loyal
    own.sign, own.careful, own.theta, own.unseen = 0.0, 0, 0.0, 0
    for j in range(own.n):
        own.chosen[j] = own.in_run[j] if own.loyal else 0
    weigh(own)
    evaluate_here(t, own)
    derivative(t, own)


def repeat(t: float, h: float, ends: Floats, own: Radau) -> int:
    """Solve the stage equations of a step from its ends, the chord as start; its end is kept."""
    n, s, z, y = own.n, own.s, own.z, own.y
    for j in range(n):
        y[j] = ends[j]
    renew_point(t, h, own)
    for j in range(n):
        own.rate[j] = ends[n + j] - ends[j]
    own.middle = own.turning
    status = factored(t, own)
    own.middle = 0
    if status != OK:
        return status
    along(own.rate, 1.0, own)
    status = newton(t, own)
    if status != OK:
        along(own.rate, 0.0, own)
        status = newton(t, own)
    if status == OK and not own.fixed and not same_end(ends, own):
        status = NO_CONVERGENCE
    for j in range(n):
        z[(s - 1) * n + j] = ends[n + j] - ends[j]
    return status


def same_end(ends: Floats, own: Radau) -> bool:
    """Tell whether the stages found are those of the step: with poor rows they may solve other equations."""
    n, last, total = own.n, view(own.z, (own.s - 1) * own.n, own.n), 0.0
    for j in range(n):
        size = own.atol[j] + own.rtol * max(abs(ends[j]), abs(ends[n + j]))
        total += ((ends[j] + last[j] - ends[n + j]) / size) ** 2
    return (total / n) ** 0.5 <= AS_EXACT


def along(change: Floats, factor: float, own: Radau) -> None:
    """Let stages lie on a line: the start of Newton's iteration."""
    n = own.n
    for i in range(own.s):
        for j in range(n):
            own.z[i * n + j] = factor * own.nodes[i] * change[j]
    combine(own.back, own.z, own.w, 1.0, own)


def in_short_steps(time: float, t: float, h: float, ends: Floats, own: Radau) -> int:
    """Go to a time in short steps, with rows chosen by either sizes, then in shorter ones, as a run would."""
    status, parts = NO_CONVERGENCE, SHORT_STEPS
    for attempt in range(4):
        if attempt > 0:
            other_sizes(own)
        if attempt == 2:
            parts = SHORTER * SHORT_STEPS
        status = march(time, t, h, parts, ends, own)
        if status == OK:
            return OK
    return status


def march(time: float, t: float, h: float, parts: int, ends: Floats, own: Radau) -> int:
    """Go from the start of a step to a time in short steps: the whole one could not be repeated."""
    n, y, start, status = own.n, own.y, t, OK
    for j in range(n):
        y[j] = ends[j]
    for part in range(parts):
        following = t + h * (part + 1) / parts
        short = (time if abs(time - t) <= abs(following - t) else following) - start
        status = alone(start, short, own)
        if status != OK or abs(time - t) <= abs(following - t):
            return status
        for j in range(n):
            y[j] = own.new[j]
        start = following
    return status


def alone(t: float, h: float, own: Radau) -> int:
    """Make a step from the current point as if it were the first one; its end is the new point."""
    renew_point(t, h, own)
    status = factored(t, own)
    along(own.slope, h, own)
    if status == OK:
        status = newton(t, own)
    for j in range(own.n):
        own.new[j] = own.y[j] + own.z[(own.s - 1) * own.n + j]
    if status == OK and not settle(t + h, own):
        return NO_CONVERGENCE
    return status


def smooth(t: float, h: float, ends: Floats, own: Radau) -> int:
    """Repeat a step and tell whether its collocation polynomial is as exact as the step: OK or ROUGH.

    Components that follow others quickly have small errors at the ends of long steps, and nothing else says
    that a polynomial of low degree is close to them between. Half a step does. It may agree by chance, so a
    longer part is tried where constraints are far from the polynomial. Shorter steps then take its place, if
    with these rows a step as long as the whole one ends where that did.
    """
    known = apart(t, 0.5 * h, ends, own)
    status = repeat(t, h, ends, own)
    if status == OK:
        status = inside(t + 0.5 * h, t, own)
    if status != OK:
        return status
    rough, late = known and not moved_by(0, own) <= AS_EXACT, farthest_from_nodes(own) * h
    if not rough and inside(t + late, t, own) == OK and not moved_by(own.n, own) <= AS_EXACT:
        for j in range(own.n):
            own.rate[j] = own.new[j]
        known = apart(t, late, ends, own)
        for j in range(own.n):
            own.new[j] = own.rate[j]
        rough = known and not moved_by(0, own) <= AS_EXACT
        status = OK if rough else repeat(t, h, ends, own)
    if not rough:
        return status
    return ROUGH if leads_to_end(t, h, ends, own) else NO_CONVERGENCE


def apart(t: float, h: float, ends: Floats, own: Radau) -> bool:
    """Keep where a step of its own leads to from the start of a step; tell whether it leads anywhere."""
    for j in range(own.n):
        own.y[j] = ends[j]
    known = alone(t, h, own) == OK
    for j in range(own.n):
        own.apart[j] = own.new[j]
    return known


def moved_by(place: int, own: Radau) -> float:
    """Return how far the new point is from a point kept, in units of the tolerance."""
    total = 0.0
    for j in range(own.n):
        total += ((own.new[j] - own.apart[place + j]) * own.per[j]) ** 2
    return (total / own.n) ** 0.5


def leads_to_end(t: float, h: float, ends: Floats, own: Radau) -> bool:
    """Tell whether a step of its own is as exact as the one it repeats: rows may turn singular inside it."""
    n = own.n
    for j in range(n):
        own.y[j] = ends[j]
    if alone(t, h, own) != OK:
        return False
    for j in range(n):
        own.z[(own.s - 1) * n + j] = own.new[j] - ends[j]
    return same_end(ends, own)


def inside(time: float, t: float, own: Radau) -> int:
    """Put the state at a time within the repeated step into the new point."""
    n, z, x, total = own.n, own.z, (time - t) / own.h, 0.0
    for i in range(own.s):
        own.lift[i] = weight(x, i, own)
    mixed(own.lift, 0, z, own.new, 1.0, own)
    for j in range(n):
        own.new[j] += own.y[j]
        own.apart[n + j] = own.new[j]
    if not settle(time, own):
        return NO_CONVERGENCE
    for j in range(n):
        total += 0.0 * own.new[j]
    return OK if total == 0.0 else NONFINITE


def prepared(t: float, h: float, ends: Floats, own: Radau) -> int:
    """Repeat a step for its polynomial; ROUGH if that is not good enough. Fixed steps are as they are."""
    return repeat(t, h, ends, own) if own.fixed else smooth(t, h, ends, own)


def made_again(t: float, h: float, ends: Floats, own: Radau) -> int:
    """Do so with the rows that seem best, by largest entries or by sizes of y, then with those of the run.

    Constraints that turn are taken in the middle of the step, as in the run, where those of its start fail.
    """
    own.loyal, own.turning = 0, 0
    status = prepared(t, h, ends, own)
    own.turning = 1
    if status != OK and status != ROUGH:
        status = prepared(t, h, ends, own)
    if status != OK and status != ROUGH:
        other_sizes(own)
        status = prepared(t, h, ends, own)
    if status != OK and status != ROUGH and not own.sparse:
        as_in_run(own)
        status = prepared(t, h, ends, own)
        if status != OK and status != ROUGH:
            own.loyal = 0
    return status


def as_in_run(own: Radau) -> None:
    """Let the rows be those with which the run was left."""
    own.loyal, place = 1, 0
    for i in range(own.n):
        if own.in_run[i]:
            own.rows[place] = i
            place += 1


def shorter(time: float, t: float, ends: Floats, own: Radau) -> int:
    """Go from the start of a step to a time in a step of its own, which is as exact as the whole one."""
    for j in range(own.n):
        own.y[j] = ends[j]
    return alone(t, time - t, own)


def sample(own: Radau, t: Floats, y: Floats, slots: Wholes, times: Floats, out: Floats) -> int:
    """Evaluate at `times` (any order, inside the steps t); y holds the points by rows, slots the orders."""
    own.step = -1
    for j in range(own.n):
        own.in_run[j] = own.chosen[j]
    return further(own, t, y, slots, times, out)


def further(own: Radau, t: Floats, y: Floats, slots: Wholes, times: Floats, out: Floats) -> int:
    """Do the same in memory in which a step of this very t and y was repeated already."""
    n, forward = own.n, t[t.size - 1] >= t[0]
    for q in range(times.size):
        i = interval(t, times[q], forward)
        ends = view(y, i * n, 2 * n)
        if times[q] == t[i + 1] or times[q] == t[i]:
            start = n if times[q] == t[i + 1] else 0
            for j in range(n):
                out[q * n + j] = ends[start + j]
            continue
        if i != own.step:
            own.step = i
            if own.s != FEWEST + MORE * slots[i + 1]:
                enter(FEWEST + MORE * slots[i + 1], own)
            own.repeated = made_again(t[i], t[i + 1] - t[i], ends, own)
        status = own.repeated
        if status == OK:
            status = inside(times[q], t[i], own)
        if status == ROUGH:
            status = shorter(times[q], t[i], ends, own)
        if status != OK:
            own.step = i if own.repeated == ROUGH else -1
            status = in_short_steps(times[q], t[i], t[i + 1] - t[i], ends, own)
            if status != OK:  # rows vanish on the way from the start; from the end they may not
                status = in_short_steps(times[q], t[i + 1], t[i] - t[i + 1], view(y, i * n + n, n), own)
        if status != OK:
            return status
        for j in range(n):
            out[q * n + j] = own.new[j]
    return OK
