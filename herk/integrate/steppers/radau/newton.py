"""The stage equations: simplified Newton on one real and one complex system (Hairer & Wanner II, IV.8).

The stages Z_i = Y_i - y solve S (E Y_i' - f) = 0, g(t + c_i h, Y_i) = 0, Y_i' = (1/h) sum_j (A^-1)_ij Z_j.
In the basis T that makes A^-1 block diagonal, the Newton matrix falls apart into REAL/h M + J and (ALPHA + i
BETA)/h M + J, M = [S E; 0], J = [S (E y' - f)_y; g_y], which are regular for short steps since [S E; g_y] is.
"""

from __future__ import annotations

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
from herk.integrate.steppers.radau.equations import constraint_jacobian, constraints, implicit, linearise
from herk.integrate.steppers.radau.layout import BRANCH, EPS, NO_CONVERGENCE, NONFINITE, OK, SINGULAR, Radau
from herk.integrate.steppers.radau.selecting import select
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats, view
from herk.linalg.complex_dense import factor_complex, substitute_complex
from herk.linalg.dense import factor, level_rows, substitute

# A rate of convergence found with a step this much shorter is forgotten: one iteration after a tiny first
# step may leave constraints so far from zero that no later step is short enough for the error estimate.
LONGER = 2.0
AHEAD = 0.5  # part of a step after which g_y is evaluated: constraints that turn are what Newton is slow for
DIVERGENT, HOPELESS = 0.99, 10.0  # rates of convergence that end the iteration, the first one
PATIENCE = 2  # after more iterations than this
STALLED = 1e-11  # relative increments that do not shrink any more are rounding
SAME_STEP = 1e-7  # steps that differ by no more than this part share their factors


def renew_jacobian(t: float, own: Radau) -> int:
    """Evaluate the derivatives at the current point, look at the selection, collect the rows of M and J."""
    n, m, d, mass, jacobian = own.n, own.m, own.d, own.mass, own.jacobian
    linearise(t, own)
    own.ahead = 0
    if not own.first and not own.careful and own.m > 0:
        own.ahead = 1
        halfway(own)
        constraint_jacobian(t + AHEAD * own.h, own.stage, own)
    own.factors_valid = 0
    own.jacobian_valid = 0
    if not select(own):
        return SINGULAR
    for k in range(d):
        row = own.rows[k] * n
        for j in range(n):
            mass[k * n + j] = own.e_here[row + j]
            jacobian[k * n + j] = own.whole[row + j]
    for k in range(m * n):
        jacobian[d * n + k] = own.g_y[k]
        mass[d * n + k] = 0.0
    own.fresh = 1
    if not same_branch(own):
        return BRANCH
    own.jacobian_valid = 1
    return OK


def same_branch(own: Radau) -> bool:
    """Tell whether the determinant of [S E; g_y] has the sign it had; where it changes, solutions meet."""
    n, d, a, sign = own.n, own.d, own.stacked, 1.0
    if own.m == 0 or own.fixed:
        return True
    for k in range(d * n):
        a[k] = own.mass[k]
    for k in range(own.m * n):
        a[d * n + k] = own.g_y[k]
    level_rows(a, n, own.scale, own.right_1)
    if not factor(a, 0, n, own.used) > 0.0:
        return False
    for i in range(n):
        for j in range(i):
            sign = -sign if own.used[j] > own.used[i] else sign
        sign = -sign if a[own.used[i] * n + i] < 0.0 else sign
    if own.sign == 0.0:
        own.sign = sign
    return sign == own.sign


def halfway(own: Radau) -> None:
    """Continue the collocation polynomial of the last step into this one."""
    n, old = own.n, own.old
    s = 1.0 + AHEAD * own.h / own.h_old
    a, b, c = weight(s, 0), weight(s, 1), weight(s, 2) - 1.0
    for j in range(n):
        own.stage[j] = own.y[j] + a * old[j] + b * old[n + j] + c * old[2 * n + j]


