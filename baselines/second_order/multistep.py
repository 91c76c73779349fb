"""BDF for second-order systems, compiled: weights, one step, steps with error control by DASSL's rules."""

from __future__ import annotations

from baselines.second_order.stages import MOST, SINGULAR, UNDERFLOW, Stages, solve_scaled, solve_stages
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, view

WILD = 1e4  # weights of (13) beyond this come from a system that is nearly singular; 2 to 50 are usual


class Multistep(State):
    """The past of BDF, newest first, and where a run stands; the first entry is for trials."""

    stages: int  # where the state of its stage stands
    q: int
    modified: int
    depth: int
    most: int  # highest order
    order: int
    known: int  # points in the past
    since: int  # steps since order or step were changed
    made: int  # points of this chunk
    nfev: int
    nreject: int
    h: float
    end: float
    rtol: float
    t: Floats
    p: Floats  # unknowns, by rows
    v: Floats  # their derivatives
    weights: Floats  # that made these,
    orders: Wholes  # and of which order; 0: the derivative is exact
    beta: Floats
    gamma: Floats
    first: Floats
    second: Floats
    system: Floats  # (17)
    atol: Floats  # negative where an error does not count
    out_t: Floats  # this and the next live elsewhere
    out_z: Floats


def allocate(n: int, m: int, depth: int, most: int) -> Multistep:
    """Return an empty past."""
    sizes = {"t": depth, "p": depth * m, "v": depth * m, "weights": depth * (most + 1), "orders": depth}
    sizes |= {"beta": most + 1, "gamma": most + 3, "first": m, "second": m, "atol": n}
    past = Multistep(**sizes, system=(most + 2) * (most + 1))
    past.depth, past.most = depth, most
    return past


def derivative_weights(t: Floats, first: int, k: int, weights: Floats) -> None:
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


def condition(t: Floats, weights: Floats, width: int, order: int, j: int, power: int) -> float:
    """Return what the derivative at t[j] gives for the power of t, times counted in steps; see (17)."""
    h = t[0] - t[1]
    if order == 0:
        return power * raised((t[j] - t[0]) / h, power - 1)
    value = 0.0
    for i in range(order + 1):
        value += weights[j * width + i] * h * raised((t[j + i] - t[0]) / h, power)
    return value


def raised(x: float, power: int) -> float:
    """Return a small power as a product, which is quicker than that of any number."""
    value = 1.0
    for _ in range(power):
        value *= x
    return value


def modified_weights(
    t: Floats, weights: Floats, width: int, orders: Wholes, k: int, beta: Floats, work: Floats
) -> bool:
    """Write the weights of (13) from (17), times counted in steps.

    Exact for t, t^2, ..., t^(k+1), whatever made earlier derivatives.

    orders[j] and row j of weights, `width` long, belong to the derivative at t[j]; order 0 marks an exact
    one. False: the system is nearly singular, which happens.
    """
    size, largest = k + 1, 0.0
    for power in range(1, size + 1):
        for j in range(size):
            work[(power - 1) * size + j] = condition(t, weights, width, orders[j], j, power)
        work[size * size + power - 1] = 2.0 if power == 2 else 0.0
    solved = solve_scaled(work, size) > 0.0
    for j in range(size):
        largest = max(largest, abs(work[size * size + j]))
        beta[j] = work[size * size + j] / (t[0] - t[1])
    return solved and largest < WILD


def express(k: int, past: Multistep, own: Stages) -> bool:
    """Express derivatives of the newest unknowns by themselves and the past; False if no weights exist."""
    m, weights, beta, first, second = own.m, past.weights, past.beta, past.first, past.second
    past.orders[0] = k
    derivative_weights(past.t, 0, k, weights)
    for i in range(k + 1):
        beta[i] = weights[i]
    if past.modified and not modified_weights(
        past.t, weights, past.most + 1, past.orders, k, beta, past.system
    ):
        return False
    for j in range(m):
        first[j], second[j] = 0.0, 0.0
        for i in range(1, k + 1):
            first[j] += weights[i] * past.p[i * m + j]
            second[j] += beta[i] * past.v[i * m + j]
        second[j] += beta[0] * first[j]
    own.coefficients[0] = 1.0
    own.coefficients[1] = weights[0]
    own.coefficients[past.q] = weights[0] if past.q == 1 else weights[0] * beta[0]
    return True


def bdf_step(past: Multistep, k: int) -> int:
    """Make the step to t[0] with order k, (15) or its first-order twin.

    Return the Newton iterations, or what went wrong.
    """
    own = Stages.at(past.stages)
    if not express(k, past, own):
        return SINGULAR
    for j in range(2 * own.n):
        d, u = own.derivative[j], own.source[j]
        own.base[j] = past.first[u] if d == 1 else past.second[u] if d == 2 else 0.0
    own.times[0] = past.t[0]
    own.h = past.t[0] - past.t[1]
    made = solve_stages(own)
    for j in range(own.m):
        past.p[j] = own.k[j]
        past.v[j] = past.weights[0] * own.k[j] + past.first[j]
    return made


