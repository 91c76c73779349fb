"""Many formulas evaluated at one point: a list of operations in which each shared subexpression occurs once.

In doubles (quick), in any precision (exact), or with the size of what each value is made of: a value far
below that size is the rounding of terms that cancel.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import mpmath
import sympy as sp

from herk.codegen.groups import LONG, Groups

Number = Any  # mpmath.mpf
# Functions that sympy, mpmath and math know under the same name.
_FUNCTIONS = (
    *(sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2),
    *(sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.acosh, sp.atanh, sp.exp),
)
_NUDGE = mpmath.mpf(10) ** -25
# What the module math lacks: derivatives of gamma.
_BEYOND = {"polygamma": lambda n, x: float(mpmath.psi(int(n), x))}
_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge} | {
    "==": operator.eq,
    "!=": operator.ne,
}


class Operation(NamedTuple):
    """How a value follows from others: in many digits, in doubles, and how its size follows from theirs."""

    exact: Callable[..., Number]
    quick: Callable[..., float]
    size: Callable[[Operation, Number, list[Number], list[Number]], Number]
    kind: tuple[str, Any] | None = None


class Tape:
    """The operations behind a list of expressions in the given symbols."""

    def __init__(self, symbols: Sequence[sp.Symbol], expressions: Sequence[sp.Expr]) -> None:
        """Write the operations down in an order in which each finds its operands done."""
        self._operations: list[tuple[Operation, tuple[int, ...]]] = []
        self._places: dict[sp.Basic, int] = {symbol: i for i, symbol in enumerate(symbols)}
        self._count = len(symbols)
        self._results = [self._place(expr) for expr in expressions]

    def __call__(self, values: Sequence[Number]) -> list[Number]:
        """Return the values of the expressions for these symbols, in the precision of mpmath."""
        done = list(values)
        for operation, operands in self._operations:
            done.append(operation.exact(*[done[i] for i in operands]))
        return [done[i] for i in self._results]

    @cached_property
    def _groups(self) -> Groups:
        inputs = self._count - len(self._operations)
        return Groups(
            inputs, [(operation.kind, operation.quick, operands) for operation, operands in self._operations]
        )

    def floats(self, values: Sequence[float]) -> list[float]:
        """Return the values in doubles."""
        if len(self._operations) > LONG:
            everything = self._groups(values)
            return [float(everything[i]) for i in self._results]
        done = list(values)
        for operation, operands in self._operations:
            done.append(operation.quick(*[done[i] for i in operands]))
        return [done[i] for i in self._results]

    def sized(self, values: Sequence[Number], sizes: Sequence[Number]) -> list[tuple[Number, Number]]:
        """Return each value with the size of its terms.

        How far it moves if all symbols move by their sizes.
        """
        done, big = list(values), list(sizes)
        for operation, operands in self._operations:
            inputs, tops = [done[i] for i in operands], [big[i] for i in operands]
            value = operation.exact(*inputs)
            done.append(value)
            big.append(operation.size(operation, value, inputs, tops))
        return [(done[i], big[i]) for i in self._results]

    def _place(self, expr: sp.Expr) -> int:
        if expr not in self._places:
            found, operands = operation(expr)
            places = tuple(self._place(operand) for operand in operands)
            self._operations.append((found, places))
            self._places[expr] = self._count
            self._count += 1
        return self._places[expr]


def operation(expr: sp.Expr) -> tuple[Operation, Sequence[sp.Expr]]:
    """Return what to do with the values of which subexpressions."""
    if expr.is_Add:
        return Operation(_sum, _sum, _size_of_sum, ("sum", None)), expr.args
    if expr.is_Mul:
        return Operation(_product, _product, _size_of_product, ("product", None)), expr.args
    if expr.is_Atom:
        return _constant(expr), ()
    if expr.is_Pow:
        return _power(expr)
    name = expr.func.__name__
    if isinstance(expr, _FUNCTIONS) and hasattr(mpmath, name):
        quick = _unbounded(getattr(math, name))
        return Operation(getattr(mpmath, name), quick, _size_by_nudges, ("function", name)), expr.args
    if isinstance(expr, (sp.sech, sp.csch)):  # written out, so that they are zero where exponentials overflow
        return _power(1 / (sp.cosh if isinstance(expr, sp.sech) else sp.sinh)(*expr.args))
    symbols = tuple(sorted(expr.free_symbols, key=str))
    if isinstance(expr, sp.Piecewise):
        cases = Cases(symbols, expr)
        return Operation(cases.exact, cases.quick, _size_by_nudges), symbols
    return Operation(
        _printed(symbols, expr, "mpmath"), _printed(symbols, expr, "math"), _size_by_nudges
    ), symbols


class Cases:
    """A formula by cases, of which only the first that applies is evaluated: others may have no value."""

    def __init__(self, symbols: tuple[sp.Symbol, ...], expr: sp.Piecewise) -> None:
        """Take the branches apart; their operations are written down when they are first needed."""
        self.branches = [(condition, partial(_tape, symbols, (value,))) for value, condition in expr.args]
        self.symbols = symbols

    def exact(self, *values: Number) -> Number:
        """Return the value in many digits."""
        chosen = self._chosen(values, Tape.__call__)
        return None if chosen is None else chosen(values)[0]

    def quick(self, *values: float) -> Any:
        """Return the value in doubles; none where no case applies, as sympy's own functions do."""
        chosen = self._chosen(values, Tape.floats)
        return None if chosen is None else chosen.floats(values)[0]

    def _chosen(self, values: Sequence[Number], evaluate: Callable[[Tape, Any], list[Any]]) -> Tape | None:
        for condition, tape in self.branches:
            if self._holds(condition, values, evaluate):
                return tape()
        return None

    def _holds(self, condition: Any, values: Any, evaluate: Callable[[Tape, Any], list[Any]]) -> bool:
        if isinstance(condition, sp.core.relational.Relational):
            left, right = evaluate(_tape(self.symbols, (condition.lhs, condition.rhs)), values)
            return bool(_COMPARED[condition.rel_op](left, right))
        parts = (self._holds(each, values, evaluate) for each in condition.args)
        if isinstance(condition, sp.And | sp.Or):
            return all(parts) if isinstance(condition, sp.And) else any(parts)
        return not next(parts) if isinstance(condition, sp.Not) else bool(condition)


