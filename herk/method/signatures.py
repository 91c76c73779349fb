"""The types of compiled functions that are reached by address, and the functions that reach them."""

from __future__ import annotations

from herk.core.pointers import at

FUNCTION = "void(float64, float64[::1], float64[::1])"  # name(t, y, out)
KERNEL = "int64(int64, float64, float64, float64[::1], int64[::1])"  # kernel(task, t, h, mem, ints)

function_at = at(FUNCTION)
kernel_at = at(KERNEL)
