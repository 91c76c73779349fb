"""The types of compiled functions that are reached by address, and the functions that reach them."""

from __future__ import annotations

from herk.jit.pointers import at

_ARRAY = "float64[::1]"
FUNCTION = f"void(float64, {_ARRAY}, {_ARRAY})"  # name(t, y, out), as other rooms want functions
PARAMETRIC = f"void(float64, {_ARRAY}, {_ARRAY}, {_ARRAY})"  # name(t, y, par, out)
KERNEL = f"int64(int64, float64, float64, {_ARRAY}, int64[::1])"  # kernel(task, t, h, mem, ints)
# (t, y, tolerance, floor, pivots, work, par)
COMPLETE = f"int64(float64, {_ARRAY}, float64, {_ARRAY}, {_ARRAY}, {_ARRAY}, {_ARRAY})"
RATE = f"int64(float64, {_ARRAY}, {_ARRAY}, {_ARRAY}, {_ARRAY})"  # (t, y, out, work, par)
RESIDUAL = f"float64(float64, {_ARRAY}, {_ARRAY}, {_ARRAY})"  # (t, y, work, par)
# The same three for systems given by callables, which find all they need in the memory of the run; z is where
# the point stands.
GENERAL_COMPLETE = f"int64(float64, int64, float64, {_ARRAY}, int64[::1])"  # (t, z, tolerance, mem, ints)
GENERAL_RATE = f"int64(float64, int64, int64, {_ARRAY}, int64[::1])"  # (t, z, row, mem, ints)
GENERAL_RESIDUAL = f"float64(float64, int64, {_ARRAY}, int64[::1])"  # (t, z, mem, ints)

function_at, parametric_at = at(FUNCTION), at(PARAMETRIC)
kernel_at, complete_at, rate_at, residual_at = at(KERNEL), at(COMPLETE), at(RATE), at(RESIDUAL)
general_complete_at, general_rate_at, general_residual_at = (
    at(GENERAL_COMPLETE),
    at(GENERAL_RATE),
    at(GENERAL_RESIDUAL),
)
