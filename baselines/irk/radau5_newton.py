"""The stage equations of Radau5.

Simplified Newton on one real and one complex system (Hairer & Wanner II, IV.8), compiled.

The stages Z_i = Y_i - y of E z' = f solve F(t + c_i h, y + Z_i, (1/h) sum_j (A^-1)_ij Z_j) = 0 with F(t, z,
z') = E(t, z) z' - f(t, z). In the basis T that makes A^-1 block diagonal, the Newton matrix falls apart into
REAL/h E + F_z and (ALPHA + i BETA)/h E + F_z. Since F is used, and not E^-1 f, E may be singular and may
depend on t and z; F_z is taken at the z' of the last step.
"""

from __future__ import annotations

from baselines.irk.radau5_memory import (
    AT_JACOBIAN,
    AT_RESIDUAL,
    CONVERGENCE,
    FIRST,
    H_OLD,
    ITERATIONS,
    NEWTON_TOLERANCE,
    NFEV,
    NIT,
    NJEV,
    NLU,
    THETA,
    H,
    N,
    T,
    jacobian_at,
    residual_at,
)
from herk.integrate.steppers.radau.coefficients import (
    ALPHA,
    B11,
    B12,
    B13,
    B21,
    B22,
    B23,
    B31,
    B32,
    B33,
    BETA,
    C1,
    C2,
    C3,
    I11,
    I12,
    I13,
    I21,
    I22,
    I23,
    I31,
    I32,
    I33,
    REAL,
    T11,
    T12,
    T13,
    T21,
    T22,
    T23,
    T31,
    T32,
    T33,
)
from herk.jit.compiled import inner
from herk.linalg.for_numba import factor, substitute

MOST_ITERATIONS = 7
# a rate of convergence found with a step this much shorter is forgotten (our addition: one iteration after a
# tiny first
LONGER = 2.0
# step may leave constraints so far from zero that no later step is short enough for the error estimate)
EPS = 2.220446049250313e-16
OK, SLOW, DIVERGED = 0, 1, 2  # SLOW: with the step that newton() returns, the iterations would be enough


@inner()
def linearise(m):  # type: ignore[no-untyped-def]
    """Evaluate F_z at the current point; E is there already."""
    jacobian_at(m.ints[AT_JACOBIAN])(m.run[T], m.y, m.slope, 0.0, m.jac)
    for i in range(m.mass.size):
        m.mass[i] = m.mass_here[i]
    m.ints[NJEV] += 1


@inner()
def decompose(m):  # type: ignore[no-untyped-def]
    """Factor both Newton matrices; return whether they are regular."""
    n = m.ints[N]
    h = m.run[H]
    real, alpha, beta = REAL / h, ALPHA / h, BETA / h
    for i in range(n * n):
        m.lu[i] = real * m.mass[i] + m.jac[i]
        m.complex_lu[i] = complex(alpha * m.mass[i] + m.jac[i], beta * m.mass[i])
    m.ints[NLU] += 2
    return factor(m.lu, 0, n, m.order) > 0.0 and factor(m.complex_lu, 0, n, m.complex_order) > 0.0


@inner()
def weight(s, i):  # type: ignore[no-untyped-def]
    """Return the i-th Lagrange polynomial over the nodes 0, c1, c2, 1 at s."""
    if i == 0:
        return s * (s - C2) * (s - C3) / (C1 * (C1 - C2) * (C1 - C3))
    if i == 1:
        return s * (s - C1) * (s - C3) / (C2 * (C2 - C1) * (C2 - C3))
    return s * (s - C1) * (s - C2) / (C3 * (C3 - C1) * (C3 - C2))


@inner()
def predict(m):  # type: ignore[no-untyped-def]
    """Start from the collocation polynomial of the last step, continued; from zero in the first step."""
    n = m.ints[N]
    if m.ints[FIRST]:
        m.z[:, :] = 0.0
        m.w[:, :] = 0.0
        return
    q = m.run[H] / m.run[H_OLD]
    for i in range(3):
        s = 1.0 + q * (C1 if i == 0 else C2 if i == 1 else C3)
        a, b, c = weight(s, 0), weight(s, 1), weight(s, 2) - 1.0
        for j in range(n):
            m.z[i, j] = a * m.old[0, j] + b * m.old[1, j] + c * m.old[2, j]
    for j in range(n):
        z1, z2, z3 = m.z[0, j], m.z[1, j], m.z[2, j]
        m.w[0, j] = B11 * z1 + B12 * z2 + B13 * z3
        m.w[1, j] = B21 * z1 + B22 * z2 + B23 * z3
        m.w[2, j] = B31 * z1 + B32 * z2 + B33 * z3


