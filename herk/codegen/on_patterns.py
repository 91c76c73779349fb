"""Machine code of a system for sparse matrices: f, g and values on the patterns of E and of Jacobians.

Formulas of one shape are one loop over tables of places: code does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.codegen.gradient import gradient
from herk.codegen.loops import Loops
from herk.codegen.shapes import CLOCK, STATE, Catalogue, Formula, Shape, Written
from herk.core.dae import Array
from herk.jit.state import Wholes
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


def _bends(shape: Shape) -> bool:
    """Tell whether a derivative by a state depends on states or on time."""
    states = {slot for slot, kind in zip(shape.slots, shape.kinds, strict=True) if kind == STATE}
    slopes = gradient(shape.expr)
    return any(slopes[slot].free_symbols & {CLOCK, *states} for slot in states if slot in slopes)


class _Functions(Mapping[str, "Native"]):
    """Functions by name, made when one of them is first asked for, together with those wanted beside it."""

    def __init__(self, makers: Mapping[tuple[str, ...], Callable[[], Mapping[str, Native]]]) -> None:
        kept = {names: cache(make) for names, make in makers.items()}
        self._makers = {name: make for names, make in kept.items() for name in names}

    def __getitem__(self, name: str) -> Native:
        return self._makers[name]()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True)
class Divided:
    """Constraints in two parts: the rows of each, functions of these rows alone, what the last ones are like.

    The functions are g_held, jac_held, g_last, jac_last, and `square`: derivatives of the last rows with
    respect to the components they determine.
    """

    rows: tuple[Wholes, Wholes]
    functions: Mapping[str, Native]
    linear: bool


class OnPatterns:
    """f, g, g_t, and E, g_y, f_y, (E v)_y on patterns; made when first asked for."""

    def __init__(self, equations: Equations) -> None:
        """Read the formulas."""
        self.n, self.m = equations.n, equations.m
        known = equations.g if isinstance(equations.g, Written) else None
        fresh = Catalogue(equations.t, equations.states, equations.parameters)
        self.catalogue = fresh if known is None else known.catalogue
        read = self.catalogue.read
        self._f = [read(each) for each in equations.f]
        self._g = [read(each) for each in equations.g] if known is None else list(known.formulas)
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
        """Return the functions (t, y, par, out); jac_Ey is (t, y, v, par, out).

        Those that only implicit methods want are made when first asked for.
        """
        parts = ("g_held", "g_last", "jac_held", "jac_last", "square") if self._parts[0] else ()
        always, implicit = ("f", "g", "E", "g_t", "jac_g", *parts), ("jac_f", "jac_Ey")
        return _Functions({always: self._for_all, implicit: self._for_implicit})

    def _for_all(self) -> Mapping[str, Native]:
        loops = Loops(self.catalogue)
        loops.values("f", self._f)
        loops.values("E", list(self._E.values()))
        loops.time_derivatives("g_t", self._g)
        self._constraints(loops)
        return loops.built()

    def _constraints(self, loops: Loops) -> None:
        """Write g and its derivatives, and those of their parts: the same loops."""
        where = self._places["jac_g"][1]
        held, last = map(frozenset, self._parts)
        if not held:
            loops.values("g", self._g)
            self._slopes_of("jac_g", self._g, loops)
            return
        for name, rows in (("held", held), ("last", last)):
            loops.values(f"g_{name}", self._g, rows)
            loops.slopes(f"jac_{name}", self._g, lambda i, j: where[i, j], among=rows)
        loops.both("g", ("g_held", "g_last"))
        loops.both("jac_g", ("jac_held", "jac_last"))
        loops.slopes_in("square", self._g, lambda i, j: where[i, j], last, self._free)

    def _for_implicit(self) -> Mapping[str, Native]:
        loops = Loops(self.catalogue)
        self._slopes_of("jac_f", self._f, loops)
        self._products(loops)
        return loops.built()

    @cached_property
    def _parts(self) -> tuple[list[int], list[int]]:
        """Return which constraints have no free component, and the others.

        All are in the second list if there are not as many others as free components.
        """
        having = [bool(self._free.intersection(self._states_of(each))) for each in self._g]
        held, last = ([i for i, has in enumerate(having) if has == kind] for kind in (False, True))
        return (held, last) if held and len(last) == len(self._free) > 0 else ([], list(range(self.m)))

    @cached_property
    def _free(self) -> frozenset[int]:
        """Return the components whose derivative does not occur."""
        return frozenset(range(self.n)).difference(j for _, j in self._E)

    @cached_property
    def divided(self) -> Divided | None:
        """Return the constraints in two parts: those without free components, and those that determine them.

        None: there are not as many others as such components, or nothing but others.
        """
        held, last = self._parts
        if not held:
            return None
        linear = all(self._linear(self._g[i], self._free) for i in last)
        parts = np.array(held, dtype=np.int64), np.array(last, dtype=np.int64)
        return Divided(parts, self.functions, linear)

    def _states_of(self, formula: Formula) -> Iterable[int]:
        return (formula.at[slot] for slot in self.catalogue.slopes(formula.shape))

    def _linear(self, formula: Formula, states: frozenset[int]) -> bool:
        """Tell whether derivatives with respect to these states have none of them."""
        for slot, (shape, chosen) in self.catalogue.slopes(formula.shape).items():
            if formula.at[slot] in states:
                kinds = zip(shape.kinds, chosen, strict=True)
                if any(kind == STATE and formula.at[place] in states for kind, place in kinds):
                    return False
        return True

    def _slopes_of(self, name: str, rows: Sequence[Formula], loops: Loops) -> None:
        where = self._places[name][1]
        loops.slopes(name, rows, lambda i, j: where[i, j])

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

    @cached_property
    def linear(self) -> bool:
        """Tell whether E and all derivatives of f and g by the states are the same along a run."""
        shapes = {formula.shape for formula in (*self._f, *self._g)}
        return self.constant_E and not any(map(_bends, shapes))

    def matrix(self, name: str, t: float, y: Array, parameters: Array, *more: Array) -> Any:
        """Return E or a Jacobian as a sparse matrix."""
        found = self.patterns[name]
        values = np.empty(found.nnz)
        self.functions[name](t, y, *more, parameters, values)
        return found.matrix(values)
