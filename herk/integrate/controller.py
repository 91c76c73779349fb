"""Step size: weighted error norm and PI controller."""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.memory import (
    AT,
    COMPLETE,
    DIFFERENTIAL,
    EPS,
    ERROR,
    ESTIMATES,
    NEW,
    OK,
    ORDER,
    STAGE,
    STAGES,
    STEP,
    K,
    N,
    Y,
)
from herk.jit.compiled import compiled, inner

T, T_END, H_MAX, RTOL, OLD_ERROR, EXPONENT, ATOL = 0, 2, 4, 5, 6, 7, 16  # places in `run`, see drive.py
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
# weight of the previous error in the PI controller, times the exponent (Hairer & Wanner II, IV.2: 0.04 at
# order 5)
MEMORY = 0.2


@inner()
def spread(kernel, t, mem, ints):  # type: ignore[no-untyped-def]
    """Turn the error estimate of the differential components into one of all components, in place at ERROR.

    Return the status.

    The embedded result is completed by the constraints like the new point; the estimate is the difference of
    two points on the constraints. So it does not depend on which components are algebraic, and sees where
    they amplify errors.
    """
    n, nd, new, kept, error = ints[N], ints[DIFFERENTIAL], ints[AT + NEW], ints[AT + STAGE], ints[AT + ERROR]
    for i in range(n):
        mem[kept + i] = mem[new + i]
    for j in range(nd):
        mem[new + ints[ORDER + j]] += mem[error + j]
    status = kernel(COMPLETE, t, 0.0, mem, ints) if nd < n else OK
    for i in range(n):
        mem[error + i] = mem[new + i] - mem[kept + i]
        mem[new + i] = mem[kept + i]
    return status


@inner()
def error_norm(mem, ints, run):  # type: ignore[no-untyped-def]
    """Return the root mean square of error / (atol + rtol |y|) over all components."""
    n, y, new, error = ints[N], ints[AT + Y], ints[AT + NEW], ints[AT + ERROR]
    total = 0.0
    for i in range(n):
        scale = run[ATOL + i] + run[RTOL] * max(abs(mem[y + i]), abs(mem[new + i]))
        total += (mem[error + i] / scale) ** 2
    return (total / n) ** 0.5


@inner()
def damping(mem, ints, run):  # type: ignore[no-untyped-def]
    """Return the factor by which DOP853 damps its error estimate, from a second, coarser one.

    Hairer, Norsett & Wanner, II.10.
    """
    if ints[ESTIMATES] < 2:
        return 1.0
    fine, coarse = 0.0, 0.0
    for j in range(ints[DIFFERENTIAL]):
        i = ints[ORDER + j]
        scale = run[ATOL + i] + run[RTOL] * max(abs(mem[ints[AT + Y] + i]), abs(mem[ints[AT + NEW] + i]))
        fine += (mem[ints[AT + ERROR] + j] / scale) ** 2
        coarse += (mem[ints[AT + ERROR] + ints[N] + j] / scale) ** 2
    total = fine + 0.01 * coarse
    return (fine / total) ** 0.5 if total > 0.0 else 1.0


@inner()
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


@compiled()
def shortest(t, span):  # type: ignore[no-untyped-def]
    """Return the shortest first step; t + h must differ from t, or the run would stand still."""
    return 64.0 * EPS * (abs(t) + 1e-3 * abs(span))


@inner()
def first_step(kernel, mem, ints, run):  # type: ignore[no-untyped-def]
    """Return a first step size from the sizes of y, y' and y'' (Hairer, Norsett & Wanner, II.4).

    Y'' from one trial step.
    """
    n, nd, y, k = ints[N], ints[DIFFERENTIAL], ints[AT + Y], ints[AT + K]
    span = run[T_END] - run[T]
    most = min(abs(span), run[H_MAX])
    d0 = weighted(y, True, mem, ints, run)
    d1 = weighted(k, False, mem, ints, run)
    h = min(0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6 * abs(span), most)
    for _ in range(8):
        trial = h if span > 0.0 else -h
        if kernel(STEP, run[T], trial, mem, ints) == OK:
            break
        h *= 0.1
    last = k + ints[STAGES] * n
    for j in range(nd):
        mem[last + j] = (mem[last + j] - mem[k + j]) / h
    d2 = weighted(last, False, mem, ints, run)
    largest = max(d1, d2)
    h = min(
        100.0 * h,
        (0.01 / largest) ** run[EXPONENT] if largest > 1e-15 else max(1e-6 * abs(span), 1e-3 * h),
        most,
    )
    if not h > 0.0:
        h = 1e-6 * most
    h = max(h, min(shortest(run[T], span), most))
    return h if span > 0.0 else -h


@inner()
def weighted(start, point, mem, ints, run):  # type: ignore[no-untyped-def]
    """Return the weighted root mean square of a point (by component) or of a row.

    Of derivatives (by place).
    """
    nd, y = ints[DIFFERENTIAL], ints[AT + Y]
    total = 0.0
    for j in range(nd):
        i = ints[ORDER + j]
        scale = run[ATOL + i] + run[RTOL] * abs(mem[y + i])
        value = mem[start + i] if point else mem[start + j]
        total += (value / scale) ** 2
    return (total / nd) ** 0.5 if nd > 0 else 0.0
