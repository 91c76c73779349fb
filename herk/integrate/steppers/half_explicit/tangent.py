"""Sensitivities of a half-explicit run: its accepted steps made once more, and each differentiated.

Every stage has the tableau, the selection and the step size of the run. With S = dy/dp at the start of a
step, Z_i = S + h sum_j a_ij K_j in the differential components; g_y Z_i + g_p = 0 gives the others, and
K_i = dk_i/dp follows from E K = -(E y' - f)_y Z - (E y' - f)_p: see `herk.codegen.tangents`.
"""

from __future__ import annotations

from herk.integrate.steppers.half_explicit.layout import NO_CONVERGENCE, OK, SINGULAR, HalfExplicit
from herk.integrate.steppers.half_explicit.selecting import enter
from herk.integrate.steppers.half_explicit.step import solve_algebraic
from herk.jit.by_address import by_address
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, view

tangent_at = by_address(
    "int(float, Floats, Floats, Floats, Floats, Floats, Floats)"
)  # (t, y, y', out, work, par, floor)


class Tangent(State):
    """What the derivatives of a step need beside the state of the run."""

    own: int
    many: int  # directions
    slot: int  # of the step before, -1: none
    failed: int  # number of the step
    error: float  # largest local error of a sensitivity so far, in units of the tolerance
    rtol: float
    codes: Wholes  # by slot
    atol: Floats
    unit: Floats  # how much a parameter may change: its size
    new: Floats  # S at the end of the step
    s: Floats  # n x many
    v: Floats  # y' of every stage, n each
    k: Floats  # K of every stage, n x many each
    block: Floats  # what the code of the model reads and writes
    work: Floats


def replay(
    tangent: Tangent, t: Floats, y: Floats, slots: Wholes, times: Floats, values: Floats, out: Floats
) -> int:
    """Follow S along the points y (by rows) at t; write it at the times, where y has these values.

    Without times it is written at every point.
    """
    own = HalfExplicit.at(tangent.own)
    size, asked, forward = own.n * tangent.many, 0, t[t.size - 1] >= t[0]
    every = times.size == 0
    if every:
        keep(tangent, view(out, 0, size))
    tangent.slot = -1
    for i in range(t.size - 1):
        tangent.failed = i
        while asked < times.size and times[asked] == t[i]:
            keep(tangent, view(out, asked * size, size))
            asked += 1
        first = asked
        while asked < times.size and (times[asked] < t[i + 1] if forward else times[asked] > t[i + 1]):
            asked += 1
        status = step(i, first, asked, t, y, slots[i + 1], times, values, out, tangent)
        if status != OK:
            return status
        if every:
            keep(tangent, view(out, (i + 1) * size, size))
    while asked < times.size:
        keep(tangent, view(out, asked * size, size))
        asked += 1
    return OK


def step(
    i: int,
    first: int,
    last: int,
    t: Floats,
    y: Floats,
    slot: int,
    times: Floats,
    values: Floats,
    out: Floats,
    tangent: Tangent,
) -> int:
    """Follow S through step i; write it at the times first .. last - 1, which lie inside."""
    own = HalfExplicit.at(tangent.own)
    n, size, h = own.n, own.n * tangent.many, t[i + 1] - t[i]
    dense = own.table_b.size > 0
    status = begin_step(t[i], view(y, i * n, 2 * n), h, slot, tangent, own)
    for q in range(first, last):
        if status == OK and not dense:
            status = whole_step(t[i], times[q] - t[i], view(values, q * n, n), False, tangent, own)
            for c in range(size):
                out[q * size + c] = tangent.new[c]
    if status == OK:
        status = whole_step(t[i], h, view(y, i * n + n, n), dense and last > first, tangent, own)
    for q in range(first, last):
        if status == OK and dense:
            point = view(values, q * n, n)
            status = inside(times[q], t[i], h, point, view(out, q * size, size), tangent, own)
    if tangent.rtol > 0.0:
        estimate(h, tangent, own)
    for c in range(size):
        tangent.s[c] = tangent.new[c]
    return status


def keep(tangent: Tangent, out: Floats) -> None:
    """Write S."""
    for c in range(out.size):
        out[c] = tangent.s[c]


def begin_step(t: float, ends: Floats, h: float, slot: int, tangent: Tangent, own: HalfExplicit) -> int:
    """Load the start of a step; its first stage is the last one of the step before, if that is known."""
    n, size = own.n, own.n * tangent.many
    for c in range(n):
        own.y[c] = ends[c]
        own.slope[c] = (ends[n + c] - ends[c]) / h
    if slot == tangent.slot:
        last = own.stages
        for c in range(n):
            tangent.v[c] = tangent.v[last * n + c]
        for c in range(size):
            tangent.k[c] = tangent.k[last * size + c]
        return OK
    tangent.slot = slot
    enter(slot, own)
    for c in range(size):
        tangent.block[c] = tangent.s[c]
    return differentiated(0, t, own.y, tangent, own)


