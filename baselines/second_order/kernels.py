"""All compiled code of the methods for second-order systems.

Newton's iteration on stages, general linear steps, BDF weights and steps.

Every method expresses the unknowns z of F(t, z, z') = 0 by stage unknowns K: slot j of z or z' in stage i is
base[i, ., j] + sum over l of coefficients[d, i, l] K[l, source[j]], with d the order of the derivative that
the slot stands for.
"""

from __future__ import annotations

import numpy as np

from herk.jit.compiled import compiled
from herk.jit.pointers import at
from herk.linalg.for_numba import solve_block

RESIDUAL = "void(float64, float64[::1], float64[::1], float64[::1])"  # residual(t, z, zp, out)
JACOBIAN = "void(float64, float64[::1], float64[::1], float64, float64[::1])"  # jacobian(t, z, zp, cj, out)
residual_at, jacobian_at = at(RESIDUAL), at(JACOBIAN)

MOST = 12  # Newton iterations
WILD = 1e4  # weights of (13) beyond this come from a system that is nearly singular; 2 to 50 are usual
SINGULAR, DIVERGED, UNDERFLOW = -1, -2, -3


@compiled(_nrt=True)
def solve_scaled(work, size):  # type: ignore[no-untyped-def]
    """Solve as `solve_block` does, rows scaled first.

    Constraints come with a factor h^2 that must not decide over pivots.
    """
    for r in range(size):
        row = work[r * size : (r + 1) * size]
        largest = np.abs(row).max()
        if largest > 0.0:
            row /= largest
            work[size * size + r] /= largest
    return abs(solve_block(work, size))  # its sign is that of the determinant


@compiled()
def place(coefficients, base, source, derivative, K, Z):  # type: ignore[no-untyped-def]
    """Compute z and z' of all stages."""
    for i in range(Z.shape[0]):
        for side in range(2):
            for j in range(Z.shape[2]):
                value = base[i, side, j]
                if derivative[side, j] >= 0:
                    for k in range(K.shape[0]):
                        value += coefficients[derivative[side, j], i, k] * K[k, source[side, j]]
                Z[i, side, j] = value


@compiled(_nrt=True)
def linearise(functions, t, coefficients, system, Z, work):  # type: ignore[no-untyped-def]
    """Write the Newton matrix of all stages and the residual behind it into work, rows not used left out."""
    source, derivative, rows, _ = system
    residual, jacobian = residual_at(functions[0]), jacobian_at(functions[1])
    s, n, m = Z.shape[0], Z.shape[2], rows.shape[0]
    size, out, inner, outer = s * m, np.empty(n), np.empty(n * n), np.empty(n * n)
    work[:] = 0.0
    for i in range(s):
        residual(t[i], Z[i, 0], Z[i, 1], out)
        jacobian(t[i], Z[i, 0], Z[i, 1], 0.0, inner)
        jacobian(t[i], Z[i, 0], Z[i, 1], 1.0, outer)
        for r in range(m):
            row = (i * m + r) * size
            work[size * size + i * m + r] = out[rows[r]]
            for side in range(2):
                for j in range(n):
                    at = rows[r] * n + j
                    entry = inner[at] if side == 0 else outer[at] - inner[at]
                    if entry != 0.0 and derivative[side, j] >= 0:
                        for k in range(s):
                            work[row + k * m + source[side, j]] += (
                                entry * coefficients[derivative[side, j], i, k]
                            )


@compiled(_nrt=True)
def solve_stages(functions, t, h, coefficients, base, system, limit, K, Z):  # type: ignore[no-untyped-def]
    """Solve F = 0 in all stages by Newton's method from K on; return the iterations, or what went wrong.

    The last correction, unknowns of level k weighed by h^(k-1), is at most `limit`; convergence is quadratic,
    what is left is rounding.
    """
    source, derivative, rows, levels = system
    s, n, m = Z.shape[0], Z.shape[2], rows.shape[0]
    size, work = s * m, np.empty((s * m + 1) * s * m)
    for iteration in range(MOST):
        place(coefficients, base, source, derivative, K, Z)
        linearise(functions, t, coefficients, system, Z, work)
        if solve_scaled(work, size) == 0.0:
            return SINGULAR
        change = 0.0
        for i in range(s):
            for j in range(n):
                moved = 0.0
                for k in range(s):
                    moved += coefficients[derivative[0, j], i, k] * work[size * size + k * m + source[0, j]]
                change = max(change, abs(moved) / (1.0 + abs(Z[i, 0, j])) * abs(h) ** (levels[j] - 1))
        K -= work[size * size :].reshape((s, m))
        if not change < 1e10:
            return DIVERGED
        if change <= limit:
            place(coefficients, base, source, derivative, K, Z)
            return iteration + 1
    return DIVERGED


