"""Steps of Radau5 around its stage equations.

Error estimate, predictive controller, what is kept and what is made anew; compiled.
"""

from __future__ import annotations

from baselines.irk.projection import project
from baselines.irk.radau5_memory import (
    AT_E,
    AT_RESIDUAL,
    CAUSE,
    CHUNK_FULL,
    CONVERGENCE,
    DONE,
    E_CONSTANT,
    ERROR,
    ERROR_ACCEPTED,
    FINISHED,
    FIRST,
    FRESH,
    H_ACCEPTED,
    H_MAX,
    H_OLD,
    ITERATIONS,
    KEEP_BELOW,
    KEPT,
    LAST,
    NEW_JACOBIAN,
    NEW_LU,
    NFEV,
    NO_CONVERGENCE,
    NONFINITE,
    NREJECT,
    NSTEP,
    PROJECTED,
    QUOTIENT,
    REJECTED,
    RTOL,
    SAFETY,
    SINGULAR,
    SINGULAR_MATRIX,
    T_END,
    THETA,
    UNDERFLOW,
    WANTED,
    H,
    N,
    T,
    residual_at,
)
from baselines.irk.radau5_newton import EPS, MOST_ITERATIONS, OK, decompose, linearise, newton, weight
from herk.integrate.steppers.radau.coefficients import D1, D2, D3, I31, I32, I33
from herk.jit.compiled import compiled, inner
from herk.jit.pointers import function_at
from herk.linalg.for_numba import substitute

SHRINK, GROW = 5.0, 0.125  # h_old / h_new lies between GROW and SHRINK
SAME_FROM, SAME_TO = (
    1.0,
    1.2,
)  # a step that would grow by no more than this is kept, and its factorisation with it


@inner()
def evaluate_f(m):  # type: ignore[no-untyped-def]
    """Evaluate f at the current point, -F(t, y, 0), and E where it is not constant.

    The error estimate compares them.
    """
    m.rate[:] = 0.0
    residual_at(m.ints[AT_RESIDUAL])(m.run[T], m.y, m.rate, m.f0)
    if not m.ints[E_CONSTANT]:
        function_at(m.ints[AT_E])(m.run[T], m.y, m.mass_here)
    for j in range(m.ints[N]):
        m.f0[j] = -m.f0[j]
    m.ints[NFEV] += 1


@inner()
def weigh(m):  # type: ignore[no-untyped-def]
    """Set the weights of the norm; an error of an unknown of index k counts h^(k-1) times only."""
    h = abs(m.run[H])
    for j in range(m.ints[N]):
        scale = m.atol[j] + m.run[RTOL] * abs(m.y[j])
        for _ in range(1, m.levels[j]):
            scale /= h
        m.scale[j] = scale


@inner()
def norm(m):  # type: ignore[no-untyped-def]
    """Return the weighted root mean square of the error."""
    n = m.ints[N]
    total = 0.0
    for j in range(n):
        total += (m.error[j] / m.scale[j]) ** 2
    return max((total / n) ** 0.5, 1e-10)


@inner()
def estimate(m):  # type: ignore[no-untyped-def]
    """Return the norm of the error estimate (REAL/h E + F_z)^-1 (f0 + E (D Z)/h).

    Damped once more where stiffness may spoil it.
    """
    n, h = m.ints[N], m.run[H]
    for j in range(n):
        m.stage[j] = (D1 * m.z[0, j] + D2 * m.z[1, j] + D3 * m.z[2, j]) / h
    for i in range(n):
        value = 0.0
        for j in range(n):
            value += m.mass_here[i * n + j] * m.stage[j]
        m.r[0, i] = value
        m.r[1, i] = value + m.f0[i]
    substitute(m.lu, 0, n, m.order, m.r[1], m.error, 0)
    size = norm(m)
    if size < 1.0 or not (m.ints[FIRST] or m.ints[REJECTED]):
        return size
    for j in range(n):
        m.stage[j] = m.y[j] + m.error[j]
    m.rate[:] = 0.0
    residual_at(m.ints[AT_RESIDUAL])(m.run[T], m.stage, m.rate, m.r[1])
    m.ints[NFEV] += 1
    for i in range(n):
        m.r[1, i] = m.r[0, i] - m.r[1, i]
    substitute(m.lu, 0, n, m.order, m.r[1], m.error, 0)
    return norm(m)


@inner()
def retry(m, factor, cause):  # type: ignore[no-untyped-def]
    """Prepare a shorter step from the same point; remember why."""
    m.ints[CAUSE] = cause
    m.run[H] *= factor
    m.ints[REJECTED] = 1
    m.ints[LAST] = 0
    m.ints[NREJECT] += 1
    m.ints[NEW_LU] = 1
    m.ints[NEW_JACOBIAN] = 0 if m.ints[FRESH] else 1


@inner()
def next_step(m, error, quotient):  # type: ignore[no-untyped-def]
    """Return the next step size after an accepted one.

    Gustafsson's predictive controller, never growing after a rejection.
    """
    h = m.run[H]
    if m.ints[NSTEP] > 1:
        predicted = m.run[H_ACCEPTED] / h * (error * error / m.run[ERROR_ACCEPTED]) ** 0.25 / m.run[SAFETY]
        quotient = max(quotient, min(max(predicted, GROW), SHRINK))
    m.run[H_ACCEPTED] = h
    m.run[ERROR_ACCEPTED] = max(1e-2, error)
    new = h / quotient
    if m.ints[REJECTED] and abs(new) > abs(h):
        new = h
    if abs(new) > m.run[H_MAX]:
        new = m.run[H_MAX] if h > 0.0 else -m.run[H_MAX]
    return new


