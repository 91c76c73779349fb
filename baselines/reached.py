"""The equations of a form as compiled steps call them, by address with parameters.

Machine code of a model, callables that numba compiled, or Python that is called back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from herk.codegen.thunks import Thunk, with_parameters
from herk.core.dae import Array
from herk.jit.compiled import is_compiled
from herk.jit.native import Native
from herk.jit.pointers import FUNCTION, address

# What the functions take beside parameters, and how numba writes that.
RESIDUAL, JACOBIAN, MATRIX = ("t", "y", "v", "out"), ("t", "y", "v", "cj", "out"), ("t", "y", "out")
_NUMBERS = ("t", "cj")
_SIGNATURES = {
    RESIDUAL: "void(float64, float64[::1], float64[::1], float64[::1])",
    JACOBIAN: "void(float64, float64[::1], float64[::1], float64, float64[::1])",
    MATRIX: FUNCTION,
}


class CalledBack:
    """A Python function that compiled steps call; what it raises is kept, then it gives nan."""

    def __init__(self, function: Callable[..., Any], places: Sequence[str]) -> None:
        """Make the entry."""
        self.function, self.places = function, places
        self.error: BaseException | None = None
        kinds: list[Any] = []
        for place in (*places[:-1], "par", places[-1]):
            kinds += [ctypes.c_double] if place in _NUMBERS else [ctypes.c_void_p, ctypes.c_int64]
        self._called = ctypes.CFUNCTYPE(None, *kinds)(self._call)
        self.entry = int(ctypes.cast(self._called, ctypes.c_void_p).value or 0)

    def _call(self, *given: Any) -> None:
        *values, _, _, at, size = given  # without parameters
        out, left, arguments = _array(at, size), iter(values), []
        for place in self.places[:-1]:
            first = next(left)
            arguments.append(first if place in _NUMBERS else _array(first, next(left)))
        try:
            if self.error is None:
                self.function(*arguments, out)
                return
        except BaseException as error:  # noqa: BLE001 - nothing may escape into compiled code
            self.error = error
        out[:] = np.nan


def _array(at: int, size: int) -> Array:
    return np.frombuffer((ctypes.c_double * size).from_address(at))


def reached(function: Any, places: tuple[str, ...]) -> Native | CalledBack:
    """Return the function with the address by which compiled steps reach it, as its `entry`."""
    if isinstance(function, Native) and len(function.kinds.takes) > len(places):  # it takes parameters
        return function
    if not is_compiled(function):
        return CalledBack(function, places)
    address(function, _SIGNATURES[places])  # compiled now, if it was not
    return with_parameters(function, places)


def raised(functions: Sequence[Native | CalledBack]) -> BaseException | None:
    """Return what one of the functions raised."""
    for each in functions:
        if isinstance(each, CalledBack) and each.error is not None:
            return each.error
        if isinstance(each, Thunk) and each.raised:
            return RuntimeError("a compiled callable raised an exception")
    return None


def forget(functions: Sequence[Native | CalledBack], n: int) -> None:
    """Let functions that raised be called again, with n unknowns."""
    for each in functions:
        if isinstance(each, Thunk):
            each.forget(n)
        elif isinstance(each, CalledBack):
            each.error = None
