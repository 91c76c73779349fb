"""Constant steps of an implicit Runge-Kutta method on F(t, z, z') = 0, compiled.

Stage derivatives by simplified Newton to rounding.

Unknowns are the derivatives K at the stages: F(t + c_i h, z + h sum a_ij K_j, K_i) = 0, then z + h sum b_i
K_i. If the first stage is explicit, its K is the last one of the step before (such methods are stiffly
accurate), and A without its first row and column is used.
"""

from __future__ import annotations

from herk.jit.compiled import compiled
from herk.jit.pointers import at
from herk.linalg.for_numba import factor, substitute

RESIDUAL = "void(float64, float64[::1], float64[::1], float64[::1])"  # residual(t, z, zp, out)
JACOBIAN = (
    "void(float64, float64[::1], float64[::1], float64, float64[::1])"  # jacobian(t, z, zp, cj, out), by rows
)

residual_at = at(RESIDUAL)
jacobian_at = at(JACOBIAN)

DONE, NO_NEWTON, SINGULAR, NOT_FINITE = 0, 1, 2, 3  # what `advance` returns
NFEV, NJEV, NLU, NIT, STALE, NSTEP = range(
    6
)  # places in `counts`; STALE: the factors must be renewed before they are used
MOST_ITERATIONS, MANY_ITERATIONS = (
    50,
    5,
)  # more than many: the factors are renewed for the next step, chosen by counting operations
ROUNDING, NOISE = (
    1e-16,
    1e-10,
)  # relative: corrections that need no successor; corrections that may be rounding if they do not shrink


@compiled()
def stage_values(z, A, K, U, h, first):  # type: ignore[no-untyped-def]
    """Set U = z + h A K for the stages from `first` on."""
    for i in range(first, K.shape[0]):
        for j in range(z.shape[0]):
            total = 0.0
            for k in range(K.shape[0]):
                total += A[i, k] * K[k, j]
            U[i, j] = z[j] + h * total


@compiled()
def renew(address, t, h, first, A, c, U, K, lu, scale, order, work, counts):  # type: ignore[no-untyped-def]
    """Factor the Newton matrix, blocks delta_ij F_z' + h a_ij F_z, rows scaled.

    Return the smallest pivot, -1 if it is not finite.
    """
    jacobian = jacobian_at(address)
    s, n = U.shape
    size = (s - first) * n
    slope = work[: n * n]
    both = work[n * n : 2 * n * n]
    for i in range(first, s):
        jacobian(t + c[i] * h, U[i], K[i], 0.0, slope)
        jacobian(t + c[i] * h, U[i], K[i], 1.0, both)
        for r in range(n):
            row = (i - first) * n + r
            largest = 0.0
            for j in range(first, s):
                for k in range(n):
                    value = h * A[i, j] * slope[r * n + k]
                    if i == j:
                        value += both[r * n + k] - slope[r * n + k]
                    lu[row * size + (j - first) * n + k] = value
                    if not abs(value) < 1e300:
                        return -1.0
                    largest = max(largest, abs(value))
            scale[row] = 1.0 / largest if largest > 0.0 else 1.0
            for k in range(size):
                lu[row * size + k] *= scale[row]
    counts[NJEV] += s - first
    counts[NLU] += 1
    return factor(lu, 0, size, order)


