"""The symbolic part of Procedure 2.4: factors z with sum_s z_s B_s = a, for a row a known to depend on the rows B_s.

Every entry carries its values at the consistent points, so whether it is zero is never guessed from its form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import sympy as sp

from herk.model.rank import CLEAN, GOOD, TINY

SMALL = 120  # operations up to which an expression is rewritten in any case
LARGE = 1000  # operations up to which cancelling is worth trying
MANY = 150  # terms of an expanded numerator or denominator beyond which cancelling may take for ever
FEW = 9  # symbols and functions beyond which it may, unless the expression is short


class NoPivotError(ArithmeticError):
    """No entry can be divided by at all the points."""


@dataclass(frozen=True)
class Entry:
    """An expression, its values at the points (of a matrix brought to size one), and the sizes of the terms it was made from."""

    expr: sp.Expr
    values: tuple[Any, ...]
    sizes: tuple[Any, ...]

    @property
    def zero(self) -> bool:
        """Tell whether it vanishes at every point."""
        return all(abs(v) <= CLEAN * s for v, s in zip(self.values, self.sizes, strict=True))

    @property
    def quality(self) -> float:
        """Return how good a pivot it is at the worst point: 0 where it vanishes, or is the rounding of larger terms."""
        pairs = zip(self.values, self.sizes, strict=True)
        return float(min((abs(v) if abs(v) > TINY * s else mpmath.mpf(0) for v, s in pairs), default=0.0))

    def minus(self, factor: Entry, other: Entry) -> Entry:
        """Return self - factor * other."""
        products = [a * b for a, b in zip(factor.values, other.values, strict=True)]
        values = tuple(v - p for v, p in zip(self.values, products, strict=True))
        sizes = tuple(max(s, abs(p)) for s, p in zip(self.sizes, products, strict=True))
        return Entry(self.expr - factor.expr * other.expr, values, sizes)

    def over(self, pivot: Entry) -> Entry:
        """Return self / pivot, tidied if there is anything to cancel."""
        values = tuple(v / p for v, p in zip(self.values, pivot.values, strict=True))
        sizes = tuple(s / abs(p) for s, p in zip(self.sizes, pivot.values, strict=True))
        plain = not self.expr.free_symbols & pivot.expr.free_symbols
        return Entry(self.expr / pivot.expr if plain else tidy(self.expr / pivot.expr), values, sizes)


def nothing(points: int) -> Entry:
    """Return the entry 0."""
    return Entry(sp.S.Zero, (mpmath.mpf(0),) * points, (mpmath.mpf(0),) * points)


def tidy(expr: sp.Expr) -> sp.Expr:
    """Return the shorter of an expression and its cancelled form with sin^2 + cos^2 = 1 used, if that cannot take long."""
    if expr.is_Atom or not _is_manageable(expr):
        return expr
    # Floats would make cancelling inexact, and exponentials would be split into factors that overflow.
    frozen = {atom: sp.Dummy(positive=True) for atom in expr.atoms(sp.Float, sp.exp)}
    try:
        shorter = _without_squared_sines(sp.cancel(expr.xreplace(frozen)))
    except (sp.PolynomialError, NotImplementedError):
        return expr
    return min((expr, shorter.xreplace({dummy: atom for atom, dummy in frozen.items()})), key=sp.count_ops)


def _is_manageable(expr: sp.Expr) -> bool:
    """Tell whether polynomial arithmetic on the expression is quick: its cost grows with terms and generators, not with time spent."""
    ops = sp.count_ops(expr)
    if ops > LARGE:
        return False
    generators = expr.free_symbols | expr.atoms(sp.Function)
    return (len(generators) <= FEW or ops <= SMALL // 2) and max(_terms(expr)) <= MANY


def _terms(expr: sp.Expr) -> tuple[int, int]:
    """Return at most how many terms numerator and denominator have when all is expanded over one denominator."""
    if expr.is_Mul:
        above, below = 1, 1
        for over, under in map(_terms, expr.args):
            above, below = above * over, below * under
        return above, below
    if expr.is_Add:
        parts = [_terms(term) for term in expr.args]
        below = 1
        for under in {under: None for _, under in parts if under > 1}:
            below *= under
        return sum(over * max(1, below // under) for over, under in parts), below
    if expr.is_Pow and expr.exp.is_Integer and abs(expr.exp) < 12:
        above, below = (n ** abs(int(expr.exp)) for n in _terms(expr.base))
        return (above, below) if expr.exp > 0 else (below, above)
    return 1, 1


def _without_squared_sines(expr: sp.Expr) -> sp.Expr:
    """Reduce numerator and denominator by sin^2 = 1 - cos^2 for every angle, and cancel again if that changed them."""
    angles = [s.args[0] for s in expr.atoms(sp.sin) if expr.has(sp.cos(s.args[0]))]
    parts = sp.fraction(expr)
    for angle in angles:
        relation = sp.sin(angle) ** 2 + sp.cos(angle) ** 2 - 1
        parts = tuple(sp.rem(sp.expand(part), relation, sp.sin(angle)) for part in parts)
    reduced = parts[0] / parts[1]
    return sp.cancel(reduced) if angles and reduced != expr else expr


def shortest(expr: sp.Expr) -> sp.Expr:
    """Return an expression expanded, unless that makes it much longer."""
    ops = sp.count_ops(expr)
    if ops > 4 * SMALL:
        return expr
    expanded = sp.expand(expr, power_base=False, power_exp=False, log=False)
    return expanded if sp.count_ops(expanded) <= 1.3 * ops + 2 else expr


def shortest_sum(terms: Sequence[tuple[sp.Expr, sp.Expr]], moving: set[sp.Symbol]) -> sp.Expr:
    """Return the sum of factor * expression, times the denominators of the factors that depend on `moving` if that is not longer."""
    divided = shortest(sp.Add(*(factor * rhs for factor, rhs in terms)))
    below = {part for factor, _ in terms for part in sp.Mul.make_args(sp.fraction(factor)[1]) if part.free_symbols & moving}
    denominator = sp.Mul(*sorted(below, key=sp.default_sort_key))
    if not below or sp.count_ops(denominator) > SMALL:
        return divided
    whole = shortest(sp.Add(*(tidy(factor * denominator) * rhs for factor, rhs in terms)))
    return whole if sp.count_ops(whole) <= sp.count_ops(divided) else divided


def factors(target: Mapping[int, Entry], rows: Mapping[int, Mapping[int, Entry]]) -> dict[int, Entry]:
    """Return z by sparse elimination over the columns: among good pivots the simplest first (numbers, parameters, then the rest)."""
    equations = _columns(target, rows)
    solved: list[tuple[int, dict[int, Entry], Entry]] = []
    while equations:
        k, s = min(_candidates(equations), key=lambda c: _cost(equations[c[0]], c[1]))
        coefficients, right = equations.pop(k)
        pivot = coefficients.pop(s)
        rest = {i: e.over(pivot) for i, e in coefficients.items()}
        right = right.over(pivot)
        solved.append((s, rest, right))
        equations = [eq for eq in (_eliminated(eq, s, rest, right) for eq in equations) if eq[0]]
    z: dict[int, Entry] = {}
    for s, rest, right in reversed(solved):
        for i, coefficient in rest.items():
            right = right.minus(coefficient, z[i])
        z[s] = replace(right, expr=tidy(right.expr))
    return {s: value for s, value in z.items() if not value.zero}


_Equation = tuple[dict[int, Entry], Entry]


def _columns(target: Mapping[int, Entry], rows: Mapping[int, Mapping[int, Entry]]) -> list[_Equation]:
    points = next((len(e.values) for row in rows.values() for e in row.values()), 0)
    used = sorted({j for row in rows.values() for j in row})
    equations = [({i: row[j] for i, row in rows.items() if j in row and not row[j].zero}, target.get(j) or nothing(points)) for j in used]
    return [eq for eq in equations if eq[0]]


def _candidates(equations: Sequence[_Equation]) -> list[tuple[int, int]]:
    """Return (equation, unknown) pairs whose coefficient may be divided by at all points: those well away from zero, if there are any."""
    pairs = [(k, s, e.quality) for k, (coefficients, _) in enumerate(equations) for s, e in coefficients.items()]
    best = max(quality for _, _, quality in pairs)
    if not best:
        raise NoPivotError
    return [(k, s) for k, s, quality in pairs if quality >= min(GOOD, best)]


def _cost(equation: _Equation, s: int) -> tuple[int, int, int]:
    coefficients, right = equation
    pivot = coefficients[s].expr
    kind = 0 if pivot in (1, -1) else 1 if pivot.is_number else 2
    return len(coefficients), kind, sp.count_ops(pivot) + sp.count_ops(right.expr)


def _eliminated(equation: _Equation, s: int, rest: dict[int, Entry], right: Entry) -> _Equation:
    coefficients, own = equation
    if s not in coefficients:
        return equation
    kept = dict(coefficients)
    factor = kept.pop(s)
    for i, e in rest.items():
        base = kept.get(i) or nothing(len(e.values))
        new = base.minus(factor, e)
        kept[i] = replace(new, expr=tidy(new.expr))
        if new.zero:
            del kept[i]
    return kept, own.minus(factor, right) if kept else own
