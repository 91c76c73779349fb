"""The functions a formula may use: their names, and how they are written to have derivatives and code."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
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
    expr = _by_pieces(expr).replace(sp.Mod, lambda a, b: a - b * floor(a / b))
    expr = expr.replace(sp.floor, floor).replace(sp.ceiling, ceiling)
    for reciprocal, plain in _INVERSES.items():
        expr = expr.replace(reciprocal, lambda a, plain=plain: plain(1 / a))
    return expr


def _by_pieces(expr: sp.Basic) -> Any:
    """Return an expression with functions that have kinks or jumps written by pieces, from the inside out."""
    if not expr.has(*_CASES):
        return expr
    arguments = [_by_pieces(each) for each in expr.args]
    cases = next((made for kind, made in _CASES.items() if isinstance(expr, kind)), None)
    if cases is None:
        return expr.func(*arguments)
    if not any(each.has(sp.Piecewise) for each in arguments):
        return sp.Piecewise(*cases(*arguments))
    # Conditions that contain pieces themselves make sympy look for all solutions of inequalities.
    pieces: list[tuple[Any, Any]] = []
    for chosen in product(*map(_branches, arguments)):
        given = sp.And(*(condition for _, condition in chosen))
        made = [(value, sp.And(given, condition)) for value, condition in cases(*(v for v, _ in chosen))]
        pieces += [(value, condition) for value, condition in made if condition is not sp.false]
    return sp.Piecewise(*pieces, evaluate=False)


def _branches(expr: sp.Expr) -> list[tuple[Any, Any]]:
    """Return values without pieces and their conditions, in the order in which they apply."""
    inside = next((each for each in sp.preorder_traversal(expr) if isinstance(each, sp.Piecewise)), None)
    if inside is None:
        return [(expr, sp.true)]
    return [
        (value, sp.And(condition, more))
        for one, condition in inside.args
        for value, more in _branches(expr.xreplace({inside: one}))
    ]


def _chosen(relation: Callable[..., Any], values: tuple[sp.Expr, ...]) -> list[tuple[Any, Any]]:
    """Return the cases in which a value has this relation to all others."""
    first = [(b, sp.And(*(relation(b, c) for c in values if c is not b))) for b in values[:-1]]
    return [*first, (values[-1], sp.true)]


_CASES: dict[Any, Callable[..., list[tuple[Any, Any]]]] = {
    sp.Abs: lambda a: [(a, a >= 0), (-a, sp.true)],
    sp.sign: lambda a: [(1, a > 0), (-1, a < 0), (0, sp.true)],
    sp.Heaviside: lambda a, middle: [(0, a < 0), (middle, sp.Eq(a, 0)), (1, sp.true)],
    sp.Max: lambda *a: _chosen(sp.Ge, a),
    sp.Min: lambda *a: _chosen(sp.Le, a),
}
