"""Functions of a large DAE that give matrices: their values on patterns, or full matrices of them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from herk.codegen.thunks import callback, with_parameters
from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.integrate.callables import NAMES, Bound, InPlace, Refusal, captured, in_place_of, wrapped
from herk.jit.compiled import is_compiled
from herk.jit.pointers import FUNCTION
from herk.linalg.pattern import Pattern
from herk.model.evaluate import real
from herk.model.jacobian_pattern import on_pattern


def bound_on(dae: Dae, jac_g: Pattern, E: Pattern, t: float, y: Array) -> Bound:
    """Return the functions for the loop where dg/dy and E are values on patterns."""
    given: Any = dae.generated
    if given is not None:
        return Bound(tuple(given.sparse.functions[name] for name in NAMES), have_g_t=dae.g_t is not None)
    made = Bound(have_jacobian=dae.jac_g is not None, have_g_t=dae.g_t is not None, n=dae.n)
    natives, callbacks = [], []
    sizes = {"E": E.nnz, "f": dae.n, "g": dae.m, "jac_g": jac_g.nnz, "g_t": dae.m}
    for name, size in sizes.items():
        function = getattr(dae, name)
        pattern = {"E": E, "jac_g": jac_g}.get(name) if callable(function) else None
        compiled = in_place_of(function) if pattern is None else _gathering(function, pattern, t, y)
        if isinstance(compiled, Refusal):
            called = wrapped(
                name, function if pattern is None else partial(_on_pattern, name, function, pattern), (size,)
            )
            callbacks.append(callback(called, function, dae.n, size, made))
            natives.append(callbacks[-1].native)
        else:
            natives.append(with_parameters(compiled))
    made.natives, made.callbacks = tuple(natives), tuple(callbacks)
    made.checked = partial(_outside, {"E": (dae.E, E), "jac_g": (dae.jac_g, jac_g)})
    made.forget()
    return made


def _outside(matrices: Mapping[str, tuple[Any, Pattern]], t: float, y: Array) -> str:
    """Return in words which entry of a matrix is outside its pattern at a point."""
    for name, (function, pattern) in matrices.items():
        try:
            if callable(function):
                _on_pattern(name, function, pattern, t, y)
        except InputError as error:
            return str(error)
    return ""


def full(function: Any, dae: Dae, t: float, y: Array) -> Array:
    """Return what a matrix function gives as a full matrix: it may be sparse, or values on a pattern."""
    value = function(t, y)
    if np.ndim(value) == 1 and dae.jac_g_sparsity is not None:
        value = Pattern.of(dae.jac_g_sparsity).matrix(np.asarray(real(value)))
    return np.asarray(value.toarray() if hasattr(value, "tocsr") else value)


def in_full(given: Any, dae: Dae) -> InPlace | Refusal:
    """Return a compiled matrix function that writes a full matrix."""
    if not is_compiled(given):
        return Refusal("it may give a sparse matrix")
    if dae.jac_g_sparsity is None or given is not dae.jac_g:
        return in_place_of(given)
    inner: Any = given
    key = (inner, dae.n)
    if key not in _spread:
        import numba

        pattern = Pattern.of(dae.jac_g_sparsity)
        places = pattern.rows * dae.n + pattern.indices

        @numba.njit(FUNCTION, error_model="numpy")
        def in_place(t, y, out):  # type: ignore[no-untyped-def]
            values = np.asarray(inner(t, y.copy())).ravel()
            if values.size == out.size:
                out[:] = values
            else:
                out[:] = 0.0
                for k in range(places.size):
                    out[places[k]] = values[k]

        _spread[key] = in_place
    return _spread[key]


_spread: dict[tuple[Any, int], InPlace] = {}  # numba frees nothing either


def _on_pattern(name: str, function: Any, pattern: Pattern, t: float, y: Array) -> Array:
    value = function(t, y)
    if not hasattr(value, "tocsr"):
        value = np.asarray(real(value))
    return on_pattern(value, pattern, name)


def _gathering(function: Any, pattern: Pattern, t: float, y: Array) -> InPlace | Refusal:
    """Return a matrix function compiled so that it writes its values on a pattern."""
    if hasattr(function(t, y.copy()), "tocsr"):
        return Refusal("sparse matrices are made in Python")
    if np.ndim(function(t, y.copy())) == 1:
        return in_place_of(function)
    if not (is_compiled(function) or isinstance(function, types.FunctionType)):
        return Refusal(f"{type(function).__name__} objects are not functions")
    known, key = _gathered.setdefault(pattern, {}), (function, *captured(function))
    if key not in known:
        known[key] = in_place_of(_gather(function, pattern))
    return known[key]


_gathered: WeakKeyDictionary[Pattern, dict[Any, InPlace | Refusal]] = WeakKeyDictionary()


def _gather(function: Any, pattern: Pattern) -> Any:
    """Return a function that evaluates a full matrix and picks the values on a pattern."""
    import numba

    rows, columns = pattern.rows, pattern.indices
    inner = function if is_compiled(function) else numba.njit(error_model="numpy")(function)

    def gather(t, y):  # type: ignore[no-untyped-def]
        full = np.asarray(inner(t, y))
        out, inside = np.empty(rows.size), 0
        for k in range(rows.size):
            out[k] = full[rows[k], columns[k]]
            inside += out[k] != 0.0
        if np.count_nonzero(full) != inside:
            raise ValueError("a matrix has entries where it had none near the start")
        return out

    return gather