@compiled(_nrt=True)
def advance(functions, system, method, powers, grid, before, limit, x, K, points, counts):  # type: ignore[no-untyped-def]
    """Step a general linear method along the grid, (60) with its first-order twin; return the steps made.

    x holds the quantities passed from step to step, row r scaled by h^r with h = `before`, the step before.
    """
    c, A, U, B, V = method
    source, derivative, _, _ = system
    q, s, n = A.shape[0] - 1, c.shape[0], points.shape[1]
    base, Z, coefficients = np.zeros((s, 2, n)), np.empty((s, 2, n)), np.empty(A.shape)
    for step in range(len(grid) - 1):
        h = grid[step + 1] - grid[step]
        for r in range(x.shape[0]):
            x[r] *= (h / before) ** powers[r]  # D(d) of (58)
        before = h
        for d in range(q + 1):
            coefficients[d] = A[d] * h ** (q - d)
        for i in range(s):
            for side in range(2):
                for j in range(n):
                    base[i, side, j] = 0.0
                    d = derivative[side, j]
                    if d >= 0:
                        for r in range(x.shape[0]):
                            base[i, side, j] += U[d, i, r] * x[r, source[side, j]] / h**d
        made = solve_stages(functions, grid[step] + c * h, h, coefficients, base, system, limit, K, Z)
        counts[0] += s * (made if made > 0 else MOST)
        if made < 0:
            counts[1] = made
            return step
        x[:] = V @ x + h**q * (B @ K)
        for j in range(n):
            points[step, j] = x[derivative[0, j], source[0, j]] / h ** derivative[0, j]
    return len(grid) - 1


@compiled()
def derivative_weights(t, first, k, weights):  # type: ignore[no-untyped-def]
    """Write the weights of (12): the derivative at t[first] of the polynomial through t[first], ....

    T[first + k].
    """
    weights[0] = 0.0
    for i in range(1, k + 1):
        value = 1.0 / (t[first + i] - t[first])
        for m in range(1, k + 1):
            if m != i:
                value *= (t[first] - t[first + m]) / (t[first + i] - t[first + m])
        weights[i] = value
        weights[0] += 1.0 / (t[first] - t[first + i])


@compiled(_nrt=True)
def modified_weights(t, weights, orders, k, beta):  # type: ignore[no-untyped-def]
    """Write the weights of (13) from (17), times counted in steps.

    Exact for t, t^2, ..., t^(k+1), whatever made earlier derivatives.

    orders[j], weights[j] belong to the derivative at t[j]; order 0 marks an exact one. False: the system is
    nearly singular, which happens.
    """
    h, size = t[0] - t[1], k + 1
    work = np.zeros(size * size + size)
    for power in range(1, size + 1):
        for j in range(size):
            value = 0.0
            if orders[j] == 0:
                value = power * ((t[j] - t[0]) / h) ** (power - 1)
            for i in range(orders[j] + 1 if orders[j] > 0 else 0):
                value += weights[j, i] * h * ((t[j + i] - t[0]) / h) ** power
            work[(power - 1) * size + j] = value
    work[size * size + 1] = 2.0
    solved = solve_scaled(work, size) > 0.0 and np.abs(work[size * size :]).max() < WILD
    beta[:size] = work[size * size :] / h
    return solved


@compiled(_nrt=True)
def bdf_step(functions, system, history, k, q, modified, limit, K, Z):  # type: ignore[no-untyped-def]
    """Make the step to t[0] with order k, (15) or its first-order twin.

    Return the Newton iterations, or what went wrong.
    """
    t, P, V, weights, orders = history
    source, derivative, _, _ = system
    n, first, second = Z.shape[2], np.zeros(P.shape[1]), np.zeros(P.shape[1])
    orders[0] = k
    derivative_weights(t, 0, k, weights[0])
    beta = weights[0].copy()
    if modified and not modified_weights(t, weights, orders, k, beta):
        return SINGULAR
    for i in range(1, k + 1):
        first += weights[0, i] * P[i]
        second += beta[i] * V[i]
    second += beta[0] * first
    coefficients, base = np.ones((q + 1, 1, 1)), np.zeros((1, 2, n))
    coefficients[1] = weights[0, 0]
    coefficients[q] = weights[0, 0] if q == 1 else weights[0, 0] * beta[0]
    for side in range(2):
        for j in range(n):
            if derivative[side, j] > 0:
                base[0, side, j] = (
                    first[source[side, j]] if derivative[side, j] == 1 else second[source[side, j]]
                )
    made = solve_stages(functions, t[:1], t[0] - t[1], coefficients, base, system, limit, K, Z)
    P[0], V[0] = K[0], weights[0, 0] * K[0] + first
    return made