def difference_weights(t: Floats, k: int, weights: Floats) -> None:
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


def error_norm(k: int, past: Multistep, own: Stages) -> float:
    """Return the weighted RMS norm of the error that order k makes in the newest step.

    For a first derivative it is the error of (12), which is that of the unknown over h: differences of the
    derivatives themselves would jump with every change of the step.
    """
    m, t, gamma, total, terms = own.m, past.t, past.gamma, 0.0, 0
    difference_weights(t, k, gamma)
    for j in range(own.n):
        if past.atol[j] >= 0.0:
            u = own.source[j]
            error, size = 0.0, abs(past.p[m + u])
            for i in range(k + 2):
                error += gamma[i] * past.p[i * m + u]
            if own.derivative[j] == 1:
                error, size = error / (t[0] - t[1]), abs(past.v[m + u])
            total += (error / (past.rtol * size + past.atol[j])) ** 2
            terms += 1
    return (total / terms) ** 0.5


def step_factor(error: float, k: int) -> float:
    """Return by how much the step may change; the error behaves as h^k because velocities count."""
    return (2.0 * error + 1e-4) ** (-1.0 / k)


def next_order(error: float, past: Multistep, own: Stages) -> float:
    """Choose order and step after an accepted step by DASSL's rules.

    The order that allows the largest step, doubled or kept.
    """
    k, since = past.order, past.since
    best, factor = k, step_factor(error, k)
    if k > 1:
        other = step_factor(error_norm(k - 1, past, own), k - 1)
        if other > factor:
            best, factor = k - 1, other
    if since > k and k < past.most and past.known >= k + 2:
        other = step_factor(error_norm(k + 1, past, own), k + 1)
        if other > factor:
            best, factor = k + 1, other
    factor = 2.0 if factor >= 2.0 else 1.0 if factor >= 1.0 else max(0.5, min(0.9, factor))
    past.order, past.known = best, min(past.known + 1, past.depth - 1)
    past.since = since + 1 if best == k and factor == 1.0 else 1
    return factor


def plan(past: Multistep, own: Stages) -> None:
    """Choose the time of the next point, and predict the unknowns there."""
    t, m, k, left = past.t, own.m, past.order, past.end - past.t[1]
    if abs(past.h) > 0.999 * abs(left):
        past.h = left
    elif not abs(past.h) < 0.5 * abs(left):
        past.h = 0.5 * left
    t[0] = past.end if past.h == left else t[1] + past.h
    difference_weights(t, k, past.gamma)
    for j in range(m):
        own.k[j] = 0.0
        for i in range(1, k + 2):
            own.k[j] -= past.gamma[i] / past.gamma[0] * past.p[i * m + j]


def keep(past: Multistep, own: Stages) -> None:
    """Write the new point down and let everything grow older by one step."""
    n, m, made, width = own.n, own.m, past.made, past.most + 1
    past.out_t[made] = past.t[0]
    for j in range(n):
        past.out_z[made * n + j] = own.z[j]
    past.made = made + 1
    for i in range(past.depth - 1, 0, -1):
        past.t[i] = past.t[i - 1]
        past.orders[i] = past.orders[i - 1]
        shift(past.p, i, m)
        shift(past.v, i, m)
        shift(past.weights, i, width)


def shift(rows: Floats, i: int, width: int) -> None:
    """Copy the row before row i to it."""
    new, old = view(rows, i * width, width), view(rows, (i - 1) * width, width)
    for j in range(width):
        new[j] = old[j]


def bdf_run(past: Multistep) -> int:
    """Step with error control until the output is full or the end is reached; return what went wrong."""
    own, failures = Stages.at(past.stages), 0
    past.made = 0
    while past.made < past.out_t.size and past.t[1] != past.end:
        if abs(past.h) <= 1e-14 * max(abs(past.t[1]), abs(past.end)):
            return UNDERFLOW
        plan(past, own)
        k = past.order
        status = bdf_step(past, k)
        past.nfev += status if status > 0 else MOST
        error = error_norm(k, past, own) if status > 0 else 1e10
        if error <= 1.0:
            past.h *= next_order(error, past, own)
            failures = 0
            keep(past, own)
        else:
            failures += 1
            past.nreject += 1
            usual = failures == 1 and error < 1e10
            past.h *= max(0.25, 0.9 * step_factor(error, k)) if usual else 0.25
            past.order = k if failures < 3 else 1
            past.since = 1
    return 0


PROGRAM = Program(bdf_run, bdf_step)
