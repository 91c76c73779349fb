"""Functions by address: how compiled code calls functions it was not compiled with.

And how interpreted code finds their twins.

numba can pass functions as values, but checks and wraps them anew at every call from Python, which takes
milliseconds. An address in an array of integers costs nothing, keeps exceptions, and lets a run hold any
number of kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from herk.jit.compiled import HAVE_NUMBA, is_compiled, quiet, set_twin

_interpreted: WeakValueDictionary[int, Any] = WeakValueDictionary()
_addresses: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def address(function: Callable[..., Any], signature: Any = None) -> int:
    """Return the number under which `at` finds the function.

    Whoever holds the number must keep the function alive.

    A function that is not compiled yet is compiled for the signature, so that nothing is compiled before it
    is needed.
    """
    if not is_compiled(function):
        _interpreted[id(function)] = function
        return id(function)
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


def _look_up(number: int) -> Any:
    return _interpreted[number]


def at(signature: Any) -> Any:
    """Return the function that turns an address into a callable of this numba signature.

    Inside compiled code.
    """
    if not HAVE_NUMBA:
        return _look_up
    from numba.core import cgutils, sigutils, types
    from numba.extending import intrinsic

    arguments, result = sigutils.normalize_signature(signature)
    function_type = types.FunctionType(result(*arguments))

    @intrinsic
    def function_at(typing_context, number):  # type: ignore[no-untyped-def] # noqa: ARG001
        def generate(context, builder, _signature, values):  # type: ignore[no-untyped-def]
            value = cgutils.create_struct_proxy(function_type)(context, builder)
            value.jit_addr = builder.inttoptr(values[0], context.get_value_type(types.voidptr))
            return value._getvalue()

        return function_type(types.int64), generate

    set_twin(function_at, _look_up)
    return function_at


FUNCTION = "void(float64, float64[::1], float64[::1])"  # name(t, y, out), the convention of all rooms
function_at = at(FUNCTION)
