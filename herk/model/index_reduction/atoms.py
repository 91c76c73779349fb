"""What polynomial arithmetic takes for a symbol because of its size: exponentials, floats, high powers.

To sympy's polynomials exp(38.66 v - 38.66 w) is a power of exp(v/50) times one of exp(w/50), x**(617/500) one
of x**(1/500): of degrees 1933 and 617, written out densely, in each of the unknowns. A circuit of four diodes
fills a memory with that. As symbols they are what they look like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

HIGH = 12  # numerator or denominator of an exponent beyond which a power is a symbol


def by_symbols(expr: sp.Expr, arithmetic: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """Return what polynomial arithmetic makes of an expression, unwieldy parts of it taken as symbols."""
    # Floats would make cancelling inexact, and exponentials would be split into factors that overflow.
    frozen: Mapping[sp.Basic, sp.Dummy] = {
        part: sp.Dummy(positive=True) for part in expr.atoms(sp.Float, sp.exp)
    } | {part: sp.Dummy(real=True) for part in expr.atoms(sp.Pow) if is_unwieldy(part)}
    if not frozen:
        return arithmetic(expr)
    return arithmetic(expr.xreplace(frozen)).xreplace({dummy: part for part, dummy in frozen.items()})


def is_unwieldy(power: sp.Pow) -> bool:
    """Tell whether the polynomials of a power have a high degree."""
    numbers = (term.as_coeff_Mul()[0] for term in sp.Add.make_args(power.exp))
    return any(not n.is_Rational or max(abs(n.p), n.q) >= HIGH for n in numbers)
