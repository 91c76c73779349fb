"""Machine code of a system for sparse matrices: f, g and values on the patterns of E and of Jacobians.

Formulas of one shape are one loop over tables of places: code does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.codegen.loops import Loops
from herk.codegen.shapes import CLOCK, STATE, Catalogue, Formula
from herk.core.dae import Array
from herk.linalg.pattern import Pattern

if TYPE_CHECKING:
    from herk.codegen.equations import Equations
    from herk.jit.native import Native

Places = dict[tuple[int, int], int]  # where the entry at (row, column) stands among the values


def _pattern(places: Iterable[tuple[int, int]], shape: tuple[int, int]) -> tuple[Pattern, Places]:
    """Return the pattern of entries at (row, column), and where each stands in it."""
    listed = sorted(set(places))
    indptr = np.zeros(shape[0] + 1, dtype=np.int64)
    rows = np.array([i for i, _ in listed], dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    indices = np.array([j for _, j in listed], dtype=np.int64)
    return Pattern(shape, indptr, indices), {place: k for k, place in enumerate(listed)}


class OnPatterns:
    """f, g, g_t, and E, g_y, f_y, (E v)_y on patterns; made when first asked for."""

    def __init__(self, equations: Equations) -> None:
        """Read the formulas."""
        self.n, self.m = equations.n, equations.m
        self.catalogue = Catalogue(equations.t, equations.states, equations.parameters)
        read = self.catalogue.read
        self._f = [read(each) for each in equations.f]
        self._g = [read(each) for each in equations.g]
        self._E = {place: read(each) for place, each in sorted(equations.E.todok().items()) if each != 0}

    @cached_property
    def patterns(self) -> Mapping[str, Pattern]:
        """Return the patterns of E, jac_g, jac_f, jac_Ey."""
        return {name: found for name, (found, _) in self._places.items()}

    @cached_property
    def _places(self) -> dict[str, tuple[Pattern, dict[tuple[int, int], int]]]:
        n = self.n
        return {
            "E": _pattern(self._E, (n, n)),
            "jac_g": _pattern(self._slopes(enumerate(self._g)), (self.m, n)),
            "jac_f": _pattern(self._slopes(enumerate(self._f)), (n, n)),
            "jac_Ey": _pattern(self._slopes((i, e) for (i, _), e in self._E.items()), (n, n)),
        }

    def _slopes(self, rows: Iterable[tuple[int, Formula]]) -> Iterable[tuple[int, int]]:
        slopes = self.catalogue.slopes
        return ((i, formula.at[slot]) for i, formula in rows for slot in slopes(formula.shape))

    @cached_property
    def functions(self) -> Mapping[str, Native]:
        """Return the functions (t, y, par, out); jac_Ey is (t, y, v, par, out)."""
        loops = Loops(self.catalogue)
        loops.values("f", self._f)
        loops.values("g", self._g)
        loops.values("E", list(self._E.values()))
        loops.time_derivatives("g_t", self._g)
        for name, rows in (("jac_g", self._g), ("jac_f", self._f)):
            where = self._places[name][1]
            loops.slopes(name, rows, lambda i, j, where=where: where[i, j])  # type: ignore[misc]
        self._products(loops)
        return loops.built()

    def _products(self, loops: Loops) -> None:
        """Write (E v)_y: every entry of E that depends on y, differentiated, times its v."""
        rows, where = list(self._E), self._places["jac_Ey"][1]
        loops.slopes(
            "jac_Ey", list(self._E.values()), lambda k, j: where[rows[k][0], j], factors=[j for _, j in rows]
        )

    @cached_property
    def constant_E(self) -> bool:  # noqa: N802 - the matrix is called E everywhere
        """Tell whether E is the same along a run."""
        shapes = {formula.shape for formula in self._E.values()}
        return not any(STATE in shape.kinds or CLOCK in shape.expr.free_symbols for shape in shapes)

    def matrix(self, name: str, t: float, y: Array, parameters: Array, *more: Array) -> Any:
        """Return E or a Jacobian as a sparse matrix."""
        found = self.patterns[name]
        values = np.empty(found.nnz)
        self.functions[name](t, y, *more, parameters, values)
        return found.matrix(values)