@compiled()
def difference_weights(t, k, weights):  # type: ignore[no-untyped-def]
    """Write weights whose sum with values is DASSL's local error of order k.

    H / (t[0] - t[k+1]) (value - prediction from k + 1 before).
    """
    for i in range(k + 2):
        weights[i] = (t[0] - t[1]) / (t[0] - t[k + 1])
        for m in range(k + 2):
            if m != 0:
                weights[i] *= t[0] - t[m]
            if m != i:
                weights[i] /= t[i] - t[m]


@compiled(_nrt=True)
def error_norm(system, history, k, tolerance):  # type: ignore[no-untyped-def]
    """Return the weighted RMS norm of the error that order k makes in the newest step.

    Atol is negative where it does not count.

    For a first derivative it is the error of (12), which is that of the unknown over h: differences of the
    derivatives themselves would jump with every change of the step.
    """
    t, P, V, _, _ = history
    source, derivative, _, _ = system
    rtol, atol = tolerance
    weights, total, terms = np.empty(k + 2), 0.0, 0
    difference_weights(t, k, weights)
    for j in range(atol.shape[0]):
        if atol[j] >= 0.0:
            error, size, u = 0.0, abs(P[1, source[0, j]]), source[0, j]
            for i in range(k + 2):
                error += weights[i] * P[i, u]
            if derivative[0, j] == 1:
                error, size = error / (t[0] - t[1]), abs(V[1, u])
            total += (error / (rtol * size + atol[j])) ** 2
            terms += 1
    return np.sqrt(total / terms)


@compiled()
def step_factor(error, k):  # type: ignore[no-untyped-def]
    """Return by how much the step may change; the error behaves as h^k because velocities count."""
    return (2.0 * error + 1e-4) ** (-1.0 / k)


@compiled()
def next_order(system, history, most, tolerance, state, error):  # type: ignore[no-untyped-def]
    """Choose order and step after an accepted step by DASSL's rules.

    The order that allows the largest step, doubled or kept.
    """
    k, points, since = state
    best, factor = k, step_factor(error, k)
    if k > 1:
        other = step_factor(error_norm(system, history, k - 1, tolerance), k - 1)
        if other > factor:
            best, factor = k - 1, other
    if since > k and k < most and points >= k + 2:
        other = step_factor(error_norm(system, history, k + 1, tolerance), k + 1)
        if other > factor:
            best, factor = k + 1, other
    factor = 2.0 if factor >= 2.0 else 1.0 if factor >= 1.0 else max(0.5, min(0.9, factor))
    state[0], state[1] = best, min(points + 1, history[0].shape[0] - 1)
    state[2] = since + 1 if best == k and factor == 1.0 else 1
    return factor


@compiled(_nrt=True)
def bdf_run(functions, system, q, modified, limit, history, state, h, end, tolerance, out_t, out_z, counts):  # type: ignore[no-untyped-def]
    """Step with error control until the output is full or the end is reached.

    Return points made, the next step, what went wrong.

    The newest accepted point stands in history[.][1], the first entry is for trials; state: order, points in
    the history, steps since order or step were changed; counts: evaluations, rejected steps.
    """
    t, P, V, weights, orders = history
    most, failures, made = weights.shape[1] - 1, 0, 0
    K, Z, gamma = np.empty((1, P.shape[1])), np.empty((1, 2, out_z.shape[1])), np.empty(most + 2)
    while made < out_t.shape[0] and t[1] != end:
        if abs(h) <= 1e-14 * max(abs(t[1]), abs(end)):
            return made, h, UNDERFLOW
        left = end - t[1]
        h = left if abs(h) > 0.999 * abs(left) else h if abs(h) < 0.5 * abs(left) else 0.5 * left
        t[0], k = t[1] + h if h != left else end, state[0]
        difference_weights(t, k, gamma)
        K[:] = 0.0
        for i in range(1, k + 2):
            K[0] -= gamma[i] / gamma[0] * P[i]
        status = bdf_step(functions, system, history, k, q, modified, limit, K, Z)
        counts[0] += status if status > 0 else MOST
        error = error_norm(system, history, k, tolerance) if status > 0 else 1e10
        if not error <= 1.0:
            failures += 1
            counts[1] += 1
            h *= max(0.25, 0.9 * step_factor(error, k)) if failures == 1 and error < 1e10 else 0.25
            state[0] = k if failures < 3 else 1
            state[2] = 1
            continue
        h *= next_order(system, history, most, tolerance, state, error)
        failures, out_t[made], out_z[made] = 0, t[0], Z[0, 0]
        made += 1
        for i in range(t.shape[0] - 1, 0, -1):
            t[i], orders[i], P[i], V[i], weights[i] = (
                t[i - 1],
                orders[i - 1],
                P[i - 1],
                V[i - 1],
                weights[i - 1],
            )
    return made, h, 0
