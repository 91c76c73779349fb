"""The functions a formula may use: their names, and how they are written to have derivatives and code."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

import sympy as sp

from herk.codegen.numbers import divided


class floor(sp.floor):  # type: ignore[misc] # noqa: N801 - printers look for this name
    """Largest whole number not above x; its derivative is zero, right except at the jumps."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002 - sympy's signature
        """Return the derivative."""
        return sp.S.Zero


class ceiling(sp.ceiling):  # type: ignore[misc] # noqa: N801 - printers look for this name
    """Smallest whole number not below x; its derivative is zero, right except at the jumps."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002 - sympy's signature
        """Return the derivative."""
        return sp.S.Zero


def remainder(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """Return what is left of a after division by b; sympy's own Mod may work on powers forever."""
    return a - b * floor(divided(a, b))


class Known(NamedTuple):
    """What a name in a text stands for, and how many arguments it takes."""

    make: Callable[..., Any]
    least: int = 1
    most: int = 1


_MANY = 16  # more arguments of Max and Min take sympy seconds
_CIRCULAR = "sin cos tan sec csc cot asin acos atan asec acsc acot"
_HYPERBOLIC = "sinh cosh tanh sech csch coth asinh acosh atanh asech acsch acoth"
_OTHER = "exp sqrt Abs sign floor ceiling erf erfc gamma"
_SINGLE = f"{_CIRCULAR} {_HYPERBOLIC} {_OTHER}".split()
_LARGEST = {"Max": sp.Max, "max": sp.Max, "Min": sp.Min, "min": sp.Min}

FUNCTIONS = MappingProxyType(
    {name: Known(getattr(sp, name)) for name in _SINGLE}
    | {"abs": Known(sp.Abs), "ln": Known(sp.log), "log": Known(sp.log, 1, 2)}
    | {"atan2": Known(sp.atan2, 2, 2), "Mod": Known(remainder, 2, 2)}
    | {name: Known(getattr(sp, name), 1, 2) for name in ("Heaviside", "Rational")}
    | {name: Known(kind, 1, _MANY) for name, kind in _LARGEST.items()}
)
# What conditions are made with; they stand in Piecewise only.
LOGIC = MappingProxyType({"And": Known(sp.And, 1, _MANY), "Or": Known(sp.Or, 1, _MANY), "Not": Known(sp.Not)})
_RELATIONS = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge")
RELATIONS = MappingProxyType({name: Known(getattr(sp, name), 2, 2) for name in _RELATIONS})

_INVERSES = {
    sp.asec: sp.acos,
    sp.acsc: sp.asin,
    sp.acot: sp.atan,
    sp.asech: sp.acosh,
    sp.acsch: sp.asinh,
    sp.acoth: sp.atanh,
}
_BY_PIECES = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.floor, sp.ceiling, sp.Mod)


def differentiable(expr: sp.Expr) -> sp.Expr:
    """Write functions so that derivatives and code exist: kinks and jumps by pieces, acot(x) as atan(1/x).

    sympy's own derivatives of functions with kinks contain delta functions or assume complex numbers.
    """
    if not expr.has(*_BY_PIECES, *_INVERSES):
        return expr
    expr = (
        expr.replace(sp.Abs, lambda a: sp.Piecewise((a, a >= 0), (-a, True)))
        .replace(sp.sign, lambda a: sp.Piecewise((1, a > 0), (-1, a < 0), (0, True)))
        .replace(sp.Heaviside, lambda a, middle: sp.Piecewise((0, a < 0), (middle, sp.Eq(a, 0)), (1, True)))
        .replace(sp.Max, lambda *a: _chosen(a, sp.Ge))
        .replace(sp.Min, lambda *a: _chosen(a, sp.Le))
        .replace(sp.Mod, lambda a, b: a - b * floor(a / b))
        .replace(sp.floor, floor)
        .replace(sp.ceiling, ceiling)
    )
    for reciprocal, plain in _INVERSES.items():
        expr = expr.replace(reciprocal, lambda a, plain=plain: plain(1 / a))
    return expr


def _chosen(values: tuple[sp.Expr, ...], relation: Callable[..., Any]) -> sp.Expr:
    """Return the first value that has this relation to all others."""
    first = ((b, sp.And(*(relation(b, c) for c in values if c is not b))) for b in values[:-1])
    return sp.Piecewise(*first, (values[-1], True))
