"""Where Newton's method begins for the algebraic components of many unknowns, and whether it kept to that."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import UNSEEN, HalfExplicit
from herk.jit.state import Floats

FAR = 10.0  # times what was expected: a component that changes by so much may be another solution's


def extrapolate(i: int, z: Floats, h: float, own: HalfExplicit) -> None:
    """Guess what no derivative tells from the stage before, the start of the step and that of the last one.

    An iteration saved is worth more the more unknowns there are.
    """
    y, before, order, slope, node = own.y, own.stage, own.order, own.slope, own.table_c[i]
    gone, ahead = own.table_c[i - 1] * h, node * h
    bend = ahead * (ahead + own.h_last) / (gone + own.h_last) if own.h_last != 0.0 else 0.0
    for j in range(own.differential + own.predicted, own.n):
        c = order[j]
        rise = (before[c] - y[c]) / gone
        if own.h_last != 0.0:
            z[c] = y[c] + ahead * slope[c] + (rise - slope[c]) * bend
        else:
            z[c] = y[c] + ahead * rise


def led_away(z: Floats, own: HalfExplicit) -> bool:
    """Tell whether Newton's method moved a component much farther from its guess than the guess was from y.

    Another solution may lie there; the next stage extrapolates such a move, and nothing looks rough.
    """
    y, order, floor = own.y, own.order, own.floor
    for j in range(own.differential + own.predicted, own.n):
        c = order[j]
        expected = abs(own.f[j] - y[c]) + UNSEEN * (abs(y[c]) + floor[c])
        if not abs(z[c] - own.f[j]) <= FAR * expected:
            return True
    return False
