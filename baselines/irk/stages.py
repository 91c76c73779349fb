"""Constant steps of an implicit Runge-Kutta method on F(t, z, z') = 0, compiled.

Stage derivatives by simplified Newton to rounding.

Unknowns are the derivatives K at the stages: F(t + c_i h, z + h sum a_ij K_j, K_i) = 0, then z + h sum b_i
K_i. If the first stage is explicit, its K is the last one of the step before (such methods are stiffly
accurate), and A without its first row and column is used.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import jacobian_at, residual_at
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, view
from herk.linalg.dense import factor, substitute

DONE, NO_NEWTON, SINGULAR, NOT_FINITE = 0, 1, 2, 3  # what `advance` returns
# more than many iterations: the factors are renewed for the next step, chosen by counting operations
MOST_ITERATIONS, MANY_ITERATIONS = 50, 5
# relative: corrections that need no successor; corrections that may be rounding if they do not shrink
ROUNDING, NOISE = 1e-16, 1e-10


class Constant(State):
    """A run with constant steps; matrices by rows."""

    n: int
    s: int  # stages
    first: int  # stage that is not known before
    at_residual: int
    at_jacobian: int
    nfev: int
    njev: int
    nlu: int
    nit: int
    nstep: int
    stale: int  # the factors must be renewed before they are used
    t0: float
    h: float
    z: Floats
    a: Floats  # A
    b: Floats
    c: Floats
    ahead: Floats  # carries stage derivatives on to the next step
    u: Floats  # values of the stages
    k: Floats  # their derivatives
    level: Wholes  # index of each unknown, less one
    sizes: Floats  # of unknowns, by level
    powers: Floats  # of |h|
    slope: Floats  # F_z
    both: Floats  # F_z' + F_z
    lu: Floats
    scale: Floats
    order: Wholes
    right: Floats
    change: Floats
    parameters: Floats
    points: Floats  # of the steps made, by rows; these two live elsewhere
    stages: Floats  # their K, for dense output


def allocate(n: int, s: int, first: int, levels: int, parameters: int) -> Constant:
    """Return the state of a run, all zero."""
    size = (s - first) * n
    sizes = {"z": n, "a": s * s, "b": s, "c": s, "ahead": s * s, "u": s * n, "k": s * n, "level": n}
    sizes |= {
        "sizes": levels,
        "powers": levels + 1,
        "slope": n * n,
        "both": n * n,
        "lu": size * size,
        "parameters": parameters,
    }
    own = Constant(**sizes, **dict.fromkeys(("scale", "order", "right", "change"), size))
    own.n, own.s, own.first, own.stale = n, s, first, 1
    return own


def stage_values(own: Constant) -> None:
    """Set U = z + h A K for the stages that are not known."""
    n, s, a, u, k = own.n, own.s, own.a, own.u, own.k
    for i in range(own.first, s):
        for j in range(n):
            total = 0.0
            for m in range(s):
                total += a[i * s + m] * k[m * n + j]
            u[i * n + j] = own.z[j] + own.h * total


def block_row(i: int, r: int, own: Constant) -> bool:
    """Write a row of delta_ij F_z' + h a_ij F_z, scaled; tell whether it is finite."""
    n, s, first, h, lu, slope = own.n, own.s, own.first, own.h, own.lu, own.slope
    size = (s - first) * n
    row, largest = (i - first) * n + r, 0.0
    for j in range(first, s):
        for k in range(n):
            value = h * own.a[i * s + j] * slope[r * n + k]
            if i == j:
                value += own.both[r * n + k] - slope[r * n + k]
            lu[row * size + (j - first) * n + k] = value
            if not abs(value) < 1e300:
                return False
            largest = max(largest, abs(value))
    own.scale[row] = 1.0 / largest if largest > 0.0 else 1.0
    for k in range(size):
        lu[row * size + k] *= own.scale[row]
    return True


def renew(t: float, own: Constant) -> float:
    """Factor the Newton matrix; return the smallest pivot, -1 if it is not finite."""
    n, s, first, par = own.n, own.s, own.first, own.parameters
    for i in range(first, s):
        time, u, k = t + own.c[i] * own.h, view(own.u, i * n, n), view(own.k, i * n, n)
        jacobian_at(own.at_jacobian)(time, u, k, 0.0, par, own.slope)
        jacobian_at(own.at_jacobian)(time, u, k, 1.0, par, own.both)
        for r in range(n):
            if not block_row(i, r, own):
                return -1.0
    own.njev += s - first
    own.nlu += 1
    return factor(own.lu, 0, (s - first) * n, own.order)


