"""Addresses of functions that numba compiled, by which machine code calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from herk.jit.compiled import quiet

FUNCTION = "void(float64, float64[::1], float64[::1])"  # name(t, y, out), the convention of all rooms
_addresses: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def address(function: Callable[..., Any], signature: Any = None) -> int:
    """Return where a compiled function stands; whoever holds the number must keep the function alive.

    A function that is not compiled yet is compiled for the signature, so that nothing is compiled before it
    is needed.
    """
    if hasattr(function, "address"):
        return int(function.address)
    if function not in _addresses:
        if not function.nopython_signatures:  # type: ignore[attr-defined]
            with quiet():
                function.compile(signature)  # type: ignore[attr-defined]
        [signature] = function.nopython_signatures  # type: ignore[attr-defined]
        result = function.get_compile_result(signature)  # type: ignore[attr-defined]
        _addresses[function] = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return _addresses[function]