@lru_cache(maxsize=1 << 12)
def _tape(symbols: tuple[sp.Symbol, ...], expressions: tuple[sp.Expr, ...]) -> Tape:
    return Tape(symbols, expressions)


@lru_cache(maxsize=1 << 12)
def _printed(symbols: tuple[sp.Symbol, ...], expr: sp.Expr, library: str) -> Callable[..., Number]:
    """Return sympy's own function for an expression, made when it is first called, once for all tapes."""
    made: list[Callable[..., Number]] = []

    def call(*values: Number) -> Number:
        if not made:
            made.append(
                sp.lambdify(symbols, expr, modules=[_BEYOND, library] if library == "math" else library)
            )
        return made[0](*values)

    return call


def _unbounded(function: Callable[..., float]) -> Callable[..., float]:
    """Return a function of doubles that is infinite where Python's raises: 1/cosh(1000) is zero."""

    def call(*values: float) -> float:
        try:
            return function(*values)
        except OverflowError:
            return math.inf if function(math.copysign(1.0, values[0])) > 0.0 else -math.inf

    return call


def _constant(expr: sp.Expr) -> Operation:
    quick = float(expr)
    if expr.is_Rational:
        return Operation(lambda: mpmath.mpf(expr.p) / expr.q, lambda: quick, _size_of_constant)
    if expr.is_Float:
        return Operation(lambda: mpmath.mp.make_mpf(expr._mpf_), lambda: quick, _size_of_constant)
    return Operation(
        lambda: mpmath.mpmathify(str(sp.N(expr, mpmath.mp.dps + 5))), lambda: quick, _size_of_constant
    )


def _power(expr: sp.Expr) -> tuple[Operation, Sequence[sp.Expr]]:
    if expr.exp.is_Integer:
        whole = int(expr.exp)
        quick = _unbounded(lambda base: base**whole)
        return Operation(lambda base: base**whole, quick, _size_by_nudges, ("power", whole)), (expr.base,)
    if expr.exp.is_Rational and expr.exp.q == 2:
        odd = int(expr.exp.p)
        exact, quick = (lambda base: mpmath.sqrt(base) ** odd), (lambda base: math.sqrt(base) ** odd)
        return Operation(exact, quick, _size_by_nudges, ("root", odd)), (expr.base,)
    return Operation(mpmath.power, math.pow, _size_by_nudges), (expr.base, expr.exp)


def _sum(*terms: Number) -> Number:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _product(*factors: Number) -> Number:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


def _size_of_constant(
    _operation: Operation, value: Number, _inputs: list[Number], _tops: list[Number]
) -> Number:
    return abs(value)


def _size_of_sum(_operation: Operation, _value: Number, _inputs: list[Number], tops: list[Number]) -> Number:
    return _sum(*tops)


def _size_of_product(
    _operation: Operation, value: Number, inputs: list[Number], tops: list[Number]
) -> Number:
    if value and len(inputs) > 2:
        return abs(value) * _sum(*[top / abs(factor) for top, factor in zip(tops, inputs, strict=True)])
    total = mpmath.mpf(0)
    for i, top in enumerate(tops):
        total += abs(_product(top, *inputs[:i], *inputs[i + 1 :]))
    return total


def _size_by_nudges(operation: Operation, value: Number, inputs: list[Number], tops: list[Number]) -> Number:
    """Return |f| + sum |df/dx_i| size_i, the derivatives by differences, of which there are digits enough."""
    total = abs(value)
    for i, top in enumerate(tops):
        moved = operation.exact(*inputs[:i], inputs[i] + top * _NUDGE, *inputs[i + 1 :])
        total += abs(moved - value) / _NUDGE
    return total
