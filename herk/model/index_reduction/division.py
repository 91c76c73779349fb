"""Which way of writing a combination of rows holds where its denominators vanish.

A combination a/d of rows may be written with d below, or times d. Where d vanishes on the way, the first has
a pole, unless what stands above vanishes as well on the constraints found before: then it is the second that
says nothing there. Unknowns that are solved for, inserted, often free the combination from d altogether.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import mpmath
import sympy as sp

from herk.codegen.gradient import gradient
from herk.model.index_reduction.cloud import Cloud
from herk.model.index_reduction.points import DIGITS, Evaluator, OutsideError
from herk.model.index_reduction.writing import SMALL, Term, expanded, shortest, tidy
from herk.model.roots import roots

LONGER = 2  # times as long may be what has no denominator
FEW_ENOUGH = 2 * SMALL  # operations up to which constraints are taken out of quotients
MOST_ROOTS = 3  # of the times at which a denominator vanishes as many are examined
ZERO = 1e-10  # relative to the size of the terms: roots are known to sixteen digits
MARGIN = 0.1  # of the span: what vanishes so soon after it is small at its end, which rounding may have moved


@dataclass(frozen=True)
class Division:
    """Combinations over the points of an analysis, behind the constraints found so far."""

    cloud: Cloud
    constraints: Sequence[sp.Expr]

    def written(self, terms: Sequence[Term]) -> sp.Expr:
        """Return the sum of factor * expression as it is best written."""
        model = self.cloud.model
        states, plain = set(model.states), sp.Add(*(factor * rhs for factor, rhs in terms))
        moving = {model.t, *states}
        divided = shortest(plain)
        parts = common([factor for factor, _ in terms], moving)
        denominator = sp.Mul(*sorted(parts, key=sp.default_sort_key))
        if not parts or sp.count_ops(denominator) > SMALL:
            return divided
        whole = shortest(sp.Add(*(tidy(factor * denominator) * rhs for factor, rhs in terms)))
        times = roots(parts, model.t, beyond(model.t_span), model.parameters)[:MOST_ROOTS]
        if any(part.free_symbols & states for part in parts) or not times:
            return whole if sp.count_ops(whole) <= sp.count_ops(divided) else divided
        reduced = shortest(by_unknowns(plain.xreplace(solved(self.constraints, states)), states))
        short = sp.count_ops(reduced) <= FEW_ENOUGH
        if short and below([reduced], moving):
            reduced = without_multiples(reduced, self.constraints, states, moving)
        allowed = LONGER * sp.count_ops(divided) + SMALL
        if sp.count_ops(reduced) <= allowed and not below([reduced], moving):
            return reduced
        zeros = self._zeros(whole, times)
        if not zeros:
            return whole
        if short:
            product = sp.Mul(*common([reduced], moving))
            rest = shortest(by_unknowns(expanded(reduced * product), states))
            if sp.count_ops(rest) <= allowed and self._zeros(rest, times) < zeros:
                return rest
        return whole if zeros < len(times) else divided

    def _zeros(self, expr: sp.Expr, times: Sequence[float]) -> int:
        """Count the times at which an expression is zero wherever the constraints hold."""
        evaluator, projection = Evaluator(self.cloud.model, [expr]), self.cloud.projection(self.constraints)
        found = len(times)
        for time in times:
            near = self.cloud.points[0]
            point = projection.onto(replace(near, t=mpmath.mpf(time)))
            if point is None:
                continue
            with mpmath.workdps(DIGITS):
                try:
                    ((value, size),) = evaluator.sized(point)
                except OutsideError:
                    continue
            found -= abs(value) > ZERO * size
        return found


def beyond(span: tuple[float, float]) -> tuple[float, float]:
    """Return the span with what comes soon after it, in the direction of time."""
    t0, t1 = span
    return t0, t1 + MARGIN * (t1 - t0)


def below(expressions: Sequence[sp.Expr], moving: Set[sp.Symbol]) -> set[sp.Expr]:
    """Return what stands below in the summands and depends on `moving`, factor by factor."""
    parts = {part for under in denominators(expressions) for part in sp.Mul.make_args(under)}
    return {part for part in parts if part.free_symbols & moving}


def denominators(expressions: Sequence[sp.Expr]) -> set[sp.Expr]:
    """Return what stands below in the summands."""
    summands = (part for expr in expressions for part in sp.Add.make_args(expr))
    return {sp.fraction(summand, exact=True)[1] for summand in summands}


def common(expressions: Sequence[sp.Expr], moving: Set[sp.Symbol]) -> set[sp.Expr]:
    """Return what stands below, without what is contained in the rest of it.

    Times a zero too many, a combination would seem to vanish where it does not: cos - sin is in 2 cos^2 - 1.
    """
    parts, all_under = below(expressions, moving), denominators(expressions)
    if sum(map(sp.count_ops, all_under)) > SMALL:
        return parts
    for part in sorted(parts, key=lambda part: (sp.count_ops(part), str(part))) if len(parts) > 1 else ():
        rest = sp.Mul(*(parts - {part}))
        if not below([tidy(rest / under) for under in all_under], moving):
            parts = parts - {part}
    return parts


def solved(constraints: Sequence[sp.Expr], states: Set[sp.Symbol]) -> dict[sp.Symbol, sp.Expr]:
    """Return formulas for unknowns that stand in a short constraint with a number as their factor."""
    found: dict[sp.Symbol, sp.Expr] = {}
    for constraint in constraints:
        inserted = constraint.xreplace(found)
        slopes = gradient(inserted)
        plain = sorted((s for s in states & slopes.keys() if slopes[s].is_number), key=str)
        if plain and sp.count_ops(inserted) <= SMALL:
            value = expanded(-inserted.xreplace({plain[0]: sp.S.Zero}) / slopes[plain[0]])
            found = {s: e.xreplace({plain[0]: value}) for s, e in found.items()} | {plain[0]: value}
    return found


def without_multiples(
    expr: sp.Expr, constraints: Sequence[sp.Expr], states: Set[sp.Symbol], moving: Set[sp.Symbol]
) -> sp.Expr:
    """Return an expression whose quotients contain no multiple of a constraint.

    Each multiple that is taken away takes an unknown with it, and brings no denominator of its own.
    """
    summands = sp.Add.make_args(expanded(expr))
    quotients = sp.Add(*(part for part in summands if below([part], moving)))
    rest = sp.Add(*(part for part in summands if not below([part], moving)))
    for constraint in constraints:
        slopes, own = gradient(constraint), gradient(quotients)
        for state in sorted(states & slopes.keys() & own.keys(), key=str):
            factor = tidy(own[state] / slopes[state])
            if factor.free_symbols & states or not below([factor], moving) <= below([quotients], moving):
                continue
            left = expanded(by_unknowns(expanded(quotients - factor * constraint), states))
            if left.free_symbols & states < quotients.free_symbols & states:
                quotients = left
                break
    return rest + quotients


def by_unknowns(expr: sp.Expr, states: Set[sp.Symbol]) -> sp.Expr:
    """Return the expression tidied, coefficient by coefficient where it is linear in the unknowns."""
    slopes = {s: slope for s, slope in gradient(expr).items() if s in states}
    linear = {s: slope for s, slope in slopes.items() if not slope.free_symbols & states}
    rest = tidy(expr.xreplace(dict.fromkeys(linear, sp.S.Zero)))
    return sp.Add(rest, *(tidy(slope) * s for s, slope in linear.items()))
