"""Arrays inside compiled code that cost nothing.

Short ones that live within one call, and views on part of another array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.jit.compiled import HAVE_NUMBA, set_twin


def _zeros(size: int) -> Any:
    return np.zeros(size)


def _stack() -> Any:
    """Return the function that makes an array of `size` floats, a literal number, inside compiled code.

    Its content is not set.
    """
    if not HAVE_NUMBA:
        return _zeros
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    array_type = types.Array(types.float64, 1, "C")

    @intrinsic(prefer_literal=True)
    def stack(typing_context, size):  # type: ignore[no-untyped-def] # noqa: ARG001
        def generate(context, builder, _signature, _values):  # type: ignore[no-untyped-def]
            whole = context.get_value_type(types.intp)
            place = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), size.literal_value))
            array = context.make_array(array_type)(context, builder)
            data = builder.bitcast(place, ir.DoubleType().as_pointer())
            shape, stride = [whole(size.literal_value)], [whole(8)]
            populate_array(array, data=data, shape=shape, strides=stride, itemsize=whole(8), meminfo=None)
            return array._getvalue()

        return array_type(size), generate

    set_twin(stack, _zeros)
    return stack


def _part(array: Any, start: int, size: int) -> Any:
    return array[start : start + size]


def _view() -> Any:
    """Return the function view(array, start, size): part of a contiguous array, without any checks.

    A slice costs numba twenty times as much code, and compiling takes as much longer.
    """
    if not HAVE_NUMBA:
        return _part
    from numba.core import types
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    @intrinsic
    def view(typing_context, array, start, size):  # type: ignore[no-untyped-def] # noqa: ARG001
        def generate(context, builder, _signature, values):  # type: ignore[no-untyped-def]
            whole = context.get_value_type(types.intp)
            source = context.make_array(array)(context, builder, values[0])
            made = context.make_array(array)(context, builder)
            data = builder.gep(source.data, [values[1]])
            populate_array(
                made, data=data, shape=[values[2]], strides=[whole(8)], itemsize=whole(8), meminfo=None
            )
            return made._getvalue()

        return array(array, types.int64, types.int64), generate

    set_twin(view, _part)
    return view


stack = _stack()
view = _view()