@inner()
def residuals(m):  # type: ignore[no-untyped-def]
    """Write -F of the three stages into r, in the new basis."""
    n = m.ints[N]
    t, h = m.run[T], m.run[H]
    evaluate = residual_at(m.ints[AT_RESIDUAL])
    for i in range(3):
        c = C1 if i == 0 else C2 if i == 1 else C3
        a1 = (I11 if i == 0 else I21 if i == 1 else I31) / h
        a2 = (I12 if i == 0 else I22 if i == 1 else I32) / h
        a3 = (I13 if i == 0 else I23 if i == 1 else I33) / h
        for j in range(n):
            m.stage[j] = m.y[j] + m.z[i, j]
            m.rate[j] = a1 * m.z[0, j] + a2 * m.z[1, j] + a3 * m.z[2, j]
        evaluate(t + c * h, m.stage, m.rate, m.r[i])
    m.ints[NFEV] += 3
    for j in range(n):
        r1, r2, r3 = m.r[0, j], m.r[1, j], m.r[2, j]
        m.r[0, j] = -(B11 * r1 + B12 * r2 + B13 * r3)
        m.r[1, j] = -(B21 * r1 + B22 * r2 + B23 * r3)
        m.r[2, j] = -(B31 * r1 + B32 * r2 + B33 * r3)


@inner()
def increment(m):  # type: ignore[no-untyped-def]
    """Solve both systems, add the increments, return their weighted root mean square."""
    n = m.ints[N]
    substitute(m.lu, 0, n, m.order, m.r[0], m.stage, 0)
    for j in range(n):
        m.complex_right[j] = complex(m.r[1, j], m.r[2, j])
    substitute(m.complex_lu, 0, n, m.complex_order, m.complex_right, m.complex_x, 0)
    total = 0.0
    for j in range(n):
        d1, d2, d3 = m.stage[j], m.complex_x[j].real, m.complex_x[j].imag
        total += (d1 * d1 + d2 * d2 + d3 * d3) / (m.scale[j] * m.scale[j])
        m.w[0, j] += d1
        m.w[1, j] += d2
        m.w[2, j] += d3
    return (total / (3 * n)) ** 0.5


@inner()
def leave_basis(m):  # type: ignore[no-untyped-def]
    """Write Z = T W."""
    for j in range(m.ints[N]):
        w1, w2, w3 = m.w[0, j], m.w[1, j], m.w[2, j]
        m.z[0, j] = T11 * w1 + T12 * w2 + T13 * w3
        m.z[1, j] = T21 * w1 + T22 * w2 + T23 * w3
        m.z[2, j] = T31 * w1 + T32 * w2 + T33 * w3


@inner()
def newton(m):  # type: ignore[no-untyped-def]
    """Iterate until rate/(1 - rate) * increment is below the tolerance.

    Return the outcome and the factor for a shorter step.
    """
    predict(m)
    grown = abs(m.run[H]) > LONGER * abs(m.run[H_OLD])
    m.run[CONVERGENCE] = 1.0 if grown else max(m.run[CONVERGENCE], EPS) ** 0.8
    m.run[THETA] = 1e-3
    last = 1.0
    last_ratio = 1.0
    for k in range(1, MOST_ITERATIONS + 1):
        residuals(m)
        size = increment(m)
        m.ints[NIT] += 1
        m.ints[ITERATIONS] = k
        if not size < 1e300:
            return DIVERGED, 0.5
        if 1 < k < MOST_ITERATIONS:
            ratio = size / last
            theta = ratio if k == 2 else (ratio * last_ratio) ** 0.5
            last_ratio = ratio
            m.run[THETA] = theta
            if not theta < 0.99:
                return DIVERGED, 0.5
            m.run[CONVERGENCE] = theta / (1.0 - theta)
            left = MOST_ITERATIONS - 1 - k
            expected = m.run[CONVERGENCE] * size * theta**left / m.run[NEWTON_TOLERANCE]
            if expected >= 1.0:
                return SLOW, 0.8 * min(max(expected, 1e-4), 20.0) ** (-1.0 / (4.0 + left))
        last = max(size, EPS)
        leave_basis(m)
        if m.run[CONVERGENCE] * size <= m.run[NEWTON_TOLERANCE]:
            return OK, 1.0
    return DIVERGED, 0.5
