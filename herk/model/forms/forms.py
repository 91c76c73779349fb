"""Forms of a model as numbers see them.

Each knows its unknowns, its way back to y, its start, and the index of every unknown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.codegen.generated import GeneratedForm
from herk.core import Dae, InputError, nearest
from herk.core.dae import Array
from herk.model.forms.chains import zero_columns
from herk.model.forms.rates import rates
from herk.model.forms.to_model_states import Elimination, ToModelStates
from herk.model.index_reduction.analyses import analysis, case, is_special, make_special, once
from herk.model.start import MOST_NAMED, completed_start, consistent_start, inconsistency

if TYPE_CHECKING:
    from herk.codegen.equations import Equations
    from herk.model.forms.reduce import Reduced
    from herk.model.model import Model

__all__ = ["FORMS", "OPTIONS", "Form", "analysed_anew", "analysed_at", "analysis", "form", "rates"]

FORMS = ("overdetermined", "index1", "index2", "index3", "ggl", "baumgarte", "ode", "second_order")
OPTIONS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {"baumgarte": MappingProxyType({"k0": 100.0, "k1": 20.0})}
)
_START_RTOL, _START_ATOL = 1e-8, 1e-10  # a start with fewer digits is repaired by the user, not by us


@dataclass(frozen=True, repr=False, eq=False)
class Form(Dae):
    """A Dae made from a model: E y' = f with its algebraic rows in f and once more in g.

    `index` is the differentiation index of the form, `variable_index` that of each unknown, `algebraic`
    the unknowns whose derivative does not occur. z[i] is y[kept[i]] of the model; unknowns beyond `kept` are
    new (ggl), y[eliminated] is computed by `to_model_states`.
    """

    form: str = ""
    index: int = 0
    algebraic: tuple[int, ...] = ()
    variable_index: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    eliminated: tuple[int, ...] = ()
    model: Any = None
    options: Mapping[str, float] = field(default_factory=dict)
    elimination: Elimination | None = None

    @property
    def t_span(self) -> tuple[float, float]:
        """Return the span of the model."""
        span: tuple[float, float] = self.model.t_span
        return span

    @property
    def y0(self) -> tuple[float | None, ...]:
        """Return the start; entries left open stay None in the overdetermined form and are computed.

        For the others.
        """
        given = tuple(self.model.y0[j] for j in self.kept)
        if self.form == "overdetermined" or (len(given) == self.n and None not in given):
            return given
        return tuple(float(value) for value in self.start()[0])

    @property
    def to_model_states(self) -> ToModelStates:
        """Return the map (t, z) -> y of the model; z may also be a matrix with one column for each time."""
        source = self._sibling("index1") if self.eliminated else None
        return ToModelStates(self.model.n, self.kept, self.eliminated, source)

    def start(
        self,
        y0: Sequence[float | None] | Array | None = None,
        t0: float | None = None,
        *,
        repair: bool = False,
    ) -> tuple[Array, Array]:
        """Return a complete and consistent start (z0, z0') of this form.

        `repair` changes an inconsistent y0, as little as it must.

        `y0` (default: the start of the model) is in the unknowns of the model; None entries are computed.
        Forms of index 0 and 1 ask only for their own constraints, the others for all hidden ones: without
        them they have no solution.
        """
        t = self.t_span[0] if t0 is None else float(t0)
        given = self.model.y0 if y0 is None else y0
        source = self if self.index == 1 else self._sibling("index1" if self.eliminated else "overdetermined")
        try:
            y = consistent_start(source, t, given) if repair else completed_start(source, t, given)
        except InputError:  # unknowns that only the constraints of other levels determine
            y = completed_start(self._sibling("overdetermined"), t, given)
        wrong = inconsistency(source, t, y, _START_RTOL, _START_ATOL)
        if wrong:
            raise InputError(
                f"Form {self.form!r} of model {self.model.name!r}: {wrong} Repair it with"
                " herk.consistent_start."
            )
        rate = rates(source, t, y)
        extra = np.zeros(self.n - len(self.kept))
        return np.concatenate([y[list(self.kept)], extra]), np.concatenate([rate[list(self.kept)], extra])

    def rate(self, t: float, z: Any) -> Array:
        """Return z' of an ODE form, E^-1 f: what explicit solvers want."""
        if self.m:
            raise InputError(f"Form {self.form!r} has constraints; only the form 'ode' gives z' directly.")
        f = np.asarray(self.f(t, z))
        if callable(self.E):
            return np.asarray(np.linalg.solve(self.E(t, z), f))
        return f if self._unit else np.asarray(np.linalg.solve(self.E, f))

    def rate_jacobian(self, t: float, z: Any) -> Array:
        """Return the derivative of z' = rate(t, z) with respect to z, exact.

        What implicit solvers for ODEs want.
        """
        rate = self.rate(t, z)
        if self.elimination is not None:
            return self.elimination.rate_jacobian(t, z, rate)
        E = self.E(t, z) if callable(self.E) else self.E
        return np.asarray(np.linalg.solve(E, -self.residual_jacobian(t, z, rate, 0.0)))

    def residual(self, t: float, z: Any, zp: Any, out: Array | None = None) -> Array:
        """Return F = E z' - f, algebraic rows included."""
        result = np.empty(self.n)
        self._implicit[0](float(t), _vector(z), _vector(zp), result)
        return _handed(result, out)

    def residual_jacobian(self, t: float, z: Any, zp: Any, cj: float, out: Array | None = None) -> Array:
        """Return cj F_z' + F_z, n x n."""
        result = np.empty((self.n, self.n))
        self._implicit[1](float(t), _vector(z), _vector(zp), float(cj), result.reshape(-1))
        return _handed(result, out)

    @cached_property
    def _implicit(self) -> tuple[Any, Any]:
        if not isinstance(self.generated, GeneratedForm):
            raise InputError(
                f"Form {self.form!r} of {self.model.name!r} is an ODE without formulas; use rate, or the form"
                " 'index1'."
            )
        return self.generated.implicit()

    @cached_property
    def _unit(self) -> bool:
        return bool(np.array_equal(np.eye(self.n), np.asarray(self.E)))

    def _sibling(self, name: str) -> Form:
        return form(self.model, name)

    def __repr__(self) -> str:
        """Return one line."""
        more = f" and {self.n - MOST_NAMED} others" if self.n > MOST_NAMED else ""
        names = ", ".join(self.names[:MOST_NAMED]) + more
        return (
            f"<Form {self.form!r} of {self.model.name!r}: n = {self.n}, m = {self.m}, index {self.index},"
            f" unknowns {names}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the compiled functions out: they are found again by their key."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_implicit", "_unit")}


def _vector(values: Any) -> Array:
    return np.array(values, dtype=float)  # a copy: solvers hand out memory that is read-only or strided


def _handed(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    out[...] = result
    return out


def form(model: Model, name: str = "overdetermined", **options: float) -> Form:
    """Return the form of this name.

    Formulas are derived once for all values of the parameters; see `analysed_anew`.
    """
    values = _options(name, options)
    if name == "second_order":
        from herk.model.forms.second_order import second_order

        return second_order(model)
    analysis(model)
    insert = is_special(model)
    key = _key(model, name, values, insert)
    facts = once(("facts", key), lambda: _facts(_reduced(model, name, values, insert)))
    common = {**facts, "form": name, "model": model, "options": values}
    rows = common.pop("rows")
    if rows:
        steps = Elimination(form(model, "index1"), rows, facts["kept"], facts["eliminated"])
        return Form(E=steps.matrix, f=steps.right, elimination=steps, **common)
    parameters = () if insert else model.values
    generated: Any = GeneratedForm(key, partial(_equations, model, name, values, insert), parameters)
    return Form(
        E=_matrix(generated, model), **_callables(generated, facts["m"]), generated=generated, **common
    )


def _facts(result: Reduced) -> dict[str, Any]:
    """Return what a form knows about itself, the same for all values of the parameters."""
    system = result.equations
    return {
        "n": system.n,
        "m": system.m,
        "names": tuple(str(s) for s in system.states),
        "index": result.index,
        "algebraic": zero_columns(system.E),
        "variable_index": result.variable_index,
        "kept": result.kept,
        "eliminated": result.eliminated,
        "rows": result.rows,
    }


def analysed_anew(model: Model) -> Form | None:
    """Return the overdetermined form found for just these parameter values and this start.

    None if that is the one there is.

    Ranks were decided at values and start of the model that came first. Where they do not hold for others (a
    mass of zero, another branch of the equations), the start does not fit or y' is not determined: then this
    case is analysed for itself.
    """
    if is_special(model) or case(analysis(model).model) == case(model):
        return None
    return analysed_at(model)


def analysed_at(model: Model) -> Form:
    """Return the overdetermined form found for just these parameter values and this start."""
    make_special(model)
    return form(model)


def _reduced(model: Model, name: str, options: Mapping[str, float], insert: bool) -> Reduced:
    from herk.model.forms.reduce import reduced

    key = ("reduced", _key(model, name, options, insert))
    return once(key, lambda: reduced(model, analysis(model), name, options, insert=insert))  # type: ignore[no-any-return]


def _equations(model: Model, name: str, options: Mapping[str, float], insert: bool) -> Equations:
    return _reduced(model, name, options, insert).equations


def _callables(generated: GeneratedForm, m: int) -> dict[str, Any]:
    names = ("f", "g", "jac_g", "g_t") if m else ("f",)
    return {name: generated.callable(name) for name in names}


def _matrix(generated: GeneratedForm, model: Model) -> Any:
    """Return E as a matrix where it is the same along a run."""
    evaluated = generated.callable("E")
    return evaluated(model.t_span[0], np.zeros(generated.n)) if generated.constant_E else evaluated


def _options(name: str, options: Mapping[str, float]) -> dict[str, float]:
    if name not in FORMS and not (name.startswith("index") and name[5:].isdigit()):
        raise nearest(name, FORMS, "form")
    known = OPTIONS.get(name, {})
    for option, value in options.items():
        if option not in known:
            raise nearest(option, known, f"option of form {name!r}")
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float, np.number))
            or not np.isfinite(value)
        ):
            raise InputError(f"Option {option} of form {name!r} must be a finite number, not {value!r}.")
    return {option: float(options.get(option, default)) for option, default in known.items()}


def _key(model: Model, name: str, options: Mapping[str, float], insert: bool) -> str:
    text = repr((model.structure, name, sorted(options.items()), case(model) if insert else ()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
