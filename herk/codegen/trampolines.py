"""From Python into machine code by address: one small compiled function for each signature."""

from __future__ import annotations

from herk.jit.compiled import compiled
from herk.jit.pointers import at

FUNCTION = "void(float64, float64[::1], float64[::1])"  # name(t, y, out)
PARAMETRIC = (
    "void(float64, float64[::1], float64[::1], float64[::1])"  # name(t, y, par, out), also (t, y, v, out)
)
MOVING = "void(float64, float64[::1], float64[::1], float64[::1], float64[::1])"  # name(t, y, v, par, out)
SHIFTED = "void(float64, float64[::1], float64[::1], float64, float64[::1])"  # name(t, y, v, cj, out)
# (t, y, v, cj, par, out)
SHIFTED_PARAMETRIC = "void(float64, float64[::1], float64[::1], float64, float64[::1], float64[::1])"

function_at, parametric_at, moving_at = at(FUNCTION), at(PARAMETRIC), at(MOVING)
shifted_at, shifted_parametric_at = at(SHIFTED), at(SHIFTED_PARAMETRIC)


@compiled()
def call_function(number, t, y, out):  # type: ignore[no-untyped-def]
    """Call name(t, y, out)."""
    function_at(number)(t, y, out)


@compiled()
def call_parametric(number, t, y, par, out):  # type: ignore[no-untyped-def]
    """Call name(t, y, par, out)."""
    parametric_at(number)(t, y, par, out)


@compiled()
def call_moving(number, t, y, v, par, out):  # type: ignore[no-untyped-def]
    """Call name(t, y, v, par, out)."""
    moving_at(number)(t, y, v, par, out)


@compiled()
def call_shifted(number, t, y, v, cj, out):  # type: ignore[no-untyped-def]
    """Call name(t, y, v, cj, out)."""
    shifted_at(number)(t, y, v, cj, out)


@compiled()
def call_shifted_parametric(number, t, y, v, cj, par, out):  # type: ignore[no-untyped-def]
    """Call name(t, y, v, cj, par, out)."""
    shifted_parametric_at(number)(t, y, v, cj, par, out)


BY_SIGNATURE = {
    FUNCTION: call_function, PARAMETRIC: call_parametric, MOVING: call_moving, SHIFTED: call_shifted,
    SHIFTED_PARAMETRIC: call_shifted_parametric,
}  # fmt: skip
