"""Compiled functions and stage code of a model's equations, found on disk by key or generated once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import InputError, StageSource
from herk.core.dae import Array
from herk.model.store import load

if TYPE_CHECKING:  # sympy and the generators are imported only when there is something to generate
    from herk.model.equations import Equations

InPlace = Callable[[float, Array, Array], None]

_HEADER = "from math import *\n\nfrom herk.core.jit import compiled\n"
_FUNCTIONS = ("f", "g", "E", "jac_g", "g_t")
_DERIVATIVES = ("jac_f", "jac_Ey")
_known: dict[str, Equations] = {}


@dataclass(frozen=True)
class GeneratedForm:
    """What a DAE made from a model offers: `key` names the content, `equations()` is called only if its code is not stored yet."""

    key: str
    equations: Callable[[], Equations] = field(compare=False, repr=False)

    def functions(self) -> dict[str, InPlace]:
        """Return the in-place functions `name(t, y, out)` for E, f, g, jac_g, g_t, matrices flattened by rows."""
        return {name: getattr(self._module, name) for name in _FUNCTIONS}

    def derivatives(self) -> dict[str, Callable[..., None]]:
        """Return `jac_f(t, y, out)` = f_y and `jac_Ey(t, y, v, out)` = (E v)_y for implicit methods, both n x n by rows."""
        module = load(f"derivatives_{self.key}", lambda: _derivatives_text(self._known))
        return {name: getattr(module, name) for name in _DERIVATIVES}

    def stage(self, algebraic: Sequence[int], *, scalar: bool) -> StageSource:
        """Return the stage code for these algebraic components, from disk if it was generated before."""
        chosen = tuple(sorted(int(j) for j in algebraic))
        mark = hashlib.sha256(repr(chosen).encode()).hexdigest()[:12]
        module = load(f"stage_{self.key}_{mark}_{'scalar' if scalar else 'array'}", lambda: _stage_text(self._known, chosen, scalar))
        return StageSource(**module.SOURCE)

    def callable(self, name: str) -> Evaluation:
        """Return the function (t, y) -> array of this name: f, g, g_t, E, jac_g or jac_f; y may be any sequence of numbers."""
        return Evaluation(self, name)

    @property
    def n(self) -> int:
        """Return the number of unknowns."""
        return int(self._module.N)

    @property
    def m(self) -> int:
        """Return the number of constraints."""
        return int(self._module.M)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the unknowns."""
        return tuple(self._module.NAMES)

    @property
    def structure(self) -> Array:
        """Return the pattern of g_y, m x n: 1 where an entry is not identically zero."""
        return np.array(self._module.STRUCTURE, dtype=float).reshape(self.m, self.n)

    @property
    def required(self) -> tuple[int, ...] | None:
        """Return the components that must be algebraic (zero columns of E), None for an E that is not regularly reducible."""
        value: tuple[int, ...] | None = self._module.REQUIRED
        return value

    @property
    def constant_E(self) -> bool:  # noqa: N802 - the matrix is called E everywhere
        """Tell whether E is a matrix of numbers."""
        return bool(self._module.CONSTANT_E)

    @property
    def diagonal(self) -> bool:
        """Tell whether E is diagonal."""
        return bool(self._module.DIAGONAL)

    @property
    def _module(self) -> ModuleType:
        return load(f"functions_{self.key}", lambda: _functions_text(self._known))

    @property
    def _known(self) -> Equations:
        if self.key not in _known:
            _known[self.key] = self.equations()
        return _known[self.key]


