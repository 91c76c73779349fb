"""Short arrays that live within one call of compiled code: where all their indices are constants, the compiler keeps them in registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from herk.core.jit import HAVE_NUMBA, set_twin


def _zeros(size: int) -> Any:
    return np.zeros(size)


def _stack() -> Any:
    """Return the function that makes an array of `size` floats, a literal number, inside compiled code; its content is not set."""
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


stack = _stack()
