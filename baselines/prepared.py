"""Forms made ready for foreign solvers.

Start, way back, and compiled functions without the cost of general callables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from baselines.completion import Completion
from herk.core import Problem
from herk.core.dae import Array
from herk.model.forms.to_model_states import Elimination, ToModelStates


@dataclass(frozen=True, eq=False)
class Prepared:
    """A form with start (z0, z0') and the way back to the unknowns of the model.

    Compiled functions are found again after pickling.
    """

    form: Any
    t_span: tuple[float, float]
    start: tuple[Array, Array]
    to_model_states: ToModelStates
    breakpoints: tuple[float, ...] = field(default=(), kw_only=True)
    sizes: tuple[float, ...] = field(default=(), kw_only=True)

    @classmethod
    def of(cls, problem: Problem, own: Any, **more: Any) -> Self:
        """Return a form of a problem; what is not given in `more` is the form's or the problem's own."""
        known = {
            "form": own,
            "t_span": problem.t_span,
            "to_model_states": own.to_model_states,
            "sizes": problem.sizes,
        }
        known |= {"breakpoints": problem.breakpoints, **more}
        return cls(**known) if "start" in known else cls(start=own.start(), **known)

    @classmethod
    def from_other(cls, base: Prepared, **more: Any) -> Self:
        """Return the same with what a solver adds to it."""
        return cls(**{f.name: getattr(base, f.name) for f in fields(Prepared)}, **more)

    def restarted(self, t_span: tuple[float, float], y: Array) -> Prepared:
        """Return the same on another span, beginning near y (unknowns of the model)."""
        z, zp = self.form.start(y, t_span[0], repair=True)
        if len(z) != len(self.start[0]):  # algebraic unknowns eliminated in numbers
            z, zp = (values[list(self.to_model_states.kept)] for values in (z, zp))
        return replace(self, t_span=t_span, start=(z, zp))

    def __getstate__(self) -> dict[str, Any]:
        """Leave compiled functions out."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, eq=False)
class Implicit(Prepared):
    """F(t, z, z') = 0."""

    @cached_property
    def residual(self) -> Callable[..., None]:
        """Return the compiled residual; arguments t, z, zp, out."""
        return self.form._implicit[0]

    @cached_property
    def jacobian(self) -> Callable[..., None]:
        """Return its compiled Jacobian; arguments t, z, zp, cj, out, the matrix by rows."""
        return self.form._implicit[1]

    @cached_property
    def plain_residual(self) -> Callable[..., None]:
        """Return the residual as plain Python, the same formulas not compiled: what a user would write."""
        return getattr(self.residual, "py_func", self.residual)


@dataclass(frozen=True, eq=False)
class Explicit(Prepared):
    """z' = rate(t, z), multipliers eliminated.

    By formulas in the form `ode`, in numbers at every call in the form `baumgarte`.
    """

    @cached_property
    def rate(self) -> Callable[[float, Array], Array]:
        """Return z' as a function of (t, z)."""
        form = self.form
        if form.m:
            return _eliminated(form, self.elimination)
        if callable(form.E):
            return form.rate
        return _product(form.E, form.generated.functions()["f"], (form.n,))

    @cached_property
    def rate_jacobian(self) -> Callable[[float, Array], Array]:
        """Return the exact derivative of z' as a function of (t, z)."""
        form = self.form
        if form.m:
            return lambda t, z: self.elimination.rate_jacobian(t, z, self.rate(t, z))
        if callable(form.E):
            return form.rate_jacobian
        return _product(form.E, form.generated.derivatives()["jac_f"], (form.n, form.n))

    @cached_property
    def elimination(self) -> Elimination:
        """Return the unknowns solved for, and the rows and unknowns that are left."""
        rows = tuple(int(i) for i in np.flatnonzero(np.asarray(self.form.E).any(axis=1)))
        kept = tuple(j for j in range(self.form.n) if j not in self.form.algebraic)
        return _Completed(self.form, rows, kept, self.form.algebraic)


@dataclass(frozen=True, eq=False)
class _Completed(Elimination):
    """An elimination by the compiled completion.

    Which is at home with constraints that are not linear in what they determine.
    """

    @cached_property
    def _complete(self) -> Completion:
        return Completion(self.index1, self.eliminated)

    def _full(self, t: float, z: Any) -> Array:
        return self._complete.point(t, list(self.kept), z).copy()


def implicit(problem: Problem, form: str) -> Implicit:
    """Return a form for solvers of F(t, z, z') = 0, compiled."""
    own: Any = problem.form(form)
    made = Implicit.of(problem, own)
    z, zp = made.start
    made.residual(made.t_span[0], z, zp, np.empty(own.n))
    made.jacobian(made.t_span[0], z, zp, 1.0, np.empty(own.n**2))
    return made


def explicit(problem: Problem, form: str) -> Explicit:
    """Return a form for solvers of z' = rate(t, z), compiled.

    Of callables, algebraic unknowns are eliminated in numbers.
    """
    own: Any = problem.form("index1" if form == "ode" and problem.model is None else form)
    z, zp = own.start()
    back = own.to_model_states
    if own.m:
        kept = [j for j in range(own.n) if j not in own.algebraic]
        z, zp, back = z[kept], zp[kept], ToModelStates(own.n, tuple(kept), own.algebraic, own)
    made = Explicit.of(problem, own, start=(z, zp), to_model_states=back)
    made.rate(made.t_span[0], z)
    made.rate_jacobian(made.t_span[0], z)
    return made


def _product(
    E: Array, function: Callable[..., None], shape: tuple[int, ...]
) -> Callable[[float, Array], Array]:
    unit, inverse = np.array_equal(E, np.eye(len(E))), np.linalg.inv(E)

    def value(t: float, z: Array) -> Array:
        out = np.empty(shape)
        function(float(t), np.ascontiguousarray(z, dtype=float), out.reshape(-1))
        return out if unit else inverse @ out

    return value


def _eliminated(form: Any, at: Elimination) -> Callable[[float, Array], Array]:
    """Return z' of a form whose constraints determine its algebraic unknowns."""
    f, complete = form.f, Completion(form, at.eliminated)
    rows, kept = list(at.rows), list(at.kept)
    inverse = np.linalg.inv(np.asarray(form.E)[np.ix_(rows, kept)])

    def rate(t: float, z: Array) -> Array:
        return inverse @ np.asarray(f(float(t), complete.point(t, kept, z)))[rows]

    return rate
