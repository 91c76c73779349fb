"""Which solution of the constraints a step is on: det [S E; g_y] changes its sign where two of them meet."""

from __future__ import annotations

from math import exp, log

from herk.integrate.steppers.radau.equations import constraint_jacobian
from herk.integrate.steppers.radau.layout import EPS, Radau
from herk.integrate.steppers.radau.on_patterns import solve_masses, volume
from herk.integrate.steppers.radau.rows import first_entry, row_start, terms
from herk.integrate.steps import INFINITE
from herk.linalg.dense import factor, level_rows, substitute, times

NEAR = 0.05  # part of the largest determinant so far from which on it may be on its way to zero
AT = 1e-6  # part that counts as zero, if zero is
SOON = 1e-8  # this near, in units of the time: conductances of a diode fall by far more and never vanish
STEEPEST = 2.0  # rate at which the time of a fall shrinks
KEPT = 0.9  # part of that rate that lasts, though it seems to be less: rounding may say so
MOST = 0.6  # of the way to where the determinant is expected to vanish, in one step
FALL = 2.0  # of its logarithm in one step: after more, Newton does not feel terms that nearly vanish
DEEPEST = 0.02  # part of it that may be left after a step: after more of a fall nothing can be foretold
UNKNOWN = 0.1  # part of it by which rounding in the constraints may change it
GROWN = 2.0  # factor by which an unknown must grow for another unit
TURNED = 0.3  # change of g_y, beside its largest entries, with which no Jacobian is kept
OTHER = 2.0  # factor between determinants with which a Jacobian is another one


def determinant(own: Radau) -> float:
    """Return det [S E; g_y] in units of the unknowns, rows in units of their largest entries; 0: singular."""
    if own.sparse:
        return volume(own)
    n, d, a, found = own.n, own.d, own.stacked, 1.0
    for k in range(d * n):
        a[k] = own.mass[k]
    for k in range(own.m * n):
        a[d * n + k] = own.g_y[k]
    level_rows(a, n, own.reached, own.right_1)
    if not factor(a, 0, n, own.used) > 0.0:
        return 0.0
    for i in range(n):
        for j in range(i):
            found = -found if own.used[j] > own.used[i] else found
        found = times(found, a[own.used[i] * n + i] * own.reached[i])
    return found


def follow_units(t: float, own: Radau) -> None:
    """Let determinants be in units that the unknowns have grown to; what is known of them changes with these.

    Units never shrink: an unknown that passes zero would take the determinant with it.
    """
    if own.m == 0 or own.fixed or own.sparse:
        for j in range(own.n if own.sparse else 0):  # rows of many unknowns are selected in these units
            own.reached[j] = max(own.reached[j], abs(own.y[j]) + own.floor[j])
        return
    grown = False
    for j in range(own.n):
        grown = grown or own.scale[j] > GROWN * own.reached[j]
    if not grown:
        return
    constraint_jacobian(t, own.y, own)  # it may be that at a point which was rejected
    before = abs(determinant(own))
    for j in range(own.n):
        own.reached[j] = max(own.reached[j], own.scale[j])
    after = determinant(own) * own.sign
    own.here = max(after, 0.0) if own.here > 0.0 else 0.0
    most = max(abs(after), 1.0)  # entries of such rows are at most 1: elsewhere others may be the largest
    own.widest = min(own.widest * abs(after) / before, most) if before > 0.0 else 0.0


def same_branch(own: Radau) -> bool:
    """Tell whether the determinant has the sign it had with these rows."""
    if own.m == 0 or own.fixed:
        return True
    if own.sign == 0.0 and own.sparse == 0:
        for j in range(own.n):
            own.reached[j] = own.scale[j]
    found = determinant(own)
    if own.sign == 0.0:
        own.sign, own.widest, own.here = (1.0 if found > 0.0 else -1.0), 0.0, 0.0
        own.lasting, own.left, own.shrinking, own.waited, own.fallen = INFINITE, INFINITE, 0.0, 0.0, 0.0
    own.widest, own.linearised = max(own.widest, abs(found)), abs(found)
    return found * own.sign > 0.0


def crossed(t: float, own: Radau) -> bool:
    """Tell whether the new point lies behind a place where the determinant is zero, or might.

    Near such a place a step can turn into the other solution, on which the determinant keeps its sign. So no
    step leads to where it is expected to vanish.
    """
    own.at_new = 0
    if own.m == 0 or own.fixed or not own.settled:  # other rows may be better there
        return False
    constraint_jacobian(t, own.new, own)
    own.at_new = 1
    own.there = determinant(own) * own.sign
    if not own.there > 0.0 or own.there < DEEPEST * own.here:
        return True
    if not near(own):
        return False
    if own.there < AT * own.widest and (own.left < SOON * own.t_size or undetermined(t, own)):
        return True
    return abs(own.h) > farthest(own)


