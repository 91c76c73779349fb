"""Machine code of a model's equations, made in milliseconds when it is first asked for.

Parameters keep their place until run time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.codegen.scope import CONSTANTS, PYTHON, SHARED
from herk.core import InputError, StageSource
from herk.core.dae import Array, is_large
from herk.jit.state import address_of

if TYPE_CHECKING:
    from herk.codegen.equations import Equations
    from herk.codegen.on_patterns import OnPatterns
    from herk.jit.native import Native

_FUNCTIONS = ("f", "g", "E", "jac_g", "g_t")
_MOST_STRUCTURES = 256  # whose code is kept in memory; the oldest goes first


class Code:
    """The code of one system of equations, shared by all values of its parameters."""

    def __init__(self, equations: Equations) -> None:
        """Keep the equations; code is made when it is asked for."""
        self.equations = equations
        self.stages: dict[tuple[tuple[int, ...], bool], StageSource] = {}
        self.natives: dict[
            Any, dict[str, Native]
        ] = {}  # stage functions and kernels, by what they were made for
        self.works: dict[Any, int] = {}  # scratch memory of derivatives of stages
        self.busy: dict[str, float] = {}  # seconds that runs have spent in compiled steps so far, by tableau

    @cached_property
    def functions(self) -> dict[str, Native]:
        """Return E, f, g, jac_g, g_t as functions (t, y, par, out)."""
        from herk.codegen.texts import functions_text

        return build_text(functions_text(self.equations), _FUNCTIONS)

    @cached_property
    def sparse(self) -> OnPatterns:
        """Return f, g and values on the patterns of E and of Jacobians."""
        from herk.codegen.on_patterns import OnPatterns

        return OnPatterns(self.equations)

    @cached_property
    def derivatives(self) -> dict[str, Native]:
        """Return jac_f(t, y, par, out) and jac_Ey(t, y, v, par, out)."""
        from herk.codegen.texts import derivatives_text

        return build_text(derivatives_text(self.equations), ("jac_f", "jac_Ey"))

    @cached_property
    def implicit(self) -> dict[str, Native]:
        """Return residual(t, y, v, par, out) and jacobian(t, y, v, cj, par, out)."""
        from herk.codegen.texts import residual_text

        return build_text(residual_text(self.equations), ("residual", "jacobian"))

    @cached_property
    def structure(self) -> Any:
        """Return the pattern of g_y, m x n: 1 where an entry is not identically zero; sparse if large."""
        if is_large(self.equations.n):
            known = self.sparse.patterns["jac_g"]
            return known.matrix(np.ones(known.nnz))
        from herk.codegen.block_form import is_zero, jacobian

        rows = jacobian(self.equations.g, self.equations.states)
        pattern = [[float(not is_zero(e)) for e in row] for row in rows]
        return np.array(pattern, dtype=float).reshape(self.equations.m, self.equations.n)

    @cached_property
    def required(self) -> tuple[int, ...] | None:
        """Return the zero columns of E, None for an E that is not regularly reducible."""
        from herk.codegen.block_form import required

        return required(self.equations.E)

    @cached_property
    def constant_E(self) -> bool:  # noqa: N802 - the matrix is called E everywhere
        """Tell whether E is the same along a run."""
        from herk.codegen.equations import filled

        return not filled(self.equations.E).free_symbols - set(self.equations.parameters)

    def stage(self, algebraic: tuple[int, ...], scalar: bool) -> StageSource:
        """Return the text of a stage."""
        from herk.codegen.stage import stage_source

        if (algebraic, scalar) not in self.stages:
            self.stages[algebraic, scalar] = stage_source(self.equations, algebraic, scalar)
        return self.stages[algebraic, scalar]


def build_text(text: str, names: Sequence[str], shared: Mapping[str, Any] | None = None) -> dict[str, Native]:
    """Return functions of a generated text in machine code; it may call those in `shared` too."""
    from herk.jit.native import build

    more = shared or {}
    return build(text, names, CONSTANTS, {**SHARED, **more}, {**PYTHON, **more})


_codes: OrderedDict[str, Code] = OrderedDict()


def code_of(key: str, equations: Callable[[], Equations]) -> Code:
    """Return the code of this structure, made once per process."""
    if key not in _codes:
        _codes[key] = Code(equations())
        while len(_codes) > _MOST_STRUCTURES:
            _codes.popitem(last=False)
    return _codes[key]


@dataclass(frozen=True)
class GeneratedForm:
    """What a DAE made from a model offers: `key` names the structure, `values` are its parameters."""

    key: str
    symbolic: Callable[[], Equations] = field(compare=False, repr=False)
    values: tuple[float, ...] = ()

    @property
    def code(self) -> Code:
        """Return the code, shared with all other values."""
        return code_of(self.key, self.symbolic)

    @cached_property
    def parameters(self) -> Array:
        """Return the values as the code wants them; the array stays where it is."""
        return np.array(self.values or (0.0,), dtype=float)

    def equations(self) -> Equations:
        """Return the equations with every parameter a number."""
        from herk.codegen.equations import Equations
        from herk.codegen.numbers import inserted

        system = self.code.equations
        values = dict(zip(system.parameters, self.values, strict=True))
        E, f, g = (inserted(part, values) for part in (system.E, system.f, system.g))
        return Equations(system.t, system.states, E, f, g)

    def functions(self) -> dict[str, Native]:
        """Return the in-place functions `name(t, y, out)` for E, f, g, jac_g, g_t.

        Matrices flattened by rows.
        """
        return {name: self._bound("functions", name, ("t", "y", "out")) for name in _FUNCTIONS}

    def derivatives(self) -> dict[str, Native]:
        """Return `jac_f(t, y, out)` = f_y and `jac_Ey(t, y, v, out)` = (E v)_y for implicit methods.

        Both n x n by rows.
        """
        return {
            "jac_f": self._bound("derivatives", "jac_f", ("t", "y", "out")),
            "jac_Ey": self._bound("derivatives", "jac_Ey", ("t", "y", "v", "out")),
        }

    def implicit(self) -> tuple[Native, Native]:
        """Return `residual(t, y, v, out)` of E v - f and `jacobian(t, y, v, cj, out)`, n x n by rows."""
        return (
            self._bound("implicit", "residual", ("t", "y", "v", "out")),
            self._bound("implicit", "jacobian", ("t", "y", "v", "cj", "out")),
        )

    def _bound(self, table: str, name: str, places: Sequence[str]) -> Native:
        from herk.jit.native import bound

        known = self.__dict__.setdefault("_known", {})
        if (table, name) not in known:
            known[table, name] = bound(getattr(self.code, table)[name], self.parameters, places)
        return known[table, name]  # type: ignore[no-any-return]

    def stage(self, algebraic: Iterable[int], *, scalar: bool) -> StageSource:
        """Return the text of a stage for these algebraic components."""
        return self.code.stage(tuple(sorted(int(j) for j in algebraic)), scalar)

    def callable(self, name: str) -> Evaluation:
        """Return the function (t, y) -> array of this name: f, g, g_t, E, jac_g or jac_f.

        Y may be any sequence of numbers.
        """
        return Evaluation(self, name)

    @property
    def sparse(self) -> OnPatterns:
        """Return f, g and values on the patterns of E and of Jacobians."""
        return self.code.sparse

    @property
    def large(self) -> bool:
        """Tell whether matrices are values on patterns only."""
        return is_large(self.n)

    @property
    def n(self) -> int:
        """Return the number of unknowns."""
        return self.code.equations.n

    @property
    def m(self) -> int:
        """Return the number of constraints."""
        return self.code.equations.m

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the unknowns."""
        return tuple(str(s) for s in self.code.equations.states)

    @property
    def structure(self) -> Any:
        """Return the pattern of g_y, m x n: 1 where an entry is not identically zero; sparse if large."""
        return self.code.structure

    @property
    def required(self) -> tuple[int, ...] | None:
        """Return the components that must be algebraic (zero columns of E).

        None for an E that is not regularly reducible.
        """
        return self.code.required

    @property
    def constant_E(self) -> bool:  # noqa: N802
        """Tell whether E is the same along a run."""
        return self.code.constant_E

    def __getstate__(self) -> dict[str, Any]:
        """Leave the machine code out: it is made again where it is needed."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore key, equations and values."""
        self.__dict__.update(state)


