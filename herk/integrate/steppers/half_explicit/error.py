"""How large the error of a step is, in units of the tolerance."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import HalfExplicit
from herk.integrate.steps import Loop

BELIEVED = 4e-4  # the square of the least part of the coarser estimate that the finer one is, beside x**2


def error_norm(loop: Loop, own: HalfExplicit) -> float:
    """Return the root mean square of error / (atol + rtol |y|) over all components."""
    n, y, new, error, atol, rtol = own.n, own.y, own.new, own.error, loop.atol, loop.rtol
    total, share = 0.0, 1.0 / n  # divided before there is anything to wait for
    for i in range(n):
        total += (error[i] / (atol[i] + rtol * max(abs(y[i]), abs(new[i])))) ** 2
    return (total * share) ** 0.5


def damping(loop: Loop, own: HalfExplicit) -> float:
    """Return the factor by which DOP853 damps its error estimate, from a second, coarser one.

    Hairer, Norsett & Wanner, II.10. The finer one may vanish by chance where the error does not: for a linear
    equation it is a polynomial of the step. It is about 0.2 x**2 of the coarser one, x being the step beside
    the time in which y changes, which (coarse / (h |y'|))**(1/3) tells; less than a tenth is not believed.
    """
    if own.estimates < 2:
        return 1.0
    n, error, atol, k, last = own.n, own.error, loop.atol, own.k, own.stages * own.n
    fine, coarse, rise = 0.0, 0.0, 0.0
    for j in range(own.differential):
        i = own.order[j]
        scale = atol[i] + loop.rtol * max(abs(own.y[i]), abs(own.new[i]))
        fine += (error[j] / scale) ** 2
        coarse += (error[n + j] / scale) ** 2
        rise += (max(abs(k[j]), abs(k[last + j])) / scale) ** 2
    rise *= loop.h_tried**2
    total = fine + 0.01 * coarse
    if not total > 0.0:
        return 1.0
    damped, least = (fine / total) ** 0.5, BELIEVED * coarse
    if 0.0 < fine < least:
        least *= (min(coarse / rise, 1.0) if rise > 0.0 else 1.0) ** (2.0 / 3.0)
        damped *= max(least / fine, 1.0)
    return damped