def undetermined(t: float, own: Radau) -> bool:
    """Tell whether a determinant on its way to zero is rounding: then it does not tell solutions apart.

    Where solutions meet, g = 0 holds to rounding between them, too. So the last digits of the terms of g say
    how far the point may be off, and the determinant there says whether it means anything here. Errors of two
    constraints may cancel: any two of them have the same sign once and opposite ones once.
    """
    group, own.at_new = 1, 0
    while own.left < INFINITE:
        shift_by_rounding(t, group, own)
        constraint_jacobian(t, own.stage, own)
        if not abs(determinant(own) * own.sign - own.there) <= UNKNOWN * own.there:
            return True
        if group >= own.m:
            return False
        group *= 2
    return False


def shift_by_rounding(t: float, group: int, own: Radau) -> None:
    """Write where the new point may lie by rounding in g, whose sign changes from group to group of rows."""
    n, d = own.n, own.d
    constraint_jacobian(t, own.new, own)
    determinant(own)
    for k in range(n):
        size = terms(k - d, own.g_y, 0, own.new, own) if k >= d else 0.0
        own.right_1[k] *= EPS * size * (1.0 if (k - d) // group % 2 == 0 else -1.0)
    if own.sparse:
        solve_masses(own.right_1, own.delta, own)
    else:
        substitute(own.stacked, 0, n, own.used, own.right_1, own.delta, 0)
    for j in range(n):
        own.stage[j] = own.new[j] + own.delta[j]


def near(own: Radau) -> bool:
    """Tell whether the determinant is so small that it may be on its way to zero."""
    return own.here > 0.0 and own.here < NEAR * own.widest


def farthest(own: Radau) -> float:
    """Return how far the next step may lead."""
    return min(MOST * own.left, FALL * own.lasting) if near(own) else INFINITE


def of_elsewhere(own: Radau) -> bool:
    """Tell whether the Jacobian in use has another determinant than there is here.

    Terms that fell by orders of magnitude may hide behind larger ones in their rows. Newton with the old ones
    leaves unknowns that they determine where they are, and takes that for quick convergence.
    """
    if own.m == 0 or own.fixed or not own.settled:
        return False
    return not (own.here < OTHER * own.linearised and own.linearised < OTHER * own.here)


def turned(t: float, own: Radau) -> bool:
    """Tell whether g_y is another one than in the Jacobian in use, though Newton did not notice."""
    old, first, g_y = own.jacobian, first_entry(own), own.g_y
    if own.m == 0 or own.fixed or not own.have_jacobian:
        return False
    if not own.at_new:
        constraint_jacobian(t, own.y, own)
    for k in range(own.m):
        size, change = 0.0, 0.0
        for p in range(row_start(k, own), row_start(k + 1, own)):
            size = max(size, abs(g_y[p]))
            change = max(change, abs(g_y[p] - old[first + p]))
        if not change <= TURNED * size:
            return True
    return False


def moved(own: Radau) -> None:
    """Go on to the new point: the determinant there, and the time that is left until it vanishes."""
    fall = log(own.here / own.there) if own.here > 0.0 and own.there > 0.0 else 0.0
    expect(fall, own)
    own.here = own.there
    own.widest = max(own.widest, own.here)


def expect(fall: float, own: Radau) -> None:
    """Expect the determinant to go on like a power of the time that is left, after log(determinant) fell.

    If it is c tau^p, the time -det/det' in which it falls by e is tau/p and shrinks at the rate 1/p: 2 where
    two solutions meet, 1 at a simple zero, 0 if it falls exponentially, which never ends.

    A small determinant may be rounding in its last digits. What it does in steps in which it is not expected
    to change by more is added up before it counts: else the first time it rises, it would never vanish.
    """
    own.waited, own.fallen = own.waited + abs(own.h), own.fallen + fall
    silent = abs(own.fallen) < UNKNOWN and own.waited < UNKNOWN * own.lasting
    if silent and own.here > 0.0 and own.here < AT * own.widest:
        own.left -= abs(own.h)
        return
    h, fall, own.left = own.waited, own.fallen, INFINITE
    own.waited, own.fallen = 0.0, 0.0
    if not fall > 0.0:
        own.lasting, own.shrinking = INFINITE, 0.0
        return
    lasting, rate = h / fall, 1.0
    if own.lasting < INFINITE:
        rate = min(max((own.lasting - lasting) / h, KEPT * own.shrinking), STEEPEST)
        own.shrinking = rate
    own.lasting = lasting
    if rate > 0.0:
        own.left = h / max(exp(min(rate * fall, 600.0)) - 1.0, 1e-300)