def residuals(t: float, own: Constant) -> None:
    """Write F of the stages, scaled, and note the sizes of the unknowns."""
    n, s, first, level, sizes = own.n, own.s, own.first, own.level, own.sizes
    for i in range(first, s):
        time, u, k = t + own.c[i] * own.h, view(own.u, i * n, n), view(own.k, i * n, n)
        residual_at(own.at_residual)(time, u, k, own.parameters, view(own.right, (i - first) * n, n))
        for j in range(n):
            sizes[level[j]] = max(sizes[level[j]], abs(u[j]) * own.powers[level[j]])
    for m in range(1, sizes.size):
        sizes[m] = max(sizes[m], sizes[m - 1])
    for r in range((s - first) * n):
        own.right[r] *= own.scale[r]


def correct(t: float, own: Constant) -> float:
    """Improve K by one correction.

    Return the change of the stage values relative to what rounding leaves of them.

    Unknowns of index k carry the rounding errors of those of lower index, magnified by 1/h for each
    difference: sizes and changes are compared after multiplication by h^(k-1), and a size is at least that of
    the lower ones.
    """
    n, s, first, level = own.n, own.s, own.first, own.level
    residuals(t, own)
    substitute(own.lu, 0, (s - first) * n, own.order, own.right, own.change, 0)
    largest = 0.0
    for i in range(first, s):
        for j in range(n):
            own.k[i * n + j] -= own.change[(i - first) * n + j]
            moved = abs(own.change[(i - first) * n + j]) * own.powers[level[j] + 1]
            if not moved <= 1e300:
                return 1e300
            if moved > 0.0:
                largest = max(largest, moved / max(own.sizes[level[j]], 1e-300))
    own.nfev += s - first
    own.nit += 1
    return largest


def solve_stages(t: float, own: Constant) -> int:
    """Iterate from the K given until corrections are rounding."""
    before, tries = 1e300, 0
    for iteration in range(MOST_ITERATIONS):
        stage_values(own)
        if own.stale:
            pivot = renew(t, own)
            if pivot <= 0.0:
                return SINGULAR if pivot == 0.0 else NOT_FINITE
            own.stale = 0
            tries += 1
        size = correct(t, own)
        if size >= 1e300:
            return NOT_FINITE
        rate = size / before if iteration > 0 else 0.5
        if (
            size <= ROUNDING
            or (rate < 0.5 and size * rate / (1.0 - rate) <= ROUNDING)
            or (rate > 0.5 and size <= NOISE)
        ):
            own.stale = iteration >= MANY_ITERATIONS
            return DONE
        if rate > 0.5 and tries < 8:
            own.stale = 1
        before = size
    return NO_NEWTON


def predict(own: Constant) -> None:
    """Carry the polynomial through the stage derivatives on to the next step; U is free memory."""
    n, s, first, k, u = own.n, own.s, own.first, own.k, own.u
    for i in range(s):
        for j in range(n):
            total = 0.0
            for m in range(first, s):
                total += own.ahead[i * s + m] * k[m * n + j]
            u[i * n + j] = total
    for i in range(s):
        for j in range(n):
            k[i * n + j] = k[(s - 1) * n + j] if i < first else u[i * n + j]


def step(t: float, own: Constant) -> int:
    """Solve the stages, once more from stage values equal to the old one if that was extrapolated too far."""
    code = solve_stages(t, own)
    if code != DONE:
        for i in range(own.first * own.n, own.s * own.n):
            own.k[i] = 0.0
        own.stale = 1
        code = solve_stages(t, own)
    return code


def advance(own: Constant, count: int) -> int:
    """Make as many steps; t = t0 + nstep h. Return what ended them."""
    n, s, z, k = own.n, own.s, own.z, own.k
    for row in range(count):
        if own.nstep > 0:
            predict(own)
        code = step(own.t0 + own.nstep * own.h, own)
        if code != DONE:
            return code
        for j in range(n):
            total = 0.0
            for i in range(s):
                total += own.b[i] * k[i * n + j]
                own.stages[(row * s + i) * n + j] = k[i * n + j]
            z[j] += own.h * total
            own.points[row * n + j] = z[j]
        own.nstep += 1
    return DONE


PROGRAM = Program(advance)