def decompose(own: Radau) -> int:
    """Factor both Newton matrices."""
    n, lu, re, im, mass, jacobian = own.n, own.lu, own.re, own.im, own.mass, own.jacobian
    real, alpha, beta = REAL / own.h, ALPHA / own.h, BETA / own.h
    for i in range(n * n):
        lu[i] = real * mass[i] + jacobian[i]
    level_rows(lu, n, own.scale, own.leveled)
    for i in range(n):
        factor_of_row = own.leveled[i]
        for k in range(i * n, i * n + n):
            re[k] = factor_of_row * (alpha * mass[k] + jacobian[k])
            im[k] = factor_of_row * beta * mass[k]
    own.nlu += 2
    own.h_factors = own.h
    own.factors_valid = 0
    if not factor(lu, 0, n, own.order) > 0.0:
        return SINGULAR
    if not factor_complex(re, im, n, own.order_complex) > 0.0:
        return SINGULAR
    own.factors_valid = 1
    return OK


def factored(t: float, own: Radau) -> int:
    """Bring Jacobian and factors up to date for the step at work."""
    if not own.jacobian_valid:
        status = renew_jacobian(t, own)
        if status != OK:
            return status
    if own.factors_valid and abs(own.h - own.h_factors) <= SAME_STEP * abs(own.h):
        return OK
    return decompose(own)


def weight(s: float, i: int) -> float:
    """Return the i-th Lagrange polynomial over the nodes 0, c1, c2, 1 at s."""
    if i == 0:
        return s * (s - C2) * (s - C3) / (C1 * (C1 - C2) * (C1 - C3))
    if i == 1:
        return s * (s - C1) * (s - C3) / (C2 * (C2 - C1) * (C2 - C3))
    return s * (s - C1) * (s - C2) / (C3 * (C3 - C1) * (C3 - C2))


def predict(own: Radau) -> None:
    """Start from the collocation polynomial of the last step, continued; the first step has none."""
    n, z, old = own.n, own.z, own.old
    if own.first:
        h = own.h if own.tangent else 0.0
        for j in range(n):
            z[j], z[n + j], z[2 * n + j] = C1 * h * own.slope[j], C2 * h * own.slope[j], h * own.slope[j]
    else:
        q = own.h / own.h_old
        for i in range(3):
            s = 1.0 + q * (C1 if i == 0 else C2 if i == 1 else C3)
            a, b, c = weight(s, 0), weight(s, 1), weight(s, 2) - 1.0
            for j in range(n):
                z[i * n + j] = a * old[j] + b * old[n + j] + c * old[2 * n + j]
    enter_basis(own)


def enter_basis(own: Radau) -> None:
    """Write W = T^-1 Z."""
    n, z, w = own.n, own.z, own.w
    for j in range(n):
        z1, z2, z3 = z[j], z[n + j], z[2 * n + j]
        w[j] = B11 * z1 + B12 * z2 + B13 * z3
        w[n + j] = B21 * z1 + B22 * z2 + B23 * z3
        w[2 * n + j] = B31 * z1 + B32 * z2 + B33 * z3


def leave_basis(own: Radau) -> None:
    """Write Z = T W."""
    n, z, w = own.n, own.z, own.w
    for j in range(n):
        w1, w2, w3 = w[j], w[n + j], w[2 * n + j]
        z[j] = T11 * w1 + T12 * w2 + T13 * w3
        z[n + j] = T21 * w1 + T22 * w2 + T23 * w3
        z[2 * n + j] = T31 * w1 + T32 * w2 + T33 * w3


def stage_residual(c: float, a1: float, a2: float, a3: float, z: Floats, t: float, own: Radau) -> None:
    """Write the residual of one stage, z its row, into `full` and `g`; a1, a2, a3 are a row of A^-1 / h."""
    n, y, stage, rate, stages = own.n, own.y, own.stage, own.rate, own.z
    for j in range(n):
        stage[j] = y[j] + z[j]
        rate[j] = a1 * stages[j] + a2 * stages[n + j] + a3 * stages[2 * n + j]
    own.stage_t = t + c * own.h
    implicit(own.stage_t, stage, rate, own.full, own)
    constraints(own.stage_t, stage, own.g, own)


