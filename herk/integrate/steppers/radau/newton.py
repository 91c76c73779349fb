"""The stage equations: simplified Newton on a real and (s - 1)/2 complex systems (Hairer & Wanner II, IV.8).

The stages Z_i = Y_i - y solve S (E Y_i' - f) = 0, g(t + c_i h, Y_i) = 0, Y_i' = (1/h) sum_j (A^-1)_ij Z_j.
In the basis T that makes A^-1 block diagonal, the Newton matrix falls apart into gamma/h M + J and (alpha + i
beta)/h M + J, M = [S E; 0], J = [S (E y' - f)_y; g_y], which are regular for short steps since [S E; g_y] is.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.branches import same_branch
from herk.integrate.steppers.radau.equations import constraint_jacobian, everything, linearise
from herk.integrate.steppers.radau.layout import (
    BRANCH,
    ENTRIES,
    EPS,
    NO_CONVERGENCE,
    NONFINITE,
    OK,
    SINGULAR,
    Radau,
    function_at,
)
from herk.integrate.steppers.radau.on_patterns import put_constraints, select_on_patterns
from herk.integrate.steppers.radau.polynomial import weight
from herk.integrate.steppers.radau.selecting import select
from herk.integrate.steppers.radau.systems import decompose, solve_complex_pair, solve_real, up_to_date
from herk.integrate.steps import INFINITE
from herk.jit.state import Floats, view

# A rate of convergence found with a step this much shorter is forgotten: one iteration after a tiny first
# step may leave constraints so far from zero that no later step is short enough for the error estimate.
LONGER = 2.0
AHEAD = 0.5  # part of a step after which g_y is evaluated: constraints that turn are what Newton is slow for
DIVERGENT, HOPELESS = 0.99, 10.0  # rates of convergence that end the iteration, the first one
PATIENCE = 2  # after more iterations than this
UNMOVED = 10.0  # times what Newton leaves, still a small part of the tolerance
STALLED = 1e-11  # relative increments that do not shrink any more are rounding,
IN_THE_BASIS = 5e-13  # or larger ones, by what the change of basis makes of it


def renew_jacobian(t: float, own: Radau) -> int:
    """Evaluate the derivatives at the current point, look at the selection, collect the rows of M and J."""
    own.ahead = 1 if own.m > 0 and (own.middle or not (own.first or own.careful)) else 0
    linearise(t, own)
    if own.ahead:
        halfway(own)
        constraint_jacobian(t + AHEAD * own.h, own.stage, own)
    own.factors_valid = 0
    own.jacobian_valid = 0
    status = collect_matrices(own)
    if status != OK:
        return status
    own.fresh = 1
    if not same_branch(own):
        return BRANCH
    own.jacobian_valid = 1
    return OK


def collect_matrices(own: Radau) -> int:
    """Choose rows, and write those of M and J."""
    n, d, mass, jacobian = own.n, own.d, own.mass, own.jacobian
    if own.sparse:
        put_constraints(own)
        return select_on_patterns(own)
    if not select(own):
        return SINGULAR
    for k in range(d):
        row = own.rows[k] * n
        for j in range(n):
            mass[k * n + j] = own.e_here[row + j]
            jacobian[k * n + j] = own.whole[row + j]
    for k in range(own.m * n):
        jacobian[d * n + k] = own.g_y[k]
        mass[d * n + k] = 0.0
    return OK


def halfway(own: Radau) -> None:
    """Continue the collocation polynomial of the last step into this one, or the chord of a known step."""
    if own.middle:
        for j in range(own.n):
            own.stage[j] = own.y[j] + AHEAD * own.rate[j]
        return
    continuation(1.0 + AHEAD * own.h / own.h_old, 0, own)
    mixed(own.lift, 0, own.old, own.stage, 1.0, own)
    for j in range(own.n):
        own.stage[j] += own.y[j]


def continuation(x: float, i: int, own: Radau) -> None:
    """Write as row i of `lift` what the polynomial of the last step, minus its end, is at x in its stages."""
    s, row = own.s, view(own.lift, i * own.s, own.s)
    for k in range(s):
        row[k] = weight(x, k, own)
    row[s - 1] -= 1.0


def factored(t: float, own: Radau) -> int:
    """Bring Jacobian and factors up to date for the step at work."""
    if not own.jacobian_valid:
        status = renew_jacobian(t, own)
        if status != OK:
            return status
    return OK if up_to_date(own) else decompose(own)


def predict(own: Radau) -> None:
    """Start from the collocation polynomial of the last step, continued; the first step has none."""
    n, s, z, nodes = own.n, own.s, own.z, own.nodes
    if own.first:
        h = own.h if own.tangent else 0.0
        for i in range(s):
            for j in range(n):
                z[i * n + j] = nodes[i] * h * own.slope[j]
    else:
        for i in range(s):
            continuation(1.0 + nodes[i] * own.h / own.h_old, i, own)
        combine(own.lift, own.old, z, 1.0, own)
    combine(own.back, z, own.w, 1.0, own)


def mixed(a: Floats, place: int, x: Floats, out: Floats, factor: float, own: Radau) -> None:
    """Write factor * (a[place] x_1 + a[place + 1] x_2 + ..), x_i the rows of x."""
    n, s = own.n, own.s
    if s == 3:
        a1, a2, a3 = factor * a[place], factor * a[place + 1], factor * a[place + 2]
        for j in range(n):
            out[j] = a1 * x[j] + a2 * x[n + j] + a3 * x[2 * n + j]
        return
    for j in range(n):
        out[j] = 0.0
    for k in range(s):
        part = factor * a[place + k]
        for j in range(n):
            out[j] += part * x[k * n + j]


def combine(a: Floats, x: Floats, out: Floats, factor: float, own: Radau) -> None:
    """Write factor * a x, a acting on the stages, which are rows of x."""
    n, s = own.n, own.s
    if s == 3:
        a1, a2, a3 = factor * a[0], factor * a[1], factor * a[2]
        b1, b2, b3 = factor * a[3], factor * a[4], factor * a[5]
        c1, c2, c3 = factor * a[6], factor * a[7], factor * a[8]
        for j in range(n):
            x1, x2, x3 = x[j], x[n + j], x[2 * n + j]
            out[j] = a1 * x1 + a2 * x2 + a3 * x3
            out[n + j] = b1 * x1 + b2 * x2 + b3 * x3
            out[2 * n + j] = c1 * x1 + c2 * x2 + c3 * x3
        return
    for i in range(s):
        mixed(a, i * s, x, view(out, i * n, n), factor, own)


def stage_residual(i: int, t: float, own: Radau) -> None:
    """Write the residual of a stage into its row of `sides`."""
    n, y, stage, z = own.n, own.y, own.stage, view(own.z, i * own.n, own.n)
    for j in range(n):
        stage[j] = y[j] + z[j]
    own.stage_t = t + own.nodes[i] * own.h
    everything(own.stage_t, stage, view(own.rates, i * n, n), own)
    collect(view(own.sides, i * n, n), own)


def collect(out: Floats, own: Radau) -> None:
    """Write the residuals of the selected rows, then of the constraints, in the units of the factors."""
    n, d, full, rows, leveled = own.n, own.d, own.full, own.rows, own.leveled
    for k in range(d):
        out[k] = leveled[k] * full[rows[k]]
    for k in range(own.m):
        out[d + k] = leveled[d + k] * full[n + k]


def residuals(t: float, own: Radau) -> None:
    """Write minus the residuals of the stages, in the new basis."""
    combine(own.inverse, own.z, own.rates, 1.0 / own.h, own)
    for i in range(own.s):
        stage_residual(i, t, own)
    combine(own.back, own.sides, own.turned, -1.0, own)


def weigh(own: Radau) -> None:
    """Set the weights of the norm at the current point."""
    for j in range(own.n):
        own.scale[j] = own.atol[j] + own.rtol * abs(own.y[j])
        own.per[j] = 1.0 / own.scale[j]


def increment(own: Radau) -> float:
    """Solve all systems, add the increments, return their weighted root mean square."""
    n, w, per, delta, pair = own.n, own.w, own.per, own.delta, own.pair
    solve_real(own.turned, delta, own)
    total = 0.0
    for j in range(n):
        part = delta[j] * per[j]
        total += part * part
        w[j] += delta[j]
    for k in range(own.s // 2):
        first, second = view(own.turned, (2 * k + 1) * n, n), view(own.turned, (2 * k + 2) * n, n)
        solve_complex_pair(k, first, second, own)
        rows = view(w, (2 * k + 1) * n, 2 * n)
        for j in range(n):
            a, b = pair[j] * per[j], pair[n + j] * per[j]
            total += a * a + b * b
            rows[j] += pair[j]
            rows[n + j] += pair[n + j]
    return (total / (own.s * n)) ** 0.5


def newton(t: float, own: Radau) -> int:
    """Iterate from Z until rate/(1 - rate) * increment is below the tolerance; advice in `shorten`.

    A first increment is judged by what first increments were worth before: errors that go from velocities to
    multipliers are seen in the second one, however quickly the later ones shrink.
    """
    grown = own.first or abs(own.h) > LONGER * abs(own.h_old)
    own.convergence = 1.0 if grown else max(own.convergence, own.opening, own.believed) ** 0.8
    own.theta, own.shorten = 1e-3, 0.5
    last, last_ratio, most = 1.0, 1.0, own.most_iterations
    for k in range(1, most + 1):
        residuals(t, own)
        size = increment(own)
        own.nit += 1
        own.iterations = k
        if not size < 1e300:
            return NONFINITE
        combine(own.basis, own.w, own.z, 1.0, own)
        if k > 1 and k < most:
            ratio = size / last
            own.theta = ratio if k == 2 else (ratio * last_ratio) ** 0.5
            last_ratio = ratio
            if k == 2:
                own.opening = ratio / (1.0 - ratio) if ratio < 0.5 else 1.0
            if ratio > 0.3 and size * own.rtol <= max(STALLED, IN_THE_BASIS * own.noise):
                own.increment = 0.0
                return OK
            if not converging(k, size, own):
                return NO_CONVERGENCE
        last, own.increment = max(size, EPS), size
        if own.convergence * size <= own.newton_tolerance:
            return OK
    return NO_CONVERGENCE


def unmoved(t: float, own: Radau) -> bool:
    """Tell whether rows of E weigh so little at the new point that Newton hardly moved what they determine.

    Increments are too small by the same factor, and were taken for convergence.
    """
    if own.sparse or not own.have_e:
        return False
    n, here, most = own.n, own.stacked, 1.0
    function_at(own.at_e)(t, own.new, own.parameters, view(here, 0, n * n))
    for k in range(own.d):
        before, now, row = 0.0, 0.0, own.rows[k] * n
        for j in range(n):
            before = max(before, abs(own.mass[k * n + j]) * own.scale[j])
            now = max(now, abs(here[row + j]) * own.scale[j])
        if now * most < before:
            most = before / now if now > 0.0 else INFINITE
    return own.increment * (most - 1.0) > UNMOVED * own.newton_tolerance


def entries_missing(own: Radau) -> bool:
    """Tell whether Newton may fail since a pattern that was found by trying lacks entries; ask for them."""
    own.misses += own.tried
    if own.tried == 0 or own.misses < own.forgiven:
        return False
    own.asked = ENTRIES
    return True


def converging(k: int, size: float, own: Radau) -> bool:
    """Tell whether the iterations left are enough, from the second one on.

    Increments may grow at first: errors go from positions to velocities to multipliers.
    """
    if not own.theta < DIVERGENT:
        own.convergence = INFINITE
        return k <= PATIENCE and own.theta < HOPELESS
    own.convergence = own.theta / (1.0 - own.theta)
    left = own.most_iterations - 1 - k
    expected = own.convergence * size / own.newton_tolerance
    for _ in range(left):
        expected *= own.theta
    if expected >= 1.0 and k > PATIENCE:
        own.shorten = 0.8 * min(max(expected, 1e-4), 20.0) ** (-1.0 / (4.0 + left))
        return False
    return True
