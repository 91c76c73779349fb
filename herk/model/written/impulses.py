"""Derivatives of what jumps are impulses, which no step can see: they are refused in a sentence."""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef

from herk.codegen.numbers import readable
from herk.core import InputError
from herk.model.functions import ceiling, floor

JUMPING = (sp.Heaviside, sp.sign, sp.floor, sp.ceiling)
SMOOTHED = (floor, ceiling)  # of a remainder, whose slope between its jumps is what is wanted


def derivative(expr: sp.Expr, t: sp.Symbol, place: str) -> sp.Expr:
    """Return the derivative of a formula in functions of time; refuse an impulse."""
    refuse_jumps(expr, t, place)
    found = sp.diff(expr, t)
    refuse_impulses(found, place)
    return found


def refuse_jumps(expr: sp.Expr, t: sp.Symbol, place: str) -> None:
    """Raise if a formula that is to be differentiated jumps as time goes on."""
    jumps = [e for e in expr.atoms(*JUMPING) if not isinstance(e, SMOOTHED) and e.has(t)]
    if jumps:
        _refuse(_plain(min(jumps, key=sp.default_sort_key)), place)


def refuse_impulses(expr: sp.Expr, place: str) -> None:
    """Raise if a formula contains an impulse."""
    found = expr.atoms(sp.DiracDelta)
    if found:
        where = _plain(min(found, key=sp.default_sort_key).args[0])
        _refuse(f"a function that jumps where 0 = {where}", place)


def _refuse(jumping: str, place: str) -> None:
    raise InputError(
        f"{place} contains the derivative of {jumping}: where it jumps, that is an impulse. Between the jumps"
        " it is zero: leave it out if that is meant. Otherwise take the jump out of what is differentiated:"
        " with w = x - Heaviside(t - 1), x' = Heaviside(t - 1)' is w' = 0."
    )


def _plain(expr: sp.Expr) -> str:
    """Return a formula with unknowns as people write them: x, not x(t)."""
    return str(readable(expr.xreplace({f: sp.Symbol(f.func.__name__) for f in expr.atoms(AppliedUndef)})))