def collect(out: Floats, own: Radau) -> None:
    """Write the residuals of the selected rows, then of the constraints, in the units of the factors."""
    d, full, g, rows, leveled = own.d, own.full, own.g, own.rows, own.leveled
    for k in range(d):
        out[k] = leveled[k] * full[rows[k]]
    for k in range(own.m):
        out[d + k] = leveled[d + k] * g[k]


def residuals(t: float, own: Radau) -> None:
    """Write minus the residuals of the three stages, in the new basis."""
    n, z, h, x1, x2, x3 = own.n, own.z, own.h, own.right_1, own.right_2, own.right_3
    stage_residual(C1, I11 / h, I12 / h, I13 / h, view(z, 0, n), t, own)
    collect(x1, own)
    stage_residual(C2, I21 / h, I22 / h, I23 / h, view(z, n, n), t, own)
    collect(x2, own)
    stage_residual(C3, I31 / h, I32 / h, I33 / h, view(z, 2 * n, n), t, own)
    collect(x3, own)
    for j in range(n):
        r1, r2, r3 = x1[j], x2[j], x3[j]
        x1[j] = -(B11 * r1 + B12 * r2 + B13 * r3)
        x2[j] = -(B21 * r1 + B22 * r2 + B23 * r3)
        x3[j] = -(B31 * r1 + B32 * r2 + B33 * r3)


def increment(own: Radau) -> float:
    """Solve both systems, add the increments, return their weighted root mean square."""
    n, w, scale, delta, pair = own.n, own.w, own.scale, own.delta, own.pair
    substitute(own.lu, 0, n, own.order, own.right_1, delta, 0)
    substitute_complex(own.re, own.im, n, own.order_complex, own.right_2, own.right_3, pair)
    total = 0.0
    for j in range(n):
        d1, d2, d3 = delta[j], pair[j], pair[n + j]
        total += (d1 * d1 + d2 * d2 + d3 * d3) / (scale[j] * scale[j])
        w[j] += d1
        w[n + j] += d2
        w[2 * n + j] += d3
    return (total / (3 * n)) ** 0.5


def newton(t: float, own: Radau) -> int:
    """Iterate from Z until rate/(1 - rate) * increment is below the tolerance; advice in `shorten`."""
    grown = own.first or abs(own.h) > LONGER * abs(own.h_old)
    own.convergence = 1.0 if grown else max(own.convergence, EPS) ** 0.8
    own.theta, own.shorten = 1e-3, 0.5
    last, last_ratio, most = 1.0, 1.0, own.most_iterations
    for k in range(1, most + 1):
        residuals(t, own)
        size = increment(own)
        own.nit += 1
        own.iterations = k
        if not size < 1e300:
            return NONFINITE
        leave_basis(own)
        if k > 1 and k < most:
            ratio = size / last
            own.theta = ratio if k == 2 else (ratio * last_ratio) ** 0.5
            last_ratio = ratio
            if ratio > 0.3 and size * own.rtol <= STALLED:
                return OK
            if not converging(k, size, own):
                return NO_CONVERGENCE
        last = max(size, EPS)
        if own.convergence * size <= own.newton_tolerance:
            return OK
    return NO_CONVERGENCE


def converging(k: int, size: float, own: Radau) -> bool:
    """Tell whether the iterations left are enough, from the second one on.

    Increments may grow at first: errors go from positions to velocities to multipliers.
    """
    if not own.theta < DIVERGENT:
        own.convergence = INFINITE
        return k <= PATIENCE and own.theta < HOPELESS
    own.convergence = own.theta / (1.0 - own.theta)
    left = own.most_iterations - 1 - k
    expected = own.convergence * size * own.theta ** float(left) / own.newton_tolerance
    if expected >= 1.0 and k > PATIENCE:
        own.shorten = 0.8 * min(max(expected, 1e-4), 20.0) ** (-1.0 / (4.0 + left))
        return False
    return True
