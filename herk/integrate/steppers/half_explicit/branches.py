"""Whether a step stays on its branch of solutions of g = 0, and resolves what only g determines."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import OK, ROUGH, STEP, HalfExplicit, kernel_at
from herk.integrate.steps import Loop

NEARLY_ZERO = 1e-6  # a pivot that turned back this close to zero was zero
DIP, FALL = 0.5, 0.3  # of a pivot: beside both ends, beside the start, where it may have been zero between
JUMPS = 2  # rejections after which a fall is a jump
SUDDEN = 1e-3  # of the time gone by: a pivot that would be zero that soon
LEVEL = 1e-3  # of a value: what counts as the same before or behind a jump
TINY = 1e-9  # steps, beside the time, in which something that still is not resolved may be a jump


def turning(h: float, own: HalfExplicit) -> bool:
    """Tell whether a pivot that was on its way to zero has turned back within the step.

    Where two branches of solutions cross, the pivot of either is zero, and a step across may go on along the
    wrong one with a pivot of the right sign. A pivot that only comes close to zero is followed by steps in
    which it is seen to turn.
    """
    if own.h_last == 0.0:
        return False
    for i in range(own.sparse, own.sparse + own.pivots):
        if turned(own.pivot_before[i], -own.h_last, own.pivot_now[i], 0.0, own.pivot[i], h):
            return True
    return False


def unseen(rejected: int, own: HalfExplicit) -> bool:
    """Tell whether a pivot may have been zero inside the step, with another branch behind.

    It falls to a small part of what it was, is far smaller there than at both ends, or it was on its way to
    zero from one probe to the next and turned back. In shorter steps one sees what it does. Of many unknowns
    it is known at both ends alone, and jumps where rows have a kink.
    """
    width, probed = own.m + 1, own.pivot_probed
    if own.sparse:
        return rejected < JUMPS and abs(own.pivot[1]) < FALL * abs(own.pivot_now[1])
    for i in range(own.pivots):
        start, end = own.pivot_now[i], own.pivot[i]
        middle, early, late = probed[i], probed[width + i], probed[2 * width + i]
        least = min(abs(middle), abs(early), abs(late))
        if min(least, abs(end)) >= own.steady * max(abs(start), abs(middle)):
            continue  # as nearly always, and none of the questions below can be answered with yes
        if least < DIP * min(abs(start), abs(end)) or min(least, abs(end)) < FALL * abs(start):
            return True
        if turned(start, 0.0, early, own.node_1, late, own.node_2):
            return True
        if turned(start, 0.0, middle, own.node_0, late, own.node_2):
            return True
        if turned(middle, own.node_0, late, own.node_2, end, 1.0):
            return True
    return False


def turned(first: float, a: float, second: float, b: float, third: float, c: float) -> bool:
    """Tell whether a line through values at a, b is beyond zero at c behind them, and the value is not."""
    if not (abs(second) < abs(first) and third * second > 0.0):
        return False
    ahead = second * (b - a) + (second - first) * (c - b)
    return ahead < 0.0 if (second > 0.0) == (b > a) else ahead > 0.0


def sunk(loop: Loop, own: HalfExplicit) -> bool:
    """Tell whether a pivot is so small beside what it was that rounding hides on which side of zero it is.

    Before a short step: in a long one a pivot that dies away, as exp(-t) does, seems to turn as well.
    """
    if abs(loop.h_tried) > SUDDEN * abs(loop.t - loop.t_start):
        return False
    for i in range(own.sparse, own.sparse + own.pivots):
        if abs(own.pivot_now[i]) < NEARLY_ZERO * own.pivot_peak[i]:
            return True
    return False


def sinking(loop: Loop, own: HalfExplicit) -> bool:
    """Tell whether a pivot is about to be zero: nearly so, and at its rate within a moment.

    Where branches cross, rounding decides from here on which one is followed. A pivot that dies away slowly,
    as exp(-t) does, is no sign of that.
    """
    if own.h_last == 0.0:
        return False
    for i in range(own.sparse, own.sparse + own.pivots):
        now, before = abs(own.pivot_now[i]), abs(own.pivot_before[i])
        if now < NEARLY_ZERO * own.pivot_peak[i] and now < before:
            left = now / (before - now) * abs(own.h_last)
            if left < SUDDEN * abs(loop.t - loop.t_start):
                return True
    return False


def resolved(loop: Loop, own: HalfExplicit) -> int:
    """Tell whether the algebraic components are resolved by this step; limit the next one accordingly.

    Around a jump they never are. A component whose derivative does not occur may jump, as a force does when
    friction turns.
    """
    rough = max(own.roughness, own.roughness_free)
    if rough <= own.resolved:
        if 8.0 * rough > own.resolved:
            loop.limit = (own.resolved / rough) ** (1.0 / 3.0) * abs(loop.h_tried)
        elif rough > 1e-6 * own.resolved:
            loop.limit = 2.0 * abs(loop.h_tried)
        return OK
    least = TINY * (abs(loop.target) + 1e-3 * abs(loop.t_end - loop.t_start))
    if 0.25 * abs(loop.h_tried) > least or own.roughness > own.resolved:
        return ROUGH
    # Once more, with what the probes saw written down.
    if kernel_at(own.any_size)(STEP, loop.t, loop.h_tried, own) != OK or not plateaus(own):
        return ROUGH
    own.jumps += 1
    own.jump = loop.target
    loop.limit = abs(loop.h_tried)
    return OK


def plateaus(own: HalfExplicit) -> bool:
    """Tell whether algebraic components have, within the step, old or new values and none between.

    That is a jump, and no pole.
    """
    n, y, new, probed, floor = own.n, own.y, own.new, own.probed, own.floor
    for j in range(own.differential, n):
        c = own.order[j]
        start, end = y[c], new[c]
        for q in range(own.probes):
            value = probed[q * n + c]
            old = abs(value - start) <= LEVEL * (abs(start) + floor[c])
            if not (old or abs(value - end) <= LEVEL * (abs(end) + floor[c])):
                return False
    return True