@dataclass(frozen=True)
class Evaluation:
    """A compiled function as the callable (t, y) -> array that users and foreign solvers want; it can be pickled."""

    form: GeneratedForm
    name: str

    def __post_init__(self) -> None:
        """Validate the name."""
        if self.name not in (*_FUNCTIONS, "jac_f"):
            raise InputError(f"There is no function {self.name!r}; there are {', '.join((*_FUNCTIONS, 'jac_f'))}.")

    def __call__(self, t: float, y: Any) -> Array:
        """Return the value at (t, y)."""
        function, n, shape = self.__dict__.get("_ready") or self._make_ready()
        state = np.array(y, dtype=float)  # a copy: compiled code asks for memory that is contiguous and may be written
        if state.shape != (n,):
            raise InputError(f"y has shape {state.shape}; {n} numbers are needed.")
        out = np.empty(shape)
        function(float(t), state, out.reshape(-1))
        return out

    def _make_ready(self) -> tuple[Callable[..., None], int, tuple[int, ...]]:
        source = self.form.derivatives() if self.name == "jac_f" else self.form.functions()
        n, m = self.form.n, self.form.m
        shape = {"f": (n,), "g": (m,), "g_t": (m,), "E": (n, n), "jac_g": (m, n), "jac_f": (n, n)}[self.name]
        ready = (source[self.name], n, shape)
        object.__setattr__(self, "_ready", ready)
        return ready

    def __getstate__(self) -> dict[str, Any]:
        """Leave the compiled function out: it is found again by its key."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore form and name."""
        self.__dict__.update(state)


def _functions_text(equations: Equations) -> str:
    from herk.model.code import prepared
    from herk.model.structure import is_zero, jacobian, required

    names = tuple(str(s) for s in equations.states)
    equations, texts = prepared(equations)
    n, m, E = equations.n, equations.m, equations.E
    jac_g = jacobian(equations.g, equations.states)
    structure = tuple(tuple(int(not is_zero(e)) for e in row) for row in jac_g)
    diagonal = all(i == j or is_zero(E[i, j]) for i in range(n) for j in range(n))
    constants = f"N = {n}\nM = {m}\nNAMES = {names!r}\nSTRUCTURE = {structure!r}\nREQUIRED = {required(E)!r}\n"
    constants += f"CONSTANT_E = {not E.free_symbols}\nDIAGONAL = {diagonal}\n"
    contents = {"f": equations.f, "g": equations.g, "E": E, "jac_g": [e for row in jac_g for e in row], "g_t": equations.g_t}
    return _HEADER + constants + "".join(_function(name, list(contents[name]), equations, texts) for name in _FUNCTIONS)


def _derivatives_text(equations: Equations) -> str:
    import sympy as sp

    from herk.model.code import prepared
    from herk.model.structure import jacobian

    equations, texts = prepared(equations)
    rates = [sp.Dummy(f"v{j}", real=True) for j in range(equations.n)]
    both = (jacobian(rows, equations.states) for rows in (equations.f, equations.E * sp.Matrix(rates)))
    jac_f, jac_product = ([e for row in matrix for e in row] for matrix in both)
    texts |= {s: f"v{j}" for j, s in enumerate(rates)}
    return _HEADER + _function("jac_f", jac_f, equations, texts) + _function("jac_Ey", jac_product, equations, texts, rates)


def _function(name: str, entries: list[Any], equations: Equations, texts: dict[Any, str], rates: Iterable[Any] = ()) -> str:
    """Return a function that writes the entries into `out`, zeros by a loop if there are many."""
    from herk.model.code import lines

    used = set().union(*(e.free_symbols for e in entries))
    rates = list(rates)
    body = [f"y{j} = y[{j}]" for j, s in enumerate(equations.states) if s in used]
    body += [f"v{j} = v[{j}]" for j, s in enumerate(rates) if s in used]
    full = [(f"out[{i}]", e) for i, e in enumerate(entries) if e != 0]
    zeros = [i for i, e in enumerate(entries) if e == 0]
    many = len(zeros) > 32
    body += [f"for i in range({len(entries)}):", "    out[i] = 0.0"] if many else [f"out[{i}] = 0.0" for i in zeros]
    body += lines(full, texts, "c")
    arrays = ["y", "v", "out"] if rates else ["y", "out"]
    signature = f"void(float64, {', '.join(['float64[::1]'] * len(arrays))})"
    text = "".join(f"    {line}\n" for line in [*body, "return"])
    return f'\n\n@compiled("{signature}")\ndef {name}(t, {", ".join(arrays)}):\n{text}'


def _stage_text(equations: Equations, algebraic: tuple[int, ...], scalar: bool) -> str:
    from herk.model.stage import stage_source

    source = stage_source(equations, algebraic, scalar)
    return f"SOURCE = { ({f.name: getattr(source, f.name) for f in fields(source)})!r}\n"
