"""The types of compiled functions that are passed through pointers: user functions and kernels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def quiet() -> Iterator[None]:
    """Silence numba's note that functions passed as values are an experimental feature; tests cover what we use of it."""
    if not HAVE_NUMBA:
        yield
        return
    from numba.core.errors import NumbaExperimentalFeatureWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        yield
