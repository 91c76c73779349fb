"""Many runs of one machine in one call of machine code: each from a start of its own, values at given times.

What a member needs beyond that, a new selection or a look at its failure, is left to Python.
"""

from __future__ import annotations

from herk.integrate.loop import advance
from herk.integrate.steps import CHUNK_FULL, NEED_PYTHON, OK, RUNNING, Loop
from herk.jit.by_address import by_address
from herk.jit.program import Program
from herk.jit.state import Floats, State, Wholes, view

REFUSED, OFF_BETWEEN = (
    -201,
    -202,
)  # the start must be looked at by Python; a value between points was not found
FIRST_CHUNK = 64  # steps, doubled from chunk to chunk as in a single run

begin_at = by_address("int(int, Floats)")  # (loop, least pivots)
sample_at = by_address("int(int, Floats, Floats, Wholes, Floats, int, Floats)")


class Members(State):
    """The members of one call: where they begin, when they are looked at, what was found."""

    first: int  # the member to begin with
    last: int  # the one behind the last
    steps: int  # allowed for each
    only_begun: int  # the starts are completed, and that is all
    begin: int
    sample: int
    loop: int
    own: int
    spare: int  # a state to look between points with, while the run goes on
    starts: Floats  # the state of the stepper at each start, by rows
    loop_start: Floats
    loop_words: Floats
    own_words: Floats
    spare_words: Floats
    pointers: Wholes  # where the spare state has addresses of its own,
    addressed: Wholes  # and what they are
    spare_wholes: Wholes
    least: Floats
    t: Floats
    y: Floats
    slots: Wholes
    times: Floats
    out: Floats
    status: Wholes
    done: Wholes  # times that were reached
    made: Wholes  # steps
    worst: int  # the place of the largest residual in the state of the stepper
    residual: Floats


def run_members(members: Members) -> int:
    """Run the members in order; return where Python is needed first, `last` if nowhere."""
    size = members.own_words.size
    for k in range(members.first, members.last):
        for i in range(members.loop_words.size):
            members.loop_words[i] = members.loop_start[i]
        for i in range(size):
            members.own_words[i] = members.starts[k * size + i]
        status = begin_at(members.begin)(members.loop, members.least)
        members.status[k] = status if status == NEED_PYTHON else REFUSED
        if members.only_begun:
            completed(k, members)
        elif status == RUNNING:
            members.status[k] = follow(k, members)
        members.residual[k] = members.own_words[members.worst]
        if members.status[k] == NEED_PYTHON:
            return k
    return members.last


def completed(k: int, members: Members) -> None:
    """Write the start of a member with what was computed of it."""
    loop = Loop.at(members.loop)
    for i in range(loop.n):
        members.out[k * loop.n + i] = loop.y[i]


def follow(k: int, members: Members) -> int:
    """Make the run of a member to its end; return how that came."""
    loop = Loop.at(members.loop)
    n, chunk, most, status = loop.n, FIRST_CHUNK, members.t.size - 1, RUNNING
    members.made[k], members.done[k] = 0, 0
    members.t[0] = loop.t
    for i in range(n):
        members.y[i] = loop.y[i]
    if not looked_at(0, k, loop, members):
        return OFF_BETWEEN
    while status in (RUNNING, CHUNK_FULL):
        chunk = min(chunk, most, members.steps - members.made[k])
        if chunk == 0:
            return CHUNK_FULL
        y = view(members.y, n, chunk * n)
        status = advance(loop, view(members.t, 1, chunk), y, view(members.slots, 1, chunk))
        members.made[k] += loop.count
        if loop.count > 0 and not looked_at(loop.count, k, loop, members):
            return OFF_BETWEEN
        chunk *= 2
    return status


def looked_at(count: int, k: int, loop: Loop, members: Members) -> bool:
    """Write the values at the times that lie in the last `count` steps; keep the last point."""
    n, total, times, forward = loop.n, members.times.size, members.times, loop.t_end > loop.t_start
    t, y, slots, first = members.t, members.y, members.slots, members.done[k]
    upto, place, status = first, (k * total + first) * n, OK
    while upto < total and (times[upto] <= t[count] if forward else times[upto] >= t[count]):
        upto += 1
    if upto > first and count == 0:
        for i in range(n):
            members.out[place + i] = y[i]
    elif upto > first:
        borrowed(members)
        slots[0] = slots[1]  # no step of this stretch led to its first point
        status = sample_at(members.sample)(
            members.spare,
            view(t, 0, count + 1),
            view(y, 0, (count + 1) * n),
            view(slots, 0, count + 1),
            view(times, first, upto - first),
            0 if loop.fixed else 1,
            view(members.out, place, (upto - first) * n),
        )
    members.done[k] = upto
    t[0] = t[count]
    for i in range(n):
        y[i] = y[count * n + i]
    return status == OK


def borrowed(members: Members) -> None:
    """Make the spare state what the state of the run is now, in its own memory."""
    for i in range(members.own_words.size):
        members.spare_words[i] = members.own_words[i]
    for i in range(members.pointers.size):
        members.spare_wholes[members.pointers[i]] = members.addressed[i]


PROGRAM = Program(run_members)
