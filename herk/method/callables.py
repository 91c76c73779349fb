"""The user's callables as in-place functions `name(t, y, out)`: compiled where numba can, wrapped in Python otherwise."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from herk.core import Dae, HerkError, InputError
from herk.core.dae import Array
from herk.core.jit import HAVE_NUMBA, is_compiled
from herk.method.signatures import FUNCTION

InPlace = Callable[[float, Array, Array], None]
NAMES = ("E", "f", "g", "jac_g", "g_t")


class SlowWarning(UserWarning):
    """A solve runs interpreted, some hundred times slower than compiled."""


class CallableError(HerkError):
    """A user's function raised an exception; the message says where."""


@dataclass(frozen=True)
class Functions:
    """The five functions of a DAE in the order of NAMES; missing derivatives are placeholders that are never called."""

    in_place: tuple[InPlace, ...]
    compiled: bool
    have_jacobian: bool
    have_g_t: bool


def bind(dae: Dae, t: float, y: Array, *, interpret: bool = False) -> Functions:
    """Check every callable once at (t, y), then return the in-place functions; say once if they have to be interpreted."""
    have = {"have_jacobian": dae.jac_g is not None, "have_g_t": dae.g_t is not None}
    if dae.generated is not None:
        table = dae.generated.functions()
        functions = tuple(table[name] for name in NAMES)
        compiled = not interpret and all(is_compiled(function) for function in functions)
        return Functions(functions if compiled else tuple(map(_plain, functions)), compiled, True, True)
    sizes = {"E": (dae.n, dae.n), "f": (dae.n,), "g": (dae.m,), "jac_g": (dae.m, dae.n), "g_t": (dae.m,)}
    given = {name: getattr(dae, name) for name in NAMES}
    for name, function in given.items():
        if callable(function):
            probe(name, function, t, y, sizes[name])
    if HAVE_NUMBA and not interpret:
        try:
            return Functions(tuple(_compile(given[name]) for name in NAMES), compiled=True, **have)
        except Exception as error:  # noqa: BLE001 - numba refuses in many ways; the interpreted path takes over and says so
            reason = str(error).strip().splitlines()
            warnings.warn(
                "The callables cannot be compiled by numba, so the solve runs interpreted and slowly. Write them with scalars, "
                f"numpy arrays and math functions, or use herk.Model. numba says: {reason[0] if reason else type(error).__name__}",
                SlowWarning,
                stacklevel=4,
            )
    return Functions(tuple(_wrap(given[name]) for name in NAMES), compiled=False, **have)


def probe(name: str, function: Callable[[float, Array], Any], t: float, y: Array, shape: tuple[int, ...]) -> Array:
    """Call a user's function once in plain Python and check what it returns."""
    try:
        value = function(t, y.copy())
    except Exception as error:
        raise CallableError(f"{name}(t, y) raised {type(error).__name__}: {error} at t = {t!r}, y = {y.tolist()}.") from error
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}(t, y) returned {type(value).__name__}, which is no array of numbers.") from None
    if array.shape != shape:
        raise InputError(f"{name}(t, y) returned an array of shape {array.shape}; shape {shape} is needed.")
    if not np.isfinite(array).all():
        raise InputError(f"{name}(t, y) is not finite at the start: t = {t!r}, y = {y.tolist()}.")
    return array


_compiled: dict[tuple[Any, ...], InPlace] = {}


def _compile(function: Any) -> InPlace:
    """Return the compiled in-place function; the same function with the same captured values is compiled once per process."""
    key = (function, *_captured(function)) if callable(function) else (None,)
    if key not in _compiled:
        import numba

        if not callable(function):
            _compiled[key] = numba.njit(FUNCTION)(_absent)
        else:
            inner = function if is_compiled(function) else numba.njit(function)

            @numba.njit(FUNCTION, error_model="numpy")
            def in_place(t, y, out):  # type: ignore[no-untyped-def]
                out[:] = np.asarray(inner(t, y)).ravel()

            _compiled[key] = in_place
    return _compiled[key]


def _absent(t: float, y: Array, out: Array) -> None:
    """Stand where a function is not given; never called."""
    out[:] = np.nan


def _captured(function: Any, depth: int = 0) -> tuple[Any, ...]:
    """Return the values a function takes from outside: numba freezes them, so a changed value means another compilation."""
    plain = getattr(function, "py_func", function)
    if depth > 3 or not isinstance(plain, types.FunctionType):
        return ()
    names = plain.__code__.co_names
    outside = {name: plain.__globals__[name] for name in names if name in plain.__globals__}
    cells = dict(zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True))
    outside |= {name: cell.cell_contents for name, cell in cells.items()}
    found: list[Any] = []
    for name, value in sorted(outside.items()):
        if isinstance(value, (bool, int, float, complex, str)):
            found.append((name, value))
        elif isinstance(value, np.ndarray):
            found.append((name, value.shape, value.tobytes()))
        elif isinstance(value, (tuple, list)):
            found.append((name, repr(value)))
        elif callable(value):
            found.append((name, id(value), *_captured(value, depth + 1)))
    return tuple(found)


def _wrap(function: Any) -> InPlace:
    """Return the in-place function in plain Python."""
    if not callable(function):
        return _absent

    def in_place(t: float, y: Array, out: Array) -> None:
        out[:] = np.ravel(function(float(t), y.copy()))

    return in_place


def _plain(function: InPlace) -> InPlace:
    from herk.core.jit import interpreted

    return interpreted(function)