@compiled()
def correct(address, t, h, first, c, U, K, level, sizes, lu, scale, order, work, counts):  # type: ignore[no-untyped-def]
    """Improve K by one correction.

    Return the change of the stage values relative to what rounding leaves of them.

    Unknowns of index k carry the rounding errors of those of lower index, magnified by 1/h for each
    difference: sizes and changes are compared after multiplication by h^(k-1), and a size is at least that of
    the lower ones. `level` is k-1.
    """
    residual = residual_at(address)
    s, n = U.shape
    size = (s - first) * n
    right = work[:size]
    change = work[size : 2 * size]
    for i in range(first, s):
        residual(t + c[i] * h, U[i], K[i], right[(i - first) * n : (i - first + 1) * n])
        for j in range(n):
            sizes[level[j]] = max(sizes[level[j]], abs(U[i, j]) * abs(h) ** level[j])
    for k in range(1, sizes.shape[0]):
        sizes[k] = max(sizes[k], sizes[k - 1])
    for r in range(size):
        right[r] *= scale[r]
    substitute(lu, 0, size, order, right, change, 0)
    largest = 0.0
    for i in range(first, s):
        for j in range(n):
            d = change[(i - first) * n + j]
            K[i, j] -= d
            d = abs(d) * abs(h) ** (level[j] + 1)
            if not d <= 1e300:
                return 1e300
            if d > 0.0:
                largest = max(largest, d / max(sizes[level[j]], 1e-300))
    counts[NFEV] += s - first
    counts[NIT] += 1
    return largest


@compiled()
def solve_stages(where, t, h, z, A, c, first, U, K, level, sizes, lu, scale, order, work, counts):  # type: ignore[no-untyped-def]
    """Iterate from the K given until corrections are rounding."""
    before = 1e300
    tries = 0
    for iteration in range(MOST_ITERATIONS):
        stage_values(z, A, K, U, h, first)
        if counts[STALE]:
            pivot = renew(where[1], t, h, first, A, c, U, K, lu, scale, order, work, counts)
            if pivot <= 0.0:
                return SINGULAR if pivot == 0.0 else NOT_FINITE
            counts[STALE] = 0
            tries += 1
        size = correct(where[0], t, h, first, c, U, K, level, sizes, lu, scale, order, work, counts)
        if size >= 1e300:
            return NOT_FINITE
        rate = size / before if iteration > 0 else 0.5
        if (
            size <= ROUNDING
            or (rate < 0.5 and size * rate / (1.0 - rate) <= ROUNDING)
            or (rate > 0.5 and size <= NOISE)
        ):
            counts[STALE] = iteration >= MANY_ITERATIONS
            return DONE
        if rate > 0.5 and tries < 8:
            counts[STALE] = 1
        before = size
    return NO_NEWTON


@compiled()
def predict(ahead, first, K, U):  # type: ignore[no-untyped-def]
    """Carry the polynomial through the stage derivatives on to the next step; U is free memory."""
    s, n = K.shape
    for i in range(s):
        for j in range(n):
            total = 0.0
            for k in range(first, s):
                total += ahead[i, k] * K[k, j]
            U[i, j] = total
    for i in range(s):
        for j in range(n):
            if i < first:
                K[i, j] = K[s - 1, j]
            else:
                K[i, j] = U[i, j]


@compiled()
def advance(  # type: ignore[no-untyped-def]
    where, t0, h, z, A, b, c, ahead, first, U, K, level, sizes, lu, scale, order, work, counts, points, stages
):
    """Make as many steps as `points` has rows; t = t0 + NSTEP h. `stages` keeps K for dense output.

    Return what ended it.
    """
    s, n = K.shape
    for row in range(points.shape[0]):
        if counts[NSTEP] > 0:
            predict(ahead, first, K, U)
        t = t0 + counts[NSTEP] * h
        code = solve_stages(where, t, h, z, A, c, first, U, K, level, sizes, lu, scale, order, work, counts)
        if code != DONE:  # extrapolated too far: once more from stage values equal to the old one
            for i in range(first, s):
                for j in range(n):
                    K[i, j] = 0.0
            counts[STALE] = 1
            code = solve_stages(
                where, t, h, z, A, c, first, U, K, level, sizes, lu, scale, order, work, counts
            )
        if code != DONE:
            return code
        for j in range(n):
            total = 0.0
            for i in range(s):
                total += b[i] * K[i, j]
                stages[row, i, j] = K[i, j]
            z[j] += h * total
            points[row, j] = z[j]
        counts[NSTEP] += 1
    return DONE
