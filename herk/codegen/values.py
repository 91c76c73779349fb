"""Many formulas of few shapes in doubles: all that have one shape at one stroke."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from herk.codegen.groups import vector
from herk.codegen.shapes import CLOCK, NUMBER, PARAMETER, STATE, Catalogue, Formula, Shape
from herk.codegen.tape import operation
from herk.core.dae import Array

Whole = NDArray[np.int64]


class Space:
    """States, parameters and numbers in one vector, where formulas find what stands in their slots."""

    def __init__(self, catalogue: Catalogue, parameters: Sequence[float]) -> None:
        """Remember where each kind begins."""
        n = len(catalogue.symbols[STATE])
        self.begin = {STATE: 0, PARAMETER: n, NUMBER: n + len(parameters)}
        self._fixed = np.array([*parameters, *(float(number) for number in catalogue.numbers)], dtype=float)

    def vector(self, y: Array) -> Array:
        """Return everything at once."""
        return np.concatenate([y, self._fixed])

    def places(self, shape: Shape, formulas: Sequence[Formula]) -> Whole:
        """Return where the slots of formulas of one shape are, a row for each slot."""
        found = np.array([formula.at for formula in formulas], dtype=np.int64)
        found = found.reshape(len(formulas), len(shape.kinds))
        return found.T + np.array([self.begin[kind] for kind in shape.kinds], dtype=np.int64)[:, None]


class Batch:
    """Formulas that are evaluated together."""

    def __init__(self, space: Space, formulas: Sequence[Formula], *, sizes: bool = False) -> None:
        """Put those of one shape together; `sizes`: the sizes of their terms instead of their values."""
        self._space, self._count = space, len(formulas)
        self._groups: list[tuple[Callable[..., Any], Whole, Whole]] = []
        for shape, members in by_shape(formulas).items():
            own = [formulas[i] for i in members]
            function = _evaluated(shape, sizes=sizes)
            self._groups.append((function, space.places(shape, own), np.array(members, dtype=np.int64)))

    def __call__(self, t: float, y: Array) -> Array:
        """Return the values; what has none is not a number."""
        out, z = np.empty(self._count), self._space.vector(y)
        with np.errstate(all="ignore"):
            for function, places, members in self._groups:
                out[members] = np.real_if_close(function(np.float64(t), *z[places]), tol=0.0).astype(float)
        return out


def by_shape(formulas: Sequence[Formula]) -> Mapping[Shape, list[int]]:
    """Return which formulas have which shape."""
    groups: dict[Shape, list[int]] = {}
    for i, formula in enumerate(formulas):
        groups.setdefault(formula.shape, []).append(i)
    return groups


def _evaluated(shape: Shape, *, sizes: bool) -> Callable[..., Any]:
    """Return the shape as a function of time and arrays, made once.

    Its operations are done one after the other: a text for Python would have to be written and read first,
    which takes longer than all values that are asked for.
    """
    if ("values", sizes) not in shape.known:
        shape.known["values", sizes] = partial(_values, _Steps(shape), sizes)
    function: Callable[..., Any] = shape.known["values", sizes]
    return function


class _Steps:
    """The operations behind a shape, each with the places of its operands; slots come first."""

    def __init__(self, shape: Shape) -> None:
        self.places: dict[sp.Basic, int] = {each: i for i, each in enumerate((CLOCK, *shape.slots))}
        self.steps: list[tuple[Callable[..., Any], tuple[int, ...], sp.Expr]] = []
        self.result = self._place(shape.expr)

    def _place(self, expr: sp.Expr) -> int:
        if expr not in self.places:
            function, operands = _operation(expr)
            places = tuple(self._place(each) for each in operands)
            self.steps.append((function, places, expr))
            self.places[expr] = len(self.places)
        return self.places[expr]


def _operation(expr: sp.Expr) -> tuple[Callable[..., Any], Sequence[sp.Expr]]:
    """Return a function on arrays and the subexpressions it is for."""
    if expr.is_Rational or expr.is_Float:
        value = float(expr)
        return (lambda: value), ()
    known, operands = operation(expr) if not expr.is_Atom else (None, ())
    found = vector(known.kind) if known is not None else None
    if found is not None:
        return found, operands
    symbols = sorted(expr.free_symbols, key=str)
    return sp.lambdify(symbols, expr, ["scipy", "numpy"]), symbols  # erfc and gamma of numpy take no arrays


def _values(steps: _Steps, sizes: bool, *inputs: Any) -> Any:
    """Return the values, or how large they would be if nothing cancelled in one of their factors."""
    done = list(inputs)
    for function, places, _ in steps.steps:
        done.append(function(*[done[i] for i in places]))
    return _size(steps, done) if sizes else done[steps.result]


def _size(steps: _Steps, done: Sequence[Any]) -> Any:
    """Return the sizes: sums of those of terms, products with one factor after the other by its size."""
    big = [np.abs(value) for value in done]
    first = len(done) - len(steps.steps)
    for k, (_, places, expr) in enumerate(steps.steps, first):
        if expr.is_Add:
            big[k] = sum(big[i] for i in places)
        elif expr.is_Mul:
            parts = [i for i in places if i >= first and steps.steps[i - first][1]]
            if parts:
                big[k] = sum(big[i] * math.prod([np.abs(done[j]) for j in places if j != i]) for i in parts)
    return big[steps.result]
