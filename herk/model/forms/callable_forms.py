"""Forms of a DAE given by callables.

Its differential equations, with combinations of its constraints in the algebraic rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array, Function
from herk.jit.compiled import compiled, is_compiled
from herk.model.forms.forms import OPTIONS, rates
from herk.model.forms.to_model_states import ToModelStates
from herk.model.start import consistent_start, inconsistency

_START_RTOL, _START_ATOL = 1e-8, 1e-10  # as for forms of a model


@dataclass(frozen=True, repr=False, eq=False)
class GivenForm(Dae):
    """A Dae as solvers of F(t, z, z') = 0 want it.

    As many rows as unknowns, constraints in the rows where E is zero.

    What it offers is what a form of a model offers. `source` is the overdetermined DAE, which knows
    consistent starts and rates.
    """

    form: str = ""
    index: int = 0
    variable_index: tuple[int, ...] = ()
    source: Dae | None = None
    jac_f: Function | None = None
    t_span: tuple[float, float] = (0.0, 1.0)
    y0: tuple[float, ...] = ()
    recipe: tuple[Any, ...] = ()

    @property
    def algebraic(self) -> tuple[int, ...]:
        """Return the unknowns whose derivative does not occur."""
        return tuple(int(j) for j in np.flatnonzero(~np.asarray(self.E).any(axis=0)))

    @property
    def kept(self) -> tuple[int, ...]:
        """Return the unknowns of the problem that are unknowns here: all."""
        return tuple(range(self.n))

    @property
    def to_model_states(self) -> ToModelStates:
        """Return the map (t, z) -> y."""
        return ToModelStates(self.n, self.kept)

    def start(
        self, y0: Sequence[float] | Array | None = None, t0: float | None = None, *, repair: bool = False
    ) -> tuple[Array, Array]:
        """Return the start and its derivative, both consistent with every constraint.

        `repair` moves y0 where it must.
        """
        assert self.source is not None
        t, y = (
            self.t_span[0] if t0 is None else float(t0),
            np.array(self.y0 if y0 is None else y0, dtype=float),
        )
        if repair:
            y = consistent_start(self.source, t, y)
        wrong = inconsistency(self.source, t, y, _START_RTOL, _START_ATOL)
        if wrong:
            raise InputError(f"Form {self.form!r}: {wrong} Repair it with herk.consistent_start.")
        return y, rates(self.source, t, y)

    def residual(self, t: float, z: Any, zp: Any) -> Array:
        """Return F = E z' - f, algebraic rows included."""
        out = np.empty(self.n)
        self._implicit[0](float(t), np.array(z, dtype=float), np.array(zp, dtype=float), out)
        return out

    def residual_jacobian(self, t: float, z: Any, zp: Any, cj: float) -> Array:
        """Return cj F_z' + F_z, n x n."""
        out = np.empty((self.n, self.n))
        self._implicit[1](
            float(t), np.array(z, dtype=float), np.array(zp, dtype=float), float(cj), out.reshape(-1)
        )
        return out

    @cached_property
    def _implicit(self) -> tuple[Any, Any]:
        if self.jac_f is None:
            raise InputError(f"Form {self.form!r} was given without the Jacobian of f.")
        return _residual(np.asarray(self.E), self.f, self.jac_f)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make the form again from the functions it was made from: compiled closures stay at home."""
        return given_form, self.recipe


def given_form(
    dae: Dae,
    name: str,
    index: int,
    variable_index: tuple[int, ...],
    rows: Sequence[Sequence[int]],
    weights: Sequence[float],
    jac_f: Function,
    t_span: tuple[float, float],
    y0: Sequence[float],
) -> GivenForm:
    """Return E z' = f with the constraints sum_k weights[k] g[rows[k][i]] in the i-th row where E is zero.

    `variable_index` is the index of each unknown in this form, `jac_f` = df/dy; E must be constant, jac_g
    given.
    """
    if callable(dae.E) or dae.g is None or dae.jac_g is None:
        raise InputError(f"Form {name!r} of a given DAE needs a constant E, and g with its Jacobian jac_g.")
    free = np.flatnonzero(~np.asarray(dae.E).any(axis=1))
    chosen, factors = np.array(rows, dtype=np.int64), np.array(weights, dtype=float)
    if chosen.shape != (len(factors), len(free)):
        raise InputError(
            f"Form {name!r} needs {len(free)} constraints for each weight; rows has shape {chosen.shape}."
        )
    return GivenForm(
        E=dae.E,
        f=_filled(dae.f, dae.g, free, chosen, factors),
        g=_combined(dae.g, chosen, factors),
        n=dae.n,
        m=len(free),
        jac_g=_combined(dae.jac_g, chosen, factors),
        g_t=None if dae.g_t is None else _combined(dae.g_t, chosen, factors),
        names=dae.names,
        form=name,
        index=index,
        variable_index=tuple(variable_index),
        source=dae,
        jac_f=_filled(jac_f, dae.jac_g, free, chosen, factors),
        t_span=t_span,
        y0=tuple(y0),
        recipe=(dae, name, index, tuple(variable_index), rows, weights, jac_f, t_span, tuple(y0)),
    )


def mechanical_forms(
    dae: Dae,
    count: int,
    jac_f: Function,
    t_span: tuple[float, float],
    y0: Sequence[float],
    variable_index: tuple[int, ...],
) -> dict[str, GivenForm]:
    """Return index1, index2, index3 and baumgarte of a system whose g lists `count` constraints.

    Their first and second derivatives.
    """
    by_level = [range(k * count, (k + 1) * count) for k in range(3)]
    k0, k1 = OPTIONS["baumgarte"]["k0"], OPTIONS["baumgarte"]["k1"]
    flat = (1,) * dae.n
    lower = tuple(max(1, level - 1) for level in variable_index)
    made = [
        given_form(dae, "index1", 1, flat, by_level[2:], (1.0,), jac_f, t_span, y0),
        given_form(dae, "index2", 2, lower, by_level[1:2], (1.0,), jac_f, t_span, y0),
        given_form(dae, "index3", 3, variable_index, by_level[:1], (1.0,), jac_f, t_span, y0),
        given_form(dae, "baumgarte", 1, flat, by_level, (k0, k1, 1.0), jac_f, t_span, y0),
    ]
    return {form.form: form for form in made}


def _compile(function: Callable[..., Any], *parts: Any) -> Any:
    """Compile a closure if everything it calls is compiled."""
    return compiled(cache=False, _nrt=True)(function) if all(map(is_compiled, parts)) else function


def _combined(function: Any, rows: Any, weights: Array) -> Any:
    """Return the function whose i-th value is the weighted sum of values rows[:, i]."""
    levels, count = rows.shape

    def combined(t: float, y: Array) -> Any:
        value = function(t, y)
        out = np.zeros_like(value[:count])
        for k in range(levels):
            for i in range(count):
                out[i] += weights[k] * value[rows[k, i]]
        return out

    return _compile(combined, function)


def _filled(function: Any, constraints: Any, places: Any, rows: Any, weights: Array) -> Any:
    """Return the function with combined constraints in the given places."""
    combined = _combined(constraints, rows, weights)

    def filled(t: float, y: Array) -> Any:
        value, own = function(t, y), combined(t, y)
        for i in range(places.size):
            value[places[i]] = own[i]
        return value

    return _compile(filled, function, combined)


def _residual(E: Array, f: Any, jac_f: Any) -> tuple[Any, Any]:
    """Return E z' - f and its Jacobian cj E - df/dz as in-place functions."""
    rows, columns = (np.array(places) for places in np.nonzero(E))
    values, n = E[rows, columns], len(E)

    def residual(t: float, z: Array, zp: Array, out: Array) -> None:
        out[:] = -f(t, z)
        for k in range(values.size):
            out[rows[k]] += values[k] * zp[columns[k]]

    def jacobian(t: float, z: Array, zp: Array, cj: float, out: Array) -> None:  # noqa: ARG001
        out[:] = -jac_f(t, z).ravel()
        for k in range(values.size):
            out[rows[k] * n + columns[k]] += cj * values[k]

    return _compile(residual, f), _compile(jacobian, jac_f)
