"""Sensitivities of a Radau run: the stage equations of every accepted step differentiated.

With S = dy/dp at the start of a step, the stages Z_i = dY_i/dp solve
(1/h) sum_j (A^-1)_ij S E_i (Z_j - S) + S (E y' - f)_y Z_i + S (E y' - f)_p = 0 and g_y Z_i + g_p = 0,
all at the stages of the run. Constraints are eliminated first, Z_i = N_i u_i + w_i with g_y N_i = 0, which
leaves s (n - m) equations for each step. The last stage is the new S.
"""

from __future__ import annotations

from herk.integrate.steppers.radau.layout import NO_CONVERGENCE, OK, SINGULAR, Radau, function_at
from herk.integrate.steppers.radau.order import FEWEST, MORE, enter
from herk.integrate.steppers.radau.polynomial import weight
from herk.integrate.steppers.radau.tangent_equations import assemble, keep, linearised
from herk.integrate.steppers.radau.tangent_layout import Tangent
from herk.integrate.steps import Loop, stepper_at
from herk.jit.by_address import by_address
from herk.jit.program import Program
from herk.jit.state import Floats, Wholes, view
from herk.linalg.dense import factor, level_rows, substitute

repeat_at = by_address("int(float, float, Floats, int)")  # (t, h, both ends, state)


def accept_recording(loop: Loop) -> int:
    """Accept a step; keep its stages but the last and the rows of E y' = f it was made with."""
    own = Radau.at(loop.own)
    n, d, room = own.n, own.d, (own.most_stages - 1) * own.n
    place = own.recorded * (room + d)
    if place + room + d <= own.record.size:
        for j in range((own.s - 1) * n):
            own.record[place + j] = own.z[j]
        for k in range(d):
            own.record[place + room + k] = float(own.rows[k])
        own.recorded += 1
    return stepper_at(own.at_accept)(loop)


def replay(
    tangent: Tangent,
    t: Floats,
    y: Floats,
    slots: Wholes,
    record: Floats,
    times: Floats,
    values: Floats,
    out: Floats,
) -> int:
    """Follow S along the points y (by rows) at t; write it at the times, where y has these values.

    Without times it is written at every point. Slots hold the orders of the steps; those that were not
    recorded are solved for again.
    """
    own = Radau.at(tangent.own)
    n, size, asked, forward = own.n, own.n * tangent.many, 0, t[t.size - 1] >= t[0]
    if times.size == 0:
        keep(tangent.s, view(out, 0, size))
    for i in range(t.size - 1):
        tangent.failed = i
        while asked < times.size and times[asked] == t[i]:
            keep(tangent.s, view(out, asked * size, size))
            asked += 1
        tangent.h = t[i + 1] - t[i]
        if own.s != FEWEST + MORE * slots[i + 1]:
            enter(FEWEST + MORE * slots[i + 1], own)
        status = stages(i, t[i], view(y, i * n, 2 * n), record, tangent, own)
        if status == OK:
            status = differentiated(t[i], tangent, own)
        while asked < times.size and (times[asked] < t[i + 1] if forward else times[asked] > t[i + 1]):
            if status == OK:
                point = view(values, asked * n, n)
                status = inside(times[asked], t[i], point, view(out, asked * size, size), tangent, own)
            asked += 1
        if status != OK:
            return status
        keep(view(tangent.z, (own.s - 1) * size, size), tangent.s)
        if times.size == 0:
            keep(tangent.s, view(out, (i + 1) * size, size))
    while asked < times.size:
        keep(tangent.s, view(out, asked * size, size))
        asked += 1
    return OK


