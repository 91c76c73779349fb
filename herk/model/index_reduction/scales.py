"""The size of every unknown and of time, read off the equations: where the terms of each row balance.

In logarithms that is a linear least-squares problem. A change of units shifts its solution and nothing else,
so whatever is measured in these sizes does not depend on units. Start values take part; where they are zero
or open, the equations decide alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from herk.core.dae import Array
from herk.linalg.balance import Form, balanced

if TYPE_CHECKING:
    from herk.model.model import Model

_START = 3.0  # weight of a start value beside one term of one row
_WEAK = 0.2  # of "the argument of a function is about one" and "the span is some hundred time units"
# in logarithms: a start value 1e12 times smaller than the equations alone say is zero but for rounding
_ROUNDING = 27.6
_LONGEST = 690.0  # in logarithms: what a double can hold, with room


@dataclass(frozen=True)
class Scales:
    """Sizes of time and of the unknowns."""

    t: float
    y: tuple[float, ...]


def scales(model: Model) -> Scales:
    """Return the sizes at which the terms of the rows of E y' = f balance."""
    found = _Balance(model)
    for i in range(model.n):
        found.row(i)
    span = abs(model.t_span[1] - model.t_span[0])
    found.tie({0: 1.0, -1: -math.log(span / 100)}, _WEAK)
    logs = _with_start(model, found)
    if found.forget_rounding(logs):
        logs = _with_start(model, found)
    logs = np.clip(logs, -_LONGEST / 2, _LONGEST / 2)
    return Scales(math.exp(logs[0]), tuple(math.exp(v) for v in logs[1 : 1 + model.n]))


def _with_start(model: Model, found: _Balance) -> Array:
    """Return the logarithms at which equations and start values balance."""
    alone, ties = balanced(found.ties, found.count), list(found.ties)
    for j, value in enumerate(model.y0):
        if value and math.log(abs(value)) > alone[1 + j] - _ROUNDING:
            ties.append(({1 + j: 1.0, -1: -math.log(abs(value))}, _START))
    return balanced(ties, found.count)


@dataclass
class _Balance:
    """Unknown logarithms (time, states, then one per sum) and the ties between them."""

    model: Model
    ties: list[tuple[Form, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        model = self.model
        self.count = 1 + model.n
        self._sums: list[
            tuple[int, list[Form]]
        ] = []  # the first tie of every sum, and the sizes of its terms
        self._known: dict[sp.Expr, Form | None] = {model.t: {0: 1.0}}
        self._known |= {s: {1 + j: 1.0} for j, s in enumerate(model.states)}
        self._values = {p: sp.Float(value) for p, value in model.parameters.items()}
        self._moving = {model.t, *model.states}

    def tie(self, form: Form, weight: float = 1.0) -> None:
        """Ask for form = 0."""
        self.ties.append((form, weight))

    def row(self, i: int) -> None:
        """Ask that all terms of row i, those with derivatives too, have the same size."""
        terms = [self.size(term) for term in sp.Add.make_args(self.model.f[i])]
        for j, entry in self.model.leading[i].items():
            size = self.size(entry)
            terms.append(None if size is None else _sum((size, 1.0), ({1 + j: 1.0, 0: -1.0}, 1.0)))
        self._together([term for term in terms if term is not None])

    def _together(self, sizes: list[Form]) -> Form | None:
        """Return a new unknown that each of the sizes is tied to."""
        if len(sizes) < 2:
            return sizes[0] if sizes else None
        own = {self.count: 1.0}
        self.count += 1
        self._sums.append((len(self.ties), sizes))
        for size in sizes:
            self.tie(_sum((own, 1.0), (size, -1.0)))
        return own

    def forget_rounding(self, logs: Array) -> bool:
        """Free numbers that are lost in their sums, such as cos(pi/2) in doubles: they are no sizes."""
        lost = set()
        for first, sizes in self._sums:
            values = [
                form.get(-1, 0.0) + sum(v * logs[j] for j, v in form.items() if j >= 0) for form in sizes
            ]
            small = max(values) - _ROUNDING
            lost |= {
                first + k
                for k, form in enumerate(sizes)
                if values[k] < small and not any(j > 0 for j in form)
            }
        self.ties = [(form, 0.0 if k in lost else weight) for k, (form, weight) in enumerate(self.ties)]
        return bool(lost)

    def size(self, expr: sp.Expr) -> Form | None:
        """Return the logarithm of the size of an expression; None if it is zero."""
        if expr not in self._known:
            self._known[expr] = self._size(expr)
        return self._known[expr]

    def _size(self, expr: sp.Expr) -> Form | None:
        if not expr.free_symbols & self._moving:
            return _constant(expr.xreplace(self._values))
        if expr.is_Add:
            return self._together([size for size in map(self.size, expr.args) if size is not None])
        if expr.is_Mul:
            sizes = [self.size(factor) for factor in expr.args]
            return (
                None if any(s is None for s in sizes) else _sum(*((s, 1.0) for s in sizes if s is not None))
            )
        if expr.is_Pow and expr.exp.is_Rational:
            base = self.size(expr.base)
            return None if base is None else _sum((base, float(expr.exp)))
        if isinstance(expr, sp.Piecewise):
            branches = [self.size(branch) for branch, _ in expr.args]
            return self._together([size for size in branches if size is not None])
        for argument in expr.args:
            size = self.size(argument) if isinstance(argument, sp.Expr) else None
            if size:
                self.tie(size, _WEAK)
        return {}


def _constant(expr: sp.Expr) -> Form | None:
    try:
        value = abs(complex(expr))
    except (TypeError, OverflowError):
        return {}
    if not value:
        return None
    return {-1: math.log(value)} if math.isfinite(value) else {}


def _sum(*parts: tuple[Form, float]) -> Form:
    total: Form = {}
    for form, factor in parts:
        for key, value in form.items():
            total[key] = total.get(key, 0.0) + factor * value
    return total
