"""When functions of time change their sign: exactly where the formula can be solved, otherwise by looking.

Products are zero where a factor is. A chain of functions is taken back to time one by one. What returns is
solved in one period. Where only values tell, places at which the slope is zero are looked at too: between
two times beside each other a function may be zero twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import sympy as sp

from herk.codegen.numbers import PRECISION, without_floats
from herk.core.dae import Array
from herk.model.crossings import crossings
from herk.model.deciding import distances
from herk.model.inverse import values_of
from herk.model.periods import TURNING, TooOften, affine, family, period

MOST = 100_000  # zeros of a function in a span: each of them ends a segment
SAMPLES = 4001  # of the span, at least
PER_TURN = 64  # samples of a turn, or of a step of floor
MOST_SAMPLES = 2_000_000
MOST_DEGREE = 24
DEEPEST = 2  # slopes of slopes: where a function that is known by its values alone has its extrema
BESIDE = 16 * float(np.finfo(float).eps)  # of a time at which a function jumps: both sides are looked at
ROUNDING = 8 * float(np.finfo(float).eps)
NEVER = (sp.exp, sp.cosh, sp.sech)  # zero, but
NONE = np.zeros(0)
Span = tuple[float, float]


def zeros(function: sp.Expr, t: sp.Symbol, span: Span, depth: int = DEEPEST) -> Array:
    """Return where a function of time is zero, infinite, or jumps across zero.

    Of what can be solved that is wherever it is, of others within the span. TooOften is raised where they
    are more than can be met one by one.
    """
    if t not in function.free_symbols or isinstance(function, NEVER):
        return NONE
    if isinstance(function, sp.Pow):
        return NONE if t in function.exp.free_symbols else zeros(function.base, t, span, depth)
    if isinstance(function, sp.Mul):
        return joined(zeros(factor, t, span, depth) for factor in function.args)
    line = affine(function, t)
    if line is not None:
        return _finite([-line[1] / line[0]])
    found = solved(function, sp.S.Zero, t, span, depth)
    if found is not None:
        return found
    return _sum(sp.factor_terms(without_floats(function)), t, span, depth)


def solved(function: sp.Expr, value: sp.Expr, t: sp.Symbol, span: Span, depth: int) -> Array | None:
    """Return where a chain of functions has a value; None if it is no chain."""
    fixed, moving = function.as_independent(t, as_Add=True)
    factor, moving = moving.as_independent(t, as_Add=False)
    value = (value - fixed) / factor
    if isinstance(moving, sp.Add):  # it may have been in brackets
        return None if factor == 1 else zeros(moving - value, t, span, depth)
    if moving == t:
        return _finite([value])
    if isinstance(moving, (sp.sin, sp.cos)):
        return family(moving, value, t, span, MOST)
    inner = values_of(moving, value, t)
    if inner is None:
        return None
    return joined(zeros(inside - each, t, span, depth) for inside, each in inner)


def _sum(function: sp.Expr, t: sp.Symbol, span: Span, depth: int) -> Array:
    """Return the zeros of a sum: of a polynomial, of what returns, or of anything else."""
    if isinstance(function, (sp.Mul, sp.Pow)):  # a common factor was found
        return zeros(function, t, span, depth)
    if function.is_rational_function(t):
        found = _rational(function, t, span)
        if found is not None:
            return found
    length, low = period(function, t), min(span)
    if length is None or length >= abs(span[1] - span[0]):
        return looked_for(function, t, span, depth)
    begin = low - 0.381966 * length  # not where the formula itself begins
    once = looked_for(function, t, (begin, begin + length), depth)
    often = once.size * abs(span[1] - span[0]) / length
    if not often <= MOST:
        raise TooOften(often, float(np.diff([*once, once[0] + length]).min()))
    times = (once[None, :] + length * np.arange(math.ceil((max(span) - begin) / length) + 2)[:, None]).ravel()
    return np.sort(times[(times >= low) & (times <= max(span))])


def _rational(function: sp.Expr, t: sp.Symbol, span: Span) -> Array | None:
    """Return the zeros and poles of a quotient of polynomials in the span, each isolated exactly."""
    low, high = (sp.Rational(end) for end in sorted(span))
    least = (high - low) / 2**56
    times: list[float] = []
    for part in sp.fraction(sp.together(function)):
        try:
            poly = sp.Poly(part, t)
            if poly.degree() > MOST_DEGREE:
                return None
            numbers = [
                c if c.is_Rational else sp.Rational(str(c.evalf(PRECISION))) for c in poly.all_coeffs()
            ]
            roots = sp.Poly(numbers, t).intervals(eps=least, inf=low, sup=high) if poly.degree() else []
        except (sp.PolynomialError, ValueError, TypeError, NotImplementedError):
            return None
        times += [float((first + last) / 2) for (first, last), _ in roots]
    return np.unique(times)


def looked_for(function: sp.Expr, t: sp.Symbol, span: Span, depth: int) -> Array:
    """Return where a function changes its sign within the span, by values of it at many times."""
    steps = {each for inner in distances(function) for each in (inner, sp.expand(inner))}
    jumps = joined(zeros(inner, t, span, depth - 1) for inner in steps) if depth > 0 else NONE
    slope = slope_of(function, t) if depth > 0 else None
    level = NONE if slope is None else zeros(slope, t, span, depth - 1)
    low, high = sorted(span)
    count = max(SAMPLES, PER_TURN * turns(function, t, (low, high)))
    if not count <= MOST_SAMPLES:
        raise TooOften(count / PER_TURN, (high - low) * PER_TURN / count)
    beside = [jumps * (1 + side) for side in (-BESIDE, BESIDE)]
    times = joined([np.linspace(low, high, int(count)), level, *beside])
    return crossings(function, t, times[(times >= low) & (times <= high)])


def slope_of(function: sp.Expr, t: sp.Symbol) -> sp.Expr | None:
    """Return the derivative where nothing jumps; None if it cannot be written down."""
    steps = {each: sp.Dummy() for each in function.atoms(sp.sign, sp.Heaviside, sp.floor, sp.ceiling)}
    signs = {each: sp.Dummy() for each in function.atoms(sp.Abs)}
    smooth = function.xreplace({each: each.args[0] * sign for each, sign in signs.items()}).xreplace(steps)
    found = sp.diff(smooth, t)
    if found.has(sp.Derivative, sp.Subs, sp.DiracDelta):
        return None
    back = {sign: sp.sign(each.args[0]) for each, sign in signs.items()}
    return found.xreplace({dummy: each for each, dummy in steps.items()} | back)


def turns(function: sp.Expr, t: sp.Symbol, span: Span) -> float:
    """Return how often the parts of a function go round, or step, within the span."""
    total, times = 0.0, np.linspace(*span, 257)
    for each in function.atoms(*TURNING, sp.floor, sp.ceiling):
        with np.errstate(all="ignore"):
            inside = np.real(sp.lambdify(t, each.args[0], ["numpy", "scipy"])(times)) * np.ones(times.size)
        way = float(np.abs(np.diff(inside[np.isfinite(inside)])).sum())
        total += way / (2 * math.pi) if isinstance(each, TURNING) else way
    return total


def joined(found: Iterable[Array]) -> Array:
    """Return all of these times, each once; those that differ by rounding are one."""
    times = np.unique(np.concatenate([NONE, *found]))
    return np.asarray(times[np.diff(times, prepend=-np.inf) > ROUNDING * np.abs(times)])


def _finite(numbers: Iterable[sp.Expr]) -> Array:
    """Return those of these numbers that are real and no larger than times are."""
    values = [complex(number.evalf(PRECISION)) for number in numbers]
    return np.array([each.real for each in values if not each.imag and abs(each.real) < 1e300])
