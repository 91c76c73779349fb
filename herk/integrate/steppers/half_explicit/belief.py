"""Whether an error estimate is small since the error is, or by chance.

For a linear equation an estimate is a polynomial of the step. At its zeros it says nothing: that of bs32 is
-(z^3 + z^4)/48, and at z = -1 the error is 3 % of y. Steps grow slowly out of such a trap and never into it,
but a first step may land there, or one that is far longer than the last. There an estimate that is much
smaller than y' and its change let expect is compared with that of a shorter step.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.error import damping
from herk.integrate.steppers.half_explicit.layout import OK, STEP, HalfExplicit, kernel_at
from herk.integrate.steps import Loop

KNOWN = 2.0  # times the last step: what was believed there holds for so long a step as well
PART = 0.1  # of what is to be expected: a smaller estimate is doubtful, if the expected one is worth a doubt
LONGEST = 10.0  # |z| + 1, with which all is doubtful
SHORTER = 0.8  # of the step: zeros of the polynomials in use are farther apart, or beside much smaller errors


def unknown(h: float, own: HalfExplicit) -> bool:
    """Tell whether a step is far longer than the last, or the first one."""
    return abs(h) > KNOWN * abs(own.h_known)


def doubtful(loop: Loop, own: HalfExplicit) -> bool:
    """Tell whether the estimate of this step is much smaller than y' at both ends lets expect.

    y' = lambda y gives c z^p y for small z = h lambda, and |z| is about the change of y' beside y', or, where
    that is all of it, h y' beside the change of y. `error` is that of all components by now.
    """
    k, error, last, found, expected = own.k, own.error, own.stages * own.n, 0.0, 0.0
    for j in range(own.differential):
        i = own.order[j]
        per = 1.0 / (loop.atol[i] + loop.rtol * max(abs(own.y[i]), abs(own.new[i])))
        found += (error[i] * per) ** 2
        rise = abs(loop.h_tried) * max(abs(k[j]), abs(k[last + j]))
        change, way = abs(loop.h_tried * (k[last + j] - k[j])), abs(own.new[i] - own.y[i])
        z = change / rise if change < rise else 1.0
        z = max(z, rise / max(way, rise / LONGEST) - 1.0) if way < rise else z
        term = own.estimate * rise * per
        for _ in range(own.estimate_power - 1):
            term *= z
        expected += term**2
    return expected > own.n and found < PART**2 * expected


def compared(loop: Loop, own: HalfExplicit) -> float:
    """Return the error that a shorter step lets expect of this one, which is then made again.

    0: it has the same opinion, or cannot be made.
    """
    beside = 0.0
    if kernel_at(own.kernel)(STEP, loop.t, SHORTER * loop.h_tried, own) == OK:
        total = 0.0
        for j in range(own.differential):
            i = own.order[j]
            total += (own.error[j] / (loop.atol[i] + loop.rtol * max(abs(own.y[i]), abs(own.new[i])))) ** 2
        beside = damping(loop, own) * (total / own.n) ** 0.5 / SHORTER**own.estimate_power
    return beside