def stages(i: int, t: float, ends: Floats, record: Floats, tangent: Tangent, own: Radau) -> int:
    """Load the stages of a step and y' there; the last one is the new point."""
    n, d, s, z, room = own.n, own.d, own.s, own.z, (own.most_stages - 1) * own.n
    place, last = i * (room + d), (s - 1) * n
    if place + room + d <= record.size:
        for j in range(last):
            z[j] = record[place + j]
        for k in range(d):
            own.rows[k] = int(record[place + room + k])
    elif repeat_at(tangent.at_repeat)(t, tangent.h, ends, own) != OK:
        return NO_CONVERGENCE
    for j in range(n):
        z[last + j] = ends[n + j] - ends[j]
    for k in range(s):
        for j in range(n):
            tangent.y[k * n + j] = ends[j] + z[k * n + j]
            rate = 0.0
            for other in range(s):
                rate += own.inverse[s * k + other] * z[other * n + j]
            tangent.v[k * n + j] = rate / tangent.h
    for j in range(n):
        tangent.y[last + j] = ends[n + j]
    return OK


def differentiated(t: float, tangent: Tangent, own: Radau) -> int:
    """Write Z of the stages."""
    n, d, many = own.n, own.d, tangent.many
    for k in range(own.s):
        if not linearised(k, t + own.nodes[k] * tangent.h, tangent, own):
            return SINGULAR
    if d > 0:
        assemble(tangent, own)
        size = own.s * d
        level_rows(tangent.matrix, size, tangent.units, tangent.level)
        if not factor(tangent.matrix, 0, size, tangent.order) > 0.0:
            return SINGULAR
        for q in range(many):
            for i in range(size):
                tangent.column[i] = tangent.level[i] * tangent.right[i * many + q]
            substitute(tangent.matrix, 0, size, tangent.order, tangent.column, tangent.delta, 0)
            for i in range(size):
                tangent.solution[i * many + q] = tangent.delta[i]
    for k in range(own.s):
        basis = view(tangent.basis, k * n * d, n * d)
        shift, z = view(tangent.shift, k * n * many, n * many), view(tangent.z, k * n * many, n * many)
        for j in range(n):
            for q in range(many):
                z[j * many + q] = shift[j * many + q]
            for c in range(d):
                entry = basis[j * d + c]
                if entry != 0.0:
                    for q in range(many):
                        z[j * many + q] += entry * tangent.solution[(k * d + c) * many + q]
    return OK


def inside(time: float, t: float, point: Floats, out: Floats, tangent: Tangent, own: Radau) -> int:
    """Write S at a time inside the step, where y is `point`: the polynomial, on the constraints."""
    n, m, d, many, h = own.n, own.m, own.d, tangent.many, tangent.h
    x = (time - t) / h
    keep(tangent.s, out)
    for k in range(own.s):
        part = weight(x, k, own)
        for c in range(n * many):
            out[c] += part * (tangent.z[k * n * many + c] - tangent.s[c])
    if m == 0:
        return OK
    function_at(own.at_jac_g)(time, point, own.parameters, tangent.g_y)
    function_at(tangent.at_g_p)(time, point, own.parameters, tangent.g_p)
    for k in range(d):
        line = own.rows[k] * n
        for j in range(n):
            tangent.square[k * n + j] = own.values[0] / h * tangent.e[line + j] + tangent.r[line + j]
    for k in range(m * n):
        tangent.square[d * n + k] = tangent.g_y[k]
    level_rows(tangent.square, n, own.scale, tangent.level)
    if not factor(tangent.square, 0, n, tangent.square_order) > 0.0:
        return SINGULAR
    for q in range(many):
        for k in range(d):
            tangent.column[k] = 0.0
        for k in range(m):
            total = tangent.g_p[k * many + q]
            for j in range(n):
                total += tangent.g_y[k * n + j] * out[j * many + q]
            tangent.column[d + k] = -total * tangent.level[d + k]
        substitute(tangent.square, 0, n, tangent.square_order, tangent.column, tangent.delta, 0)
        for j in range(n):
            out[j * many + q] += tangent.delta[j]
    return OK


PROGRAM = Program(accept_recording, replay)
