"""What polynomial arithmetic takes for a symbol because of its size: exponentials, floats, high powers.

To sympy's polynomials exp(38.66 v - 38.66 w) is a power of exp(v/50) times one of exp(w/50), x**(617/500) one
of x**(1/500): of degrees 1933 and 617, written out densely, in each of the unknowns. A circuit of four diodes
fills a memory with that. As symbols they are what they look like.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

HIGH = 12  # numerator or denominator of an exponent beyond which a power is a symbol


def by_symbols(expr: sp.Expr, arithmetic: Callable[[sp.Expr], sp.Expr], all_exp: bool = True) -> sp.Expr:
    """Return what polynomial arithmetic makes of an expression, unwieldy parts of it taken as symbols.

    So are all exponentials, if wanted: split into factors, which one by one overflow, they are no better.
    """
    parts: dict[sp.Basic, sp.Dummy] = {part: sp.Dummy(positive=True) for part in expr.atoms(sp.Float, sp.exp)}
    parts = {part: dummy for part, dummy in parts.items() if all_exp or part.is_Float or is_unwieldy(part)}
    parts |= {part: sp.Dummy(real=True) for part in expr.atoms(sp.Pow) if is_unwieldy(part)}
    if not parts:
        return arithmetic(expr)
    return arithmetic(expr.xreplace(parts)).xreplace({dummy: part for part, dummy in parts.items()})


def is_unwieldy(power: sp.Expr) -> bool:
    """Tell whether the polynomials of a power or an exponential have a high degree."""
    numbers = (term.as_coeff_Mul()[0] for term in sp.Add.make_args(power.exp))
    return any(not n.is_Rational or max(abs(n.p), n.q) >= HIGH for n in numbers)
