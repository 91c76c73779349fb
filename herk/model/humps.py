"""How formulas show that they peak: products that are largest somewhere, and smooth steps up and down.

Whether it is time or the state on which they depend decides how a peak is met, not how it is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import sympy as sp
from sympy.codegen.numpy_nodes import logaddexp

STEEP = (sp.tanh, sp.erf, sp.erfc, sp.atan)  # smooth steps: two of them make a peak
BENT = (*STEEP, sp.acot)  # of an argument that is level somewhere one of them makes a peak
GROWN = (sp.exp, sp.cosh, sp.sech)  # beyond what a double holds


class Depending:
    """Formulas that depend on some symbols (time, the state) and on none of some others."""

    def __init__(self, moving: Iterable[sp.Symbol], barred: Iterable[sp.Symbol] = ()) -> None:
        """Take the symbols."""
        self.moving, self.barred = frozenset(moving), frozenset(barred)

    def __contains__(self, formula: sp.Basic) -> bool:
        """Tell whether a formula is one of these."""
        symbols = formula.free_symbols
        return not symbols.isdisjoint(self.moving) and symbols.isdisjoint(self.barred)


def products(part: sp.Basic, where: Depending, high: int) -> Iterator[tuple[sp.Expr, ...]]:
    """Yield factors that may be largest together: exponentials, and powers that are negative or high."""
    inside: set[sp.Basic] = set()
    for term in sp.preorder_traversal(part):
        if isinstance(term, (sp.Mul, sp.Pow, sp.exp, sp.sech)):
            factors = tuple(f for f in sp.Mul.make_args(term) if _peaked(f, high) and f in where)
            if factors and not (len(factors) == 1 and factors[0] in inside):
                inside |= set(factors)  # met again as terms of their own
                yield factors


def _peaked(factor: sp.Basic, high: int) -> bool:
    if not isinstance(factor, sp.Pow):
        return isinstance(factor, (sp.exp, sp.sech))
    if not factor.exp.is_number:
        return True
    return bool(factor.exp < 0 or factor.exp > high)


def logarithm(formula: sp.Expr) -> sp.Expr:
    """Return the logarithm of a formula, which exists where the formula itself is no double any more."""
    if isinstance(formula, sp.exp):
        return formula.args[0]
    if isinstance(formula, sp.sech):
        return -_of_cosh(formula.args[0])
    if isinstance(formula, sp.cosh):
        return _of_cosh(formula.args[0])
    if isinstance(formula, sp.Mul):
        return sp.Add(*map(logarithm, formula.args))
    if isinstance(formula, sp.Pow):
        return formula.exp * logarithm(formula.base)
    grown = [term for term in sp.Add.make_args(formula) if term.has(*GROWN)]
    if grown and not any(term.could_extract_minus_sign() for term in sp.Add.make_args(formula)):
        rest = sp.Add(*(term for term in formula.args if not term.has(*GROWN)))
        return reduce(logaddexp, map(logarithm, [*grown, rest] if rest != 0 else grown))
    return sp.log(sp.Abs(formula))


def _of_cosh(inside: sp.Expr) -> sp.Expr:
    return logaddexp(inside, -inside) - sp.log(2)


def steps(part: sp.Basic, where: Depending) -> dict[sp.Basic, sp.Expr]:
    """Return the smooth steps of a formula, each with its level: of 1/(c + exp(u)) u - log c."""
    found: dict[sp.Basic, sp.Expr] = {step: step.args[0] for step in part.atoms(*STEEP) if step in where}
    for quotient in part.atoms(sp.Pow):
        if (
            quotient.exp.could_extract_minus_sign()
            and isinstance(quotient.base, sp.Add)
            and quotient in where
        ):
            fixed, moving = quotient.base.as_independent(*where.moving)
            factor, grown = moving.as_independent(*where.moving, as_Add=False)
            if isinstance(grown, sp.exp) and fixed != 0 and not (factor / fixed).is_negative:
                found[quotient] = grown.args[0] + sp.log(sp.Abs(factor / fixed))
    return found


def bends(part: sp.Basic, where: Depending) -> list[sp.Expr]:
    """Return the arguments of smooth steps."""
    return [step.args[0] for step in part.atoms(*BENT) if step in where]


def linear(part: sp.Basic, step: sp.Basic) -> bool:
    """Tell whether a formula is linear in one of its parts, as it is written: that step alone is no peak."""
    if part == step or not part.has(step):
        return True
    if isinstance(part, sp.Mul):
        inside = [factor for factor in part.args if factor.has(step)]
        return len(inside) == 1 and linear(inside[0], step)
    if isinstance(part, sp.Piecewise):
        return all(linear(branch, step) and not case.has(step) for branch, case in part.args)
    return isinstance(part, sp.Add) and all(linear(term, step) for term in part.args)