def differentiated(i: int, t: float, z: Floats, tangent: Tangent, own: HalfExplicit) -> int:
    """Complete Z of a stage, and write y' and K of it."""
    n, size = own.n, own.n * tangent.many
    code, v = tangent.codes[tangent.slot], view(tangent.v, i * n, n)
    if tangent_at(code)(t, z, v, tangent.block, tangent.work, own.parameters, own.floor) != 0:
        return SINGULAR
    for c in range(size):
        tangent.k[i * size + c] = tangent.block[size + c]
    return OK


def whole_step(t: float, h: float, end: Floats, extended: bool, tangent: Tangent, own: HalfExplicit) -> int:
    """Make and differentiate all stages, those of dense output too if values inside the step are wanted.

    The new point is known from the run.
    """
    n, stages, rows, a = own.n, own.stages, own.stages + 1 + own.extra, own.table_a
    for i in range(1, rows if extended else stages + 1):
        node, weights = own.table_c[i], view(a, i * rows, rows)
        spread(i, h, weights, tangent, own)
        if i == stages:
            for c in range(n):
                own.stage[c] = end[c]
        else:
            guess(i, h, node, weights, tangent, own)
            if solve_algebraic(t + node * h, own.stage, own.tight, own) < 0:
                return NO_CONVERGENCE
        status = differentiated(i, t + node * h, own.stage, tangent, own)
        if status != OK:
            return status
        if i == stages:
            for c in range(n * tangent.many):
                tangent.new[c] = tangent.block[c]
    return OK


def guess(i: int, h: float, node: float, weights: Floats, tangent: Tangent, own: HalfExplicit) -> None:
    """Put a stage where the tableau and the chord lead; constraints are solved from there."""
    n, width, order = own.n, own.differential + own.predicted, own.order
    for j in range(width):
        c, total = order[j], 0.0
        for s in range(i):
            total += weights[s] * tangent.v[s * n + c]
        own.stage[c] = own.y[c] + h * total
    for j in range(width, n):
        c = order[j]
        own.stage[c] = own.y[c] + h * node * own.slope[c]


def spread(i: int, h: float, weights: Floats, tangent: Tangent, own: HalfExplicit) -> None:
    """Write Z of the differential components: S + h times the weighted sum of the K before it."""
    many, size, block, k = tangent.many, own.n * tangent.many, tangent.block, tangent.k
    for j in range(own.differential):
        row = own.order[j] * many
        for q in range(many):
            total = 0.0
            for s in range(i):
                total += weights[s] * k[s * size + row + q]
            block[row + q] = tangent.s[row + q] + h * total


def inside(
    time: float, t: float, h: float, point: Floats, out: Floats, tangent: Tangent, own: HalfExplicit
) -> int:
    """Write S at a time inside the step, where y is `point`: dense output differentiated."""
    n, many, size, theta = own.n, tangent.many, own.n * tangent.many, (time - t) / h
    rows = own.stages + 1 + own.extra
    terms = own.table_b.size // rows
    for j in range(own.differential):
        row = own.order[j] * many
        for q in range(many):
            tangent.block[row + q] = tangent.s[row + q]
    for s in range(rows):
        weight = h * weight_of(s, theta, terms, own)
        for j in range(own.differential):
            row = own.order[j] * many
            for q in range(many):
                tangent.block[row + q] += weight * tangent.k[s * size + row + q]
    code, v = tangent.codes[tangent.slot], view(tangent.v, rows * n, n)
    if tangent_at(code)(time, point, v, tangent.block, tangent.work, own.parameters, own.floor) != 0:
        return SINGULAR
    for c in range(size):
        out[c] = tangent.block[c]
    return OK


def weight_of(s: int, theta: float, terms: int, own: HalfExplicit) -> float:
    """Return the weight of a stage in dense output, in Bernstein form, from the nearer end on."""
    degree = terms - 1
    near = theta if theta <= 0.5 else 1.0 - theta
    first = s * terms if theta <= 0.5 else s * terms + degree
    forth = 1 if theta <= 0.5 else -1
    weight, basis = 0.0, (1.0 - near) ** degree
    for d in range(terms):
        weight += basis * own.table_b[first + forth * d]
        basis *= near / (1.0 - near) * (degree - d) / (d + 1)
    return weight


def estimate(h: float, tangent: Tangent, own: HalfExplicit) -> None:
    """Note the largest error of S in a step, by the embedded method, in units of the tolerance."""
    n, many, size, e = own.n, tangent.many, own.n * tangent.many, own.table_e
    for q in range(many):
        norm = 0.0
        for j in range(own.differential):
            place, total = own.order[j] * many + q, 0.0
            for s in range(own.stages + 1):
                total += e[s] * tangent.k[s * size + place]
            unit = tangent.unit[q]
            scale = tangent.atol[own.order[j]] + tangent.rtol * abs(unit * tangent.new[place])
            norm += (h * unit * total / scale) ** 2
        tangent.error = max(tangent.error, (norm / n) ** 0.5)


PROGRAM = Program(replay)
