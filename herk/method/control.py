"""Step size: weighted error norm and PI controller."""

from __future__ import annotations

from herk.core.jit import compiled
from herk.method.memory import AT, DIFFERENTIAL, ERROR, ESTIMATES, N, NEW, ORDER, Y

RTOL, OLD_ERROR, EXPONENT, ATOL = 5, 6, 8, 16  # places in `run`, see drive.py
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
MEMORY = 0.2  # weight of the previous error in the PI controller, times the exponent (Hairer & Wanner II, IV.2: 0.04 at order 5)


@compiled()
def error_norm(h, mem, ints, run):  # type: ignore[no-untyped-def]
    """Return the root mean square of error / (atol + rtol |y|) over the differential components.

    Two estimates are combined as in DOP853 (Hairer, Norsett & Wanner, II.10): the small one, damped by the coarse one.
    """
    n, nd, y, new, error = ints[N], ints[DIFFERENTIAL], ints[AT + Y], ints[AT + NEW], ints[AT + ERROR]
    if nd == 0:
        return 0.0
    fine, coarse = 0.0, 0.0
    two = ints[ESTIMATES] == 2
    for j in range(nd):
        i = ints[ORDER + j]
        scale = run[ATOL + i] + run[RTOL] * max(abs(mem[y + i]), abs(mem[new + i]))
        fine += (mem[error + j] / scale) ** 2
        if two:
            coarse += (mem[error + n + j] / scale) ** 2
    if not two:
        return (fine / nd) ** 0.5
    total = fine + 0.01 * coarse
    return fine / (total * nd) ** 0.5 if total > 0.0 else total  # nan stays nan


@compiled()
def next_step(h, error, rejected, run):  # type: ignore[no-untyped-def]
    """Return the step size that follows from the error of this one; after a rejection it does not grow."""
    if not error > 1e-10:
        factor = GROW if error >= 0.0 else SHRINK
    elif error <= 1.0:
        exponent = run[EXPONENT]
        factor = SAFETY * error ** (-(1.0 - 0.75 * MEMORY) * exponent) * run[OLD_ERROR] ** (MEMORY * exponent)
    else:
        factor = SAFETY * error ** (-run[EXPONENT])
    factor = min(max(factor, SHRINK), 1.0 if rejected and error <= 1.0 else GROW)
    return h * factor