@inner()
def plan(m, new):  # type: ignore[no-untyped-def]
    """Decide how long the next step is, and what of Jacobian and factors it can keep."""
    m.ints[REJECTED] = 0
    m.ints[FRESH] = 0
    keep = m.run[THETA] <= m.run[KEEP_BELOW]
    m.ints[NEW_JACOBIAN] = 0 if keep else 1
    m.ints[NEW_LU] = 1
    h = m.run[H]
    left = m.run[T_END] - m.run[T]
    if abs(new) >= abs(left):
        m.run[H] = left
        m.ints[LAST] = 1
    elif keep and SAME_FROM <= new / h <= SAME_TO:
        m.ints[NEW_LU] = 0
    else:
        m.run[H] = new


@inner()
def move(m):  # type: ignore[no-untyped-def]
    """Go to the new point: its z', the stages kept for dense output and prediction."""
    n, h = m.ints[N], m.run[H]
    m.run[T] = m.run[T_END] if m.ints[LAST] else m.run[T] + h
    m.run[H_OLD] = h
    for j in range(n):
        z1, z2, z3 = m.z[0, j], m.z[1, j], m.z[2, j]
        m.old[0, j], m.old[1, j], m.old[2, j] = z1, z2, z3
        m.slope[j] = (I31 * z1 + I32 * z2 + I33 * z3) / h
        m.before[j] = m.y[j]
        m.y[j] += z3
    m.ints[FIRST] = 0
    m.ints[NSTEP] += 1


@inner()
def record(m, start, t_out, y_out):  # type: ignore[no-untyped-def]
    """Write the new point, or the collocation polynomial at the wanted times of this step."""
    n, t, h = m.ints[N], m.run[T], m.run[H_OLD]
    if not m.ints[WANTED]:
        k = m.ints[KEPT]
        t_out[k] = t
        for j in range(n):
            y_out[k, j] = m.y[j]
        m.ints[KEPT] = k + 1
        return
    while m.ints[DONE] < t_out.size and (t - t_out[m.ints[DONE]]) * h >= 0.0:
        k = m.ints[DONE]
        s = (t_out[k] - start) / h
        a, b, c = weight(s, 0), weight(s, 1), weight(s, 2)
        for j in range(n):
            inside = m.before[j] + a * m.old[0, j] + b * m.old[1, j] + c * m.old[2, j]
            y_out[k, j] = m.y[j] if t_out[k] == t else inside
        m.ints[DONE] = k + 1


@compiled()
def begin(m):  # type: ignore[no-untyped-def]
    """Start afresh at the current point, also after a kink."""
    evaluate_f(m)
    for flag in (FIRST, NEW_JACOBIAN, NEW_LU):
        m.ints[flag] = 1
    m.ints[REJECTED] = 0
    m.ints[CAUSE] = UNDERFLOW
    left = m.run[T_END] - m.run[T]
    m.ints[LAST] = 0
    if abs(m.run[H]) * 1.0001 >= abs(left):
        m.run[H] = left
        m.ints[LAST] = 1
    m.run[CONVERGENCE] = 1.0


@inner()
def attempt(m):  # type: ignore[no-untyped-def]
    """Try one step; return 1 if it was accepted, 0 if a shorter one has to be tried.

    A negative number if that is hopeless.
    """
    if m.ints[NEW_JACOBIAN]:
        linearise(m)
        m.ints[FRESH] = 1
    if m.ints[NEW_LU] and not decompose(m):
        m.ints[SINGULAR] += 1
        retry(m, 0.5, SINGULAR_MATRIX)
        return SINGULAR_MATRIX if m.ints[SINGULAR] >= 5 else 0
    m.ints[SINGULAR] = 0
    weigh(m)
    outcome, factor = newton(m)
    if outcome != OK:
        retry(m, factor, NO_CONVERGENCE)
        return 0
    error = estimate(m)
    if not error < 1e300:
        retry(m, 0.5, NONFINITE)
        return 0
    safety = min(
        m.run[SAFETY], m.run[SAFETY] * (1 + 2 * MOST_ITERATIONS) / (m.ints[ITERATIONS] + 2 * MOST_ITERATIONS)
    )
    quotient = max(GROW, min(SHRINK, error**0.25 / safety))
    if error >= 1.0:
        retry(m, 0.1 if m.ints[FIRST] else 1.0 / quotient, UNDERFLOW)
        return 0
    move(m)
    m.run[ERROR], m.run[QUOTIENT] = error, quotient
    return 1


@inner()
def settle(m):  # type: ignore[no-untyped-def]
    """Prepare the next step, now that the new point is final."""
    new = next_step(m, m.run[ERROR], m.run[QUOTIENT])
    if not m.ints[LAST]:
        evaluate_f(m)
        plan(m, new)


@compiled()
def advance(m, p, limit, t_out, y_out):  # type: ignore[no-untyped-def]
    """Try at most `limit` steps; say how it ended."""
    m.ints[KEPT] = 0
    for _ in range(limit):
        start = m.run[T]
        if 0.1 * abs(m.run[H]) <= abs(start) * EPS:
            return m.ints[CAUSE]
        outcome = attempt(m)
        if outcome < 0:
            return outcome
        if outcome > 0:
            if m.ints[PROJECTED]:
                project(m.run[T], m.y, m.slope, p, m.ints)
            settle(m)
            record(m, start, t_out, y_out)
            if m.run[T] == m.run[T_END]:
                return FINISHED
    return CHUNK_FULL
