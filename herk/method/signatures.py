"""The types of compiled functions that are passed through pointers: user functions and kernels."""

from __future__ import annotations

from typing import Any

from herk.core.jit import HAVE_NUMBA

FUNCTION = "void(float64, float64[::1], float64[::1])"  # name(t, y, out)
E, F, G, JAC_G, G_T = range(5)  # places in the tuple of user functions
SLOTS = 16  # selections a run can hold generated kernels for

KERNEL: Any = None
ADVANCE: Any = None
SAMPLE: Any = None
if HAVE_NUMBA:
    from numba import types

    _floats, _ints = types.float64[::1], types.int64[::1]
    FUNCTIONS = types.UniTuple(types.FunctionType(types.void(types.float64, _floats, _floats)), 5)
    KERNEL = types.int64(types.int64, FUNCTIONS, types.float64, types.float64, _floats, _ints)
    KERNELS = types.UniTuple(types.FunctionType(KERNEL), SLOTS)
    ADVANCE = types.int64(KERNELS, FUNCTIONS, _floats, _ints, _floats, _ints, types.int64[:, ::1], _floats, types.float64[:, ::1], _ints)
    SAMPLE = types.int64(KERNELS, FUNCTIONS, _floats, _ints, types.int64[:, ::1], _floats, _floats, _ints, _floats, types.float64[:, ::1])

