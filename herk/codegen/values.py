"""Many formulas of few shapes in doubles: all that have one shape at one stroke."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from herk.codegen.shapes import CLOCK, NUMBER, PARAMETER, STATE, Catalogue, Formula, Shape
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
            function = _compiled(shape, sizes=sizes)
            self._groups.append((function, space.places(shape, own), np.array(members, dtype=np.int64)))

    def __call__(self, t: float, y: Array) -> Array:
        """Return the values; what has none is not a number."""
        out, z = np.empty(self._count), self._space.vector(y)
        with np.errstate(all="ignore"):
            for function, places, members in self._groups:
                out[members] = np.real_if_close(function(t, *z[places]), tol=0.0).astype(float)
        return out


def by_shape(formulas: Sequence[Formula]) -> Mapping[Shape, list[int]]:
    """Return which formulas have which shape."""
    groups: dict[Shape, list[int]] = {}
    for i, formula in enumerate(formulas):
        groups.setdefault(formula.shape, []).append(i)
    return groups


def _compiled(shape: Shape, *, sizes: bool) -> Callable[..., Any]:
    """Return the shape as a function of time and arrays, made once."""
    if ("values", sizes) not in shape.known:
        expr = _size(shape.expr) if sizes else shape.expr
        shape.known["values", sizes] = sp.lambdify((CLOCK, *shape.slots), expr, "numpy")
    function: Callable[..., Any] = shape.known["values", sizes]
    return function


def _size(expr: sp.Expr) -> sp.Expr:
    """Return how large an expression would be if nothing cancelled in one of its factors."""
    if expr.is_Add:
        return sp.Add(*(_size(each) for each in expr.args))
    if expr.is_Mul:
        sizes = [sp.Abs(each) for each in expr.args]
        parts = [
            sp.Mul(_size(each), *sizes[:i], *sizes[i + 1 :]) for i, each in enumerate(expr.args) if each.args
        ]
        return sp.Add(*parts) if parts else sp.Mul(*sizes)
    return sp.Abs(expr)
