"""Functions between conventions.

One without parameters where parameters are passed, one in Python that compiled code calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, finalize

import numpy as np

from herk.core.dae import Array
from herk.jit.native import C_ARRAY, Native, compiled
from herk.jit.pointers import address
from herk.jit.state import address_of
from herk.jit.values import FLOAT, FLOATS, Function

InPlace = Callable[[float, Array, Array], None]
_PLACES, _NUMBERS = ("t", "y", "out"), ("t", "cj")
_known: WeakKeyDictionary[Any, Thunk] = WeakKeyDictionary()
_names = count()


class Thunk(Native):
    """A function of the user that numba compiled, with parameters it ignores.

    Where it raises first is noted in `place`: t and y. From then on its values are not numbers, so that the
    run ends.
    """

    def __init__(self, function: Any, places: Sequence[str] = _PLACES) -> None:
        """Make the entry; `places` are the names of its arguments, t and y among them, out the last."""
        self._cell = np.zeros(2, dtype=np.int64)  # whether it raised, and the address of the place
        self.place: Array = np.zeros(1)
        given = [
            f"double %{name}"
            if name in _NUMBERS
            else f"ptr null, ptr null, i64 %{name}.size, i64 8, ptr %{name}, i64 %{name}.size, i64 8"
            for name in places
        ]
        body = _CALL.format(cell=address_of(self._cell), at=address(function), given=", ".join(given))
        declared = _COPY + "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
        engine, entry = _entry(body, declared, places)
        plain = getattr(function, "py_func", function)
        super().__init__(0, entry, _kinds(places), (engine, function), lambda: _ignoring(plain))

    def forget(self, n: int) -> None:
        """Let it be called again, with states of n components."""
        if self.place.size != n + 1:
            self.place = np.zeros(n + 1)
        self._cell[:] = 0, address_of(self.place)

    @property
    def raised(self) -> bool:
        """Tell whether it raised."""
        return bool(self._cell[0])


_COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
_CALL = """  %result = alloca i64
  %error = alloca ptr
  %cell = inttoptr i64 {cell} to ptr
  %raised = load i64, ptr %cell
  %before = icmp ne i64 %raised, 0
  br i1 %before, label %empty, label %call
call:
  %at = inttoptr i64 {at} to ptr
  %status = call i32 %at(ptr %result, ptr %error, {given})
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %failed
failed:
  store i64 1, ptr %cell
  %where = getelementptr i64, ptr %cell, i64 1
  %place = load ptr, ptr %where
  store double %t, ptr %place
  %rest = getelementptr double, ptr %place, i64 1
  %length = mul i64 %y.size, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %rest, ptr %y, i64 %length, i1 false)
  br label %empty
empty:
  %bytes = mul i64 %out.size, 8
  call void @llvm.memset.p0.i64(ptr %out, i8 -1, i64 %bytes, i1 false)
  br label %done
done:
  ret void
"""


def _entry(body: str, declarations: str, places: Sequence[str] = _PLACES) -> tuple[Any, int]:
    name = f"herk_thunk_{next(_names)}"
    taken = [
        f"double %{place}" if place in _NUMBERS else C_ARRAY.format(f"%{place}") for place in _all(places)
    ]
    engine = compiled(f"{declarations}define void @{name}({', '.join(taken)}) {{\n{body}}}\n")
    return engine, engine.get_function_address(name)


def _all(places: Sequence[str]) -> tuple[str, ...]:
    return (*places[:-1], "par", places[-1])


def _kinds(places: Sequence[str] = _PLACES) -> Function:
    return Function("", tuple(FLOAT if place in _NUMBERS else FLOATS for place in _all(places)), ())


def with_parameters(function: Any, places: Sequence[str] = _PLACES) -> Thunk:
    """Return a compiled function (t, y, ..., out) as one that takes par before out, and leaves it alone."""
    if function not in _known:
        _known[function] = Thunk(function, places)
    return _known[function]


def _ignoring(function: Callable[..., None]) -> Callable[..., None]:
    return lambda *given: function(*given[:-2], given[-1])


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
        y, out = (f"ptr inttoptr (i64 {address_of(each)} to ptr)" for each in (self.y, self.out))
        copy = "  call void @llvm.memcpy.p0.p0.i64(ptr {}, {}, i64 {}, i1 false)\n"
        body = (
            f"  call void @llvm.memcpy.p0.p0.i64({y}, ptr %y, i64 {8 * n}, i1 false)\n"
            f"  %at = inttoptr i64 {where} to ptr\n  call void %at(double %t)\n"
            + copy.format("%out", out, 8 * size)
            + "  ret void\n"
        )
        engine, entry = _entry(body, _COPY)
        keep = (engine, self._entry, self.y, self.out)
        self.native = Native(0, entry, _kinds(), keep, lambda: _ignoring(function))

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
