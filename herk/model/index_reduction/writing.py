"""How derived formulas are written.

Cancelled and expanded, where that is short and cannot take long.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from herk.codegen.equations import without
from herk.model.index_reduction.atoms import HIGH, by_symbols, is_unwieldy

Term = tuple[sp.Expr, sp.Expr]  # a factor, and what it multiplies

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


def tidy(expr: sp.Expr) -> sp.Expr:
    """Return an expression cancelled, with sin^2 + cos^2 = 1 used.

    If that is shorter and cannot take long.
    """
    if _is_plain(expr) or not _is_manageable(expr):
        return expr
    try:
        shorter = by_symbols(expr, lambda plain: _without_squared_sines(sp.cancel(plain)))
    except (sp.PolynomialError, NotImplementedError):
        return expr
    return min((expr, shorter), key=sp.count_ops)


def factored(expr: sp.Expr) -> sp.Expr:
    """Return an expression as a product, if that cannot take long: x**2 - 2*x*z + z**2 as (x - z)**2."""
    if sp.count_ops(expr) > SMALL or not _is_manageable(expr):
        return expr
    try:
        return by_symbols(expr, sp.factor, all_exp=False)
    except (sp.PolynomialError, NotImplementedError):
        return expr


def _is_plain(expr: sp.Expr) -> bool:
    """Tell whether there is nothing to cancel: a sum of symbols with numbers, over symbols not in it."""
    above, under = sp.fraction(expr)
    if not all(part.is_Atom for part in sp.Mul.make_args(under)) or under.free_symbols & above.free_symbols:
        return False
    factors = [part for part in sp.Mul.make_args(above) if not part.is_Number]
    terms = sp.Add.make_args(factors[0] if len(factors) == 1 else above)
    return all(len(parts) < 2 and all(p.is_Atom for p in parts) for parts in map(_without_number, terms))


def _without_number(term: sp.Expr) -> list[sp.Expr]:
    return [part for part in sp.Mul.make_args(term) if not part.is_Number]


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
    if expr.is_Pow and expr.exp.is_Integer and abs(expr.exp) < HIGH:
        above, below = (n ** abs(int(expr.exp)) for n in _terms(expr.base))
        return (above, below) if expr.exp > 0 else (below, above)
    return 1, 1


def _without_squared_sines(expr: sp.Expr) -> sp.Expr:
    """Reduce numerator and denominator by sin^2 = 1 - cos^2, and cancel again if that changed them.

    With the sine below, too, equal quotients look different: a common factor is one by that relation only.
    """
    angles = [s.args[0] for s in expr.atoms(sp.sin) if expr.has(sp.cos(s.args[0]))]
    above, under = sp.fraction(expr)
    for angle in angles:
        above, under = _reduced(above, angle), _reduced(under, angle)
    reduced = above / under
    plain = sp.cancel(reduced) if angles and reduced != expr else expr
    turning = [angle for angle in angles if under.has(sp.sin(angle))]
    for angle in turning:
        above, under = _cosine_below(above, under, angle)
    return min((plain, sp.cancel(above / under)), key=sp.count_ops) if turning else plain


def _reduced(expr: sp.Expr, angle: sp.Expr) -> sp.Expr:
    """Return a polynomial in sine and cosine of an angle as p(cos) + q(cos) sin."""
    return sp.rem(sp.expand(expr), sp.sin(angle) ** 2 + sp.cos(angle) ** 2 - 1, sp.sin(angle))


def _cosine_below(above: sp.Expr, under: sp.Expr, angle: sp.Expr) -> Term:
    """Return a quotient extended by p - q sin, where p + q sin is below: what stays there has no sine."""
    other = under.xreplace({sp.sin(angle): -sp.sin(angle)})
    return _reduced(above * other, angle), _reduced(under * other, angle)


def shortest(expr: sp.Expr) -> sp.Expr:
    """Return an expression expanded, if terms cancel by that.

    Differences as they are written keep their digits: (x - 1000)^2 multiplied out has terms that cancel.
    """
    ops = sp.count_ops(expr)
    if ops > 4 * SMALL or max(_terms(expr)) > LARGE:
        return expr
    longer = _turned(expanded(expr))
    expr = without(expr, expr.free_symbols - longer.free_symbols)
    return longer if sp.count_ops(longer) <= sp.count_ops(expr) else expr


def expanded(expr: sp.Expr) -> sp.Expr:
    """Return products of sums multiplied out; powers, and what functions are applied to, as they are."""
    inside = {part: sp.Dummy() for part in expr.atoms(sp.Function)}
    inside |= {part: sp.Dummy(real=True) for part in expr.atoms(sp.Pow) if is_unwieldy(part)}
    longer = sp.expand(expr.xreplace(inside), power_base=False, power_exp=False, log=False)
    return longer.xreplace({dummy: part for part, dummy in inside.items()})


def _turned(expr: sp.Expr) -> sp.Expr:
    """Return an expanded sum with sin^2 = 1 - cos^2 used, if that is shorter: what turns comes out plain."""
    squares = [e for e in expr.atoms(sp.Pow) if isinstance(e.base, sp.sin) and e.exp.is_Integer and e.exp > 1]
    both = [e for e in squares if expr.has(sp.cos(e.base.args[0]))]
    if not both:
        return expr
    halves = {e: (1 - sp.cos(e.base.args[0]) ** 2) ** (e.exp // 2) * e.base ** (e.exp % 2) for e in both}
    return min((expr, expanded(expr.xreplace(halves))), key=sp.count_ops)


def without_powers(expr: sp.Expr, states: set[sp.Symbol]) -> sp.Expr:
    """Replace powers with exponents above one by their bases, in a product."""
    parts = sp.Mul.make_args(expr)
    powers = [
        part.is_Pow and part.exp.is_number and part.exp > 1 and bool(part.base.free_symbols & states)
        for part in parts
    ]
    return (
        sp.Mul(*(part.base if power else part for part, power in zip(parts, powers, strict=True)))
        if any(powers)
        else expr
    )
