"""How derived formulas are written.

Cancelled, expanded, undivided, where that is short and cannot take long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

SMALL = 120  # operations up to which an expression is rewritten in any case
LARGE = 1000  # operations up to which cancelling is worth trying
MANY = 150  # terms of an expanded numerator or denominator beyond which cancelling may take for ever
FEW = 9  # symbols and functions beyond which it may, unless the expression is short


@dataclass(frozen=True)
class Writing:
    """Formulas made short, or left as they come."""

    simplify: bool = True

    def tidy(self, expr: sp.Expr) -> sp.Expr:
        """Return the expression cancelled."""
        return tidy(expr) if self.simplify else expr

    def sum(self, terms: Sequence[tuple[sp.Expr, sp.Expr]], moving: set[sp.Symbol]) -> sp.Expr:
        """Return the sum of factor * expression, times denominators that depend on `moving` if not longer."""
        plain = sp.Add(*(factor * rhs for factor, rhs in terms))
        if not self.simplify:
            return plain
        divided = shortest(plain)
        below = {
            part
            for factor, _ in terms
            for part in sp.Mul.make_args(sp.fraction(factor)[1])
            if part.free_symbols & moving
        }
        denominator = sp.Mul(*sorted(below, key=sp.default_sort_key))
        if not below or sp.count_ops(denominator) > SMALL:
            return divided
        whole = shortest(sp.Add(*(tidy(factor * denominator) * rhs for factor, rhs in terms)))
        return whole if sp.count_ops(whole) <= sp.count_ops(divided) else divided


def tidy(expr: sp.Expr) -> sp.Expr:
    """Return an expression cancelled, with sin^2 + cos^2 = 1 used.

    If that is shorter and cannot take long.
    """
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
    """Tell whether polynomial arithmetic on the expression is quick: few operations, generators and terms."""
    ops = sp.count_ops(expr)
    if ops > LARGE:
        return False
    generators = expr.free_symbols | expr.atoms(sp.Function)
    return (len(generators) <= FEW or ops <= SMALL // 2) and max(_terms(expr)) <= MANY


def _terms(expr: sp.Expr) -> tuple[int, int]:
    """Return at most how many terms numerator and denominator have when all is expanded."""
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
    """Reduce numerator and denominator by sin^2 = 1 - cos^2, and cancel again if that changed them."""
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