@dataclass(frozen=True)
class Evaluation:
    """A function of a form as the callable (t, y) -> array that users and foreign solvers want.

    It can be pickled.
    """

    form: GeneratedForm
    name: str

    def __post_init__(self) -> None:
        """Validate the name."""
        if self.name not in (*_FUNCTIONS, "jac_f"):
            raise InputError(
                f"There is no function {self.name!r}; there are {', '.join((*_FUNCTIONS, 'jac_f'))}."
            )

    def __call__(self, t: float, y: Any) -> Any:
        """Return the value at (t, y): a vector, or a matrix, which is sparse if the system is large."""
        if self.form.large and self.name in self.form.sparse.patterns:
            state = np.array(y, dtype=float)
            return self.form.sparse.matrix(self.name, float(t), state, self.form.parameters)
        call, par, n, shape = self.__dict__.get("_ready") or self._make_ready()
        state = np.array(y, dtype=float)  # machine code asks for memory that is contiguous
        if state.shape != (n,):
            raise InputError(f"y has shape {state.shape}; {n} numbers are needed.")
        out = np.empty(shape)
        call(t, address_of(state), n, *par, address_of(out), out.size)
        return out

    def _make_ready(self) -> tuple[Any, ...]:
        code = self.form.code
        if self.form.large:
            native = code.sparse.functions[self.name]
        else:
            native = (code.derivatives if self.name == "jac_f" else code.functions)[self.name]
        n, m = self.form.n, self.form.m
        shape = {"f": (n,), "g": (m,), "g_t": (m,), "E": (n, n), "jac_g": (m, n), "jac_f": (n, n)}[self.name]

        par = self.form.parameters
        ready = (native.called, (address_of(par), par.size), n, shape)
        object.__setattr__(self, "_ready", ready)
        object.__setattr__(self, "_kept", native)
        return ready

    def __getstate__(self) -> dict[str, Any]:
        """Leave the machine code out."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore form and name."""
        self.__dict__.update(state)
