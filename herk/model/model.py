"""A model as the textbook writes it: E(t,y) y' = f(t,y) in sympy, with named parameters, start and span."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sympy as sp

from herk.codegen.equations import Equations
from herk.codegen.numbers import inserted
from herk.codegen.shapes import column
from herk.core import InputError, nearest
from herk.core.dae import is_large
from herk.model import entries, plain
from herk.model.breakpoints import conditions
from herk.model.in_time import InTime, in_time
from herk.model.peaks import Peak, peaks
from herk.model.written.doors import FrontDoors

if TYPE_CHECKING:
    from herk.model.forms.forms import Form


@dataclass(frozen=True, init=False, repr=False)
class Model(FrontDoors):
    """E(t,y) y' = f(t,y) with n states; parameters stay symbols, their values count at run time.

    Rows of E that are zero are constraints, 0 = f. `Model.from_equations` takes equations in any order.

    Parameters
    ----------
    name : str
        What the model is called.
    states : sequence of symbols or str
        The unknowns; equal names mean the same symbol.
    E, f : matrix and vector of formulas
        Numbers, sympy's expressions or texts such as ``"-2*x*lam"``. E may be sparse: a matrix of SciPy or
        sympy, or a mapping {(row, column): entry}.
    t : symbol or str, optional
        The time, "t" if not given.
    parameters : mapping, optional
        Values of constants; they stay symbols, and other values cost nothing.
    t_span : (float, float)
        Start and end of time.
    y0 : sequence of float or None
        The start; None is computed from the constraints.

    Examples
    --------
    >>> import herk
    >>> model = herk.Model(
    ...     "pendulum",
    ...     ["x", "y", "v", "w", "lam"],
    ...     [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]],
    ...     ["v", "w", "-2*x*lam", "-2*y*lam - g", "x**2 + y**2 - 1"],
    ...     parameters={"g": 9.81},
    ...     t_span=(0, 10),
    ...     y0=[1, 0, 0, 0, None],
    ... )
    >>> model.with_parameters(g=1.62).values
    (1.62,)

    """

    name: str
    states: tuple[sp.Symbol, ...]
    E: sp.MatrixBase
    f: sp.ImmutableDenseMatrix
    t: sp.Symbol
    parameters: Mapping[sp.Symbol, float] = field(hash=False)
    t_span: tuple[float, float]
    y0: tuple[float | None, ...]
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)  # what a front door did
    implicit: tuple[int, ...] = field(default=(), compare=False, repr=False)  # see herk.model.several

    def __init__(
        self,
        name: str,
        states: Sequence[sp.Symbol | str],
        E: Any,
        f: Sequence[Any],
        *,
        t: sp.Symbol | str = "t",
        parameters: Mapping[Any, Any] = MappingProxyType({}),
        t_span: tuple[float, float],
        y0: Sequence[float | None],
    ) -> None:
        """Validate and freeze the model."""
        if not isinstance(name, str) or not name:
            raise InputError(f"The name of a model must be a text that is not empty, not {name!r}.")
        wanted = "The states must be a sequence of at least one symbol or name"
        if not (states := plain.ordered(states, wanted)):
            raise InputError(f"{wanted}, not an empty one.")
        self._set(name=name, **entries.content(states, E, f, t, parameters))
        self._set(t_span=plain.span(t_span), y0=plain.start_values(y0, self.names))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the states."""
        return tuple(s.name for s in self.states)

    @property
    def values(self) -> tuple[float, ...]:
        """Return the values of the parameters, in their order."""
        return tuple(self.parameters.values())

    @property
    def n(self) -> int:
        """Return the number of unknowns."""
        return len(self.names)

    @cached_property
    def leading(self) -> tuple[Mapping[int, sp.Expr], ...]:
        """Return the rows of E without their zeros, by columns: what is large is mostly zero."""
        rows: list[dict[int, sp.Expr]] = [{} for _ in self.states]
        for (i, j), entry in sorted(self.E.todok().items()):
            rows[i][j] = entry
        return tuple(rows)

    @cached_property
    def structure(self) -> str:
        """Return a hash of the equations, the same in every process.

        Values of parameters, start and span do not enter.
        """
        if is_large(self.n):
            from herk.model.index_reduction.structural.rows import digest

            return digest(self)
        text = sp.srepr((self.states, self.E, self.f, self.t, tuple(self.parameters)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def key(self) -> str:
        """Return a hash of the equations and parameter values, the same in every process.

        Start and span do not enter.
        """
        text = repr((self.structure, sorted((str(k), v) for k, v in self.parameters.items())))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def symbolic(self, constraints: Sequence[sp.Expr] = ()) -> Equations:
        """Return the system with its parameters as symbols; `constraints` (hidden ones included) become g."""
        return Equations(self.t, self.states, self.E, self.f, column(constraints), tuple(self.parameters))

    @cached_property
    def in_time(self) -> InTime:
        """Return the conditions on time alone, and the narrow pulses."""
        return in_time(self.symbolic())

    @cached_property
    def conditions(self) -> tuple[sp.Expr, ...]:
        """Return the functions of the state whose signs decide on E or f, each once whatever its sign."""
        return conditions(self.symbolic(), self.states)

    @cached_property
    def jumps(self) -> tuple[sp.Expr, ...]:
        """Return those conditions at which the equations jump; none of a model with very many."""
        from herk.model.jumps import jumping

        return jumping(self)

    @cached_property
    def peaks(self) -> tuple[Peak, ...]:
        """Return the narrow peaks that move with the state."""
        return peaks(self.symbolic())

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Return the times at which a condition on time alone changes, and those of narrow pulses."""
        return self.breakpoints_in(self.t_span)

    def breakpoints_in(self, span: tuple[float, float], max_step: float = math.inf) -> tuple[float, ...]:
        """Return these times for another span, and steps that are no longer than this."""
        return self.in_time.times(self.t, tuple(self.parameters.items()), span, max_step)

    def numeric(self, constraints: Sequence[sp.Expr] = ()) -> Equations:
        """Return the system with values of parameters; `constraints` (hidden ones included) become g."""
        values = self.parameters
        g = sp.ImmutableDenseMatrix(
            len(constraints), 1, [inserted(sp.sympify(row), values) for row in constraints]
        )
        return Equations(self.t, self.states, inserted(self.E, values), inserted(self.f, values), g)

    def equations(self) -> Equations:
        """Return the system with all constraints found by Procedure 2.4 as g, every parameter a number."""
        from herk.model.index_reduction.regularize import regularize

        return self.numeric(regularize(self).constraints)

    def with_parameters(self, **changes: float) -> Model:
        """Return a copy with other parameter values.

        Examples
        --------
        >>> import herk, testset
        >>> moon = testset.get("pendulum").model.with_parameters(g=1.62)
        >>> dict(zip(map(str, moon.parameters), moon.values))["g"]
        1.62

        """
        known = {p.name: p for p in self.parameters}
        for name in changes:
            if name not in known:
                raise nearest(name, known, f"parameter of model {self.name!r}")
        new = {known[name]: plain.finite(value, f"Parameter {name}") for name, value in changes.items()}
        values = MappingProxyType({**self.parameters, **new})
        return self._changed(parameters=values, structure=self.structure)  # the same, and long to find

    def with_span(self, t_end: float | None = None, *start: float, t0: float | None = None) -> Model:
        """Return a copy with another end or start time; of two numbers without names the end comes first.

        Examples
        --------
        >>> import herk, testset
        >>> testset.get("pendulum").model.with_span(5).t_span
        (0.0, 5.0)

        """
        return self._changed(t_span=plain.other_span(self.t_span, t_end, start, t0))

    def with_start(self, y0: Sequence[float | None] | Mapping[Any, float | None]) -> Model:
        """Return a copy with other start values, in order or by name; what is not named stays.

        Examples
        --------
        >>> import herk, testset
        >>> testset.get("pendulum").model.with_start({"x": 0.6, "y": -0.8, "lam": None}).y0
        (0.6, -0.8, 0.0, 0.0, None)

        """
        if isinstance(y0, Mapping):
            from herk.model.written.start import in_order

            y0 = in_order(self, y0)
        return self._changed(y0=plain.start_values(y0, self.names))

    def form(self, name: str = "overdetermined", **options: float) -> Form:
        """Return a form of the equations, compiled.

        Parameters
        ----------
        name : str
            "overdetermined", "index1", "index2", "index3", "ggl", "baumgarte", "ode" or "second_order".
        **options
            Of "baumgarte": k0 and k1.

        Examples
        --------
        >>> import herk, testset
        >>> form = testset.get("pendulum").model.form("overdetermined")
        >>> form.n, form.m
        (5, 3)

        """
        from herk.model.forms import forms

        return forms.form(self, name, **options)

    def __repr__(self) -> str:
        """Return the equations as one would type them, parameters and start."""
        from herk.model.written.formulas import text

        return text(self)

    def _repr_latex_(self) -> str:
        """Return the equations as one aligned display, for notebooks."""
        from herk.model.written.formulas import latex

        return latex(self)

    def _set(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def _changed(self, **attributes: Any) -> Model:
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__, **attributes)  # as a copy would, in a tenth of the time
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Return the content with the parameters as a plain dict: read-only views cannot be pickled."""
        return self.__dict__ | {"parameters": dict(self.parameters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the content."""
        self._set(**state | {"parameters": MappingProxyType(state["parameters"])})
