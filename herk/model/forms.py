"""Forms of a model as numbers see them.

Each knows its unknowns, its way back to y, its start, and the index of every unknown.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import Dae, InputError, nearest
from herk.core.dae import Array
from herk.model.balance import factors
from herk.model.chains import zero_columns
from herk.model.generated import GeneratedForm
from herk.model.start import completed_start, consistent_start, inconsistency, linearise
from herk.model.to_model_states import Back, Elimination

if TYPE_CHECKING:
    from herk.model.equations import Equations
    from herk.model.model import Model
    from herk.model.reduce import Reduced
    from herk.model.regularize import Regularization

FORMS = ("overdetermined", "index1", "index2", "index3", "ggl", "baumgarte", "ode", "second_order")
OPTIONS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {"baumgarte": MappingProxyType({"k0": 100.0, "k1": 20.0})}
)
_START_RTOL, _START_ATOL = 1e-8, 1e-10  # a start with fewer digits is repaired by the user, not by us


@dataclass(frozen=True, repr=False, eq=False)
class Form(Dae):
    """A Dae made from a model: E y' = f with its algebraic rows in f and once more in g.

    `index` is the differentiation index of the form, `levels` that of each unknown, `algebraic` the unknowns
    whose derivative does not occur. z[i] is y[kept[i]] of the model; unknowns beyond `kept` are new (ggl),
    y[eliminated] is computed by `back`.
    """

    form: str = ""
    index: int = 0
    algebraic: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()
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
    def back(self) -> Back:
        """Return the map (t, z) -> y of the model; z may also be a matrix with one column for each time."""
        source = self._sibling("index1") if self.eliminated else None
        return Back(self.model.n, self.kept, self.eliminated, source)

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

    @property
    def hessenberg(self) -> tuple[tuple[int, ...], ...]:
        """Return the unknowns of index 1, 2, ....

        (u, v, lam) of u' = f(u, v), v' = k(u, v, lam), 0 = g(u) in index 3.
        """
        return tuple(
            tuple(j for j, level in enumerate(self.levels) if level == wanted)
            for wanted in range(1, max(self.levels) + 1)
        )

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
        names = ", ".join(self.names)
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


def rates(dae: Dae, t: float, y: Array) -> Array:
    """Return y' from [E; g_y] y' = [f; -g_t], which determines it in every regularised system."""
    at = linearise(dae, t, y)
    matrix, right = np.vstack([at.E, at.jac]), np.concatenate([at.f, -at.g_t])
    right[: dae.n][~at.E.any(axis=1)] = 0.0  # residuals of constraints, not rates
    rows, columns = factors(matrix)
    matrix, right, rate = matrix * rows[:, None] * columns, right * rows, np.zeros(dae.n)
    for _ in range(3):  # refined, so that small rates beside large ones are right too
        rate += np.linalg.lstsq(matrix, right - matrix @ rate, rcond=None)[0]
    return columns * rate


_MOST_KEPT = 512  # analyses and forms in memory; the oldest goes first
_kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def _once(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """Return what was made for this key, or make it."""
    if key not in _kept:
        _kept[key] = make()
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return _kept[key]


def form(model: Model, name: str = "overdetermined", **options: float) -> Form:
    """Return the form of this name.

    Formulas are derived once for all values of the parameters; see `analysed_anew`.
    """
    values = _options(name, options)
    if name == "second_order":
        from herk.model.second_order import second_order

        return second_order(model)
    analysis(model)
    insert = _special(model)
    key = _key(model, name, values, insert)
    facts = _once(("facts", key), lambda: _facts(_reduced(model, name, values, insert)))
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
        "levels": result.levels,
        "kept": result.kept,
        "eliminated": result.eliminated,
        "rows": result.rows,
    }


def analysis(model: Model) -> Regularization:
    """Return what regularize found for this structure, whatever the values it was found for.

    Special values have their own.
    """
    from herk.model.regularize import regularize

    found: Regularization = _once(_analysis_key(model), lambda: regularize(model))
    if not _special(model) and any(
        model.E[place].free_symbols & set(model.parameters) for place in found.zeros
    ):
        _special_cases.add(_case(model))  # an entry of E vanishes for just these values
        _kept.pop(("analysis", model.structure, ()), None)
        _kept[_analysis_key(model)] = found
    return found


def _analysis_key(model: Model) -> tuple[Any, ...]:
    return "analysis", *(_case(model) if _special(model) else (model.structure, ()))


_special_cases: set[tuple[Any, ...]] = set()


def analysed_anew(model: Model) -> Form | None:
    """Return the overdetermined form found for just these parameter values and this start.

    None if that is the one there is.

    Ranks were decided at values and start of the model that came first. Where they do not hold for others (a
    mass of zero, another branch of the equations), the start does not fit or y' is not determined: then this
    case is analysed for itself.
    """
    if _case(model) in _special_cases or _case(analysis(model).model) == _case(model):
        return None
    _special_cases.add(_case(model))
    return form(model)


def _case(model: Model) -> tuple[Any, ...]:
    return model.structure, model.values, model.y0, model.t_span[0]


def _special(model: Model) -> bool:
    """Tell whether an analysis for this case must not serve others.

    A parameter is zero, or the general one did not fit.
    """
    return 0.0 in model.values or _case(model) in _special_cases


def _reduced(model: Model, name: str, options: Mapping[str, float], insert: bool) -> Reduced:
    from herk.model.reduce import reduced

    key = ("reduced", _key(model, name, options, insert))
    return _once(key, lambda: reduced(model, analysis(model), name, options, insert=insert))  # type: ignore[no-any-return]


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
    text = repr((model.structure, name, sorted(options.items()), _case(model) if insert else ()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
