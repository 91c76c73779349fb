"""Functions between conventions.

One without parameters where parameters are passed, one in Python that compiled code calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, finalize

import numpy as np

from herk.codegen.native import ARRAY, Native, compiled_entry
from herk.codegen.trampolines import PARAMETRIC
from herk.core.dae import Array
from herk.jit.pointers import address

InPlace = Callable[[float, Array, Array], None]
_ARGUMENTS = (
    f"ptr %result, ptr %raised, double %t, {ARRAY.format('%y')}, {ARRAY.format('%par')},"
    f" {ARRAY.format('%out')}"
)
_known: WeakKeyDictionary[Any, Native] = WeakKeyDictionary()


def with_parameters(function: Any) -> Native:
    """Return a compiled function (t, y, out) as one that takes (t, y, par, out) and leaves par alone."""
    if function not in _known:
        passed = f"ptr %result, ptr %raised, double %t, {ARRAY.format('%y')}, {ARRAY.format('%out')}"
        body = (
            f"  %at = inttoptr i64 {address(function)} to ptr\n  %status = call i32 %at({passed})\n  ret i32"
            " %status\n"
        )
        engine, entry = compiled_entry(_ARGUMENTS, body)
        _known[function] = Native(
            entry, PARAMETRIC, engine, lambda: _ignoring(getattr(function, "py_func", function))
        )
    return _known[function]


def _ignoring(function: InPlace) -> Callable[..., None]:
    return lambda t, y, _, out: function(t, y, out)


class Callback:
    """A Python function (t, y, out) that compiled code calls by address.

    What it raises is kept in `error` and ends the run.

    y and out are copied to and from memory of its own, so that nothing is wrapped anew at each call.
    """

    def __init__(self, function: InPlace, n: int, size: int) -> None:
        """Make the entry for compiled code."""
        self.function = function
        self.error: BaseException | None = None
        self.y, self.out = np.zeros(n), np.zeros(max(size, 1))
        self._entry = ctypes.CFUNCTYPE(None, ctypes.c_double)(self._call)
        where = ctypes.cast(self._entry, ctypes.c_void_p).value
        copies = (
            (
                f"  call void @llvm.memcpy.p0.p0.i64(ptr inttoptr (i64 {self.y.ctypes.data} to ptr), ptr %y,"
                f" i64 {8 * n}, i1 false)\n"
            ),
            (
                f"  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr inttoptr (i64 {self.out.ctypes.data} to"
                f" ptr), i64 {8 * size}, i1 false)\n"
            ),
        )
        body = (
            f"{copies[0]}  %at = inttoptr i64 {where} to ptr\n  call void %at(double %t)\n{copies[1]}  ret"
            " i32 0\n"
        )
        engine, entry = compiled_entry(
            _ARGUMENTS, body, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        )
        self.native = Native(
            entry, PARAMETRIC, (engine, self._entry, self.y, self.out), lambda: _ignoring(function)
        )

    def _call(self, t: float) -> None:
        if self.error is None:
            try:
                self.function(t, self.y, self.out)
            except BaseException as error:  # noqa: BLE001 - nothing may escape into compiled code; whoever runs it raises it again
                self.error = error
            else:
                return
        self.out[:] = np.nan


_free: WeakKeyDictionary[Any, list[Callback]] = WeakKeyDictionary()


def callback(function: InPlace, original: Any, n: int, size: int, owner: Any) -> Callback:
    """Return a callback for the use of one owner.

    The callbacks of a function are used again when their owners are gone.
    """
    try:
        pool = _free.setdefault(original, [])
    except TypeError:  # nothing that can be remembered
        return Callback(function, n, size)
    found = next((each for each in pool if each.y.size == n and each.out.size == max(size, 1)), None)
    if found is None:
        found = Callback(function, n, size)
    else:
        pool.remove(found)
        found.error = None
    finalize(owner, pool.append, found)
    return found
