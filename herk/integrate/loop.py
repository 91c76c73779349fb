"""The stepping loop: try, judge, accept, write down; back to Python after every chunk. It knows no method.

A stepper is three functions by address, `begin`, `try_step` and `accept`, and a state of its own at `own`.
`try_step` writes `error` and answers OK, a failure (negative: tried again, shorter), an end (ENDS and below),
or what Python has to do (positive).
"""

from __future__ import annotations

from herk.integrate.controller import next_step, shortest
from herk.integrate.steps import (
    CHUNK_FULL,
    ENDS,
    FINISHED,
    INFINITE,
    OK,
    RUNNING,
    UNDERFLOW,
    Loop,
    stepper_at,
)
from herk.jit.program import Program
from herk.jit.state import Floats, Wholes


def plan_step(loop: Loop) -> None:
    """Write the step to try and the time it leads to; the end is hit exactly."""
    if loop.fixed:
        last = loop.index + 1 >= loop.total
        loop.target = loop.t_end if last else loop.t_start + (loop.index + 1) * loop.h
        loop.h_tried = loop.target - loop.t
        return
    left, h = loop.t_end - loop.t, loop.h
    if abs(h) > loop.h_max:
        h = loop.h_max if left > 0.0 else -loop.h_max
    if abs(left) <= 1.0001 * abs(h):
        loop.h_tried, loop.target = left, loop.t_end
        return
    if abs(left) < 2.0 * abs(h):
        h = 0.5 * left  # two equal steps rather than a long one and a stump
    loop.target = loop.t + h
    loop.h_tried = loop.target - loop.t  # the step that is made, not the one that was meant: t + h is rounded


def try_step(loop: Loop) -> int:
    """Try steps from the current point until one is accepted."""
    while True:
        plan_step(loop)
        if loop.h_tried == 0.0:
            return UNDERFLOW
        loop.limit, loop.proposed = INFINITE, 0.0
        status = stepper_at(loop.try_step)(loop)
        if status > OK or status <= ENDS:
            return status
        if status == OK and (loop.fixed or loop.error <= 1.0):
            passed(loop)
            return RUNNING
        loop.cause = status
        if loop.fixed:
            return UNDERFLOW
        loop.h = next_step(loop) if status == OK or loop.proposed != 0.0 else 0.25 * loop.h_tried
        loop.rejected += 1
        loop.nreject += 1
        if not abs(loop.h) > shortest(loop):
            return UNDERFLOW


def passed(loop: Loop) -> None:
    """Note that a step was accepted, and how long the next one should be."""
    loop.t = loop.target
    loop.cause = OK
    if loop.fixed:
        loop.index += 1
        return
    h = next_step(loop)
    if abs(h) > loop.limit:
        h = loop.limit if h > 0.0 else -loop.limit
    loop.h = h
    loop.old_log = loop.log_error
    loop.rejected = 0


def advance(loop: Loop, t_out: Floats, y_out: Floats, slot_out: Wholes) -> int:
    """Make accepted steps until the chunk is full, the end is reached, or Python is needed."""
    loop.count = 0
    n, y, status = loop.n, loop.y, stepper_at(loop.begin)(loop)
    while status == RUNNING and loop.count < t_out.size:
        status = try_step(loop)
        if status == RUNNING:
            count, slot = loop.count, loop.slot
            status = stepper_at(loop.accept)(loop)
            for i in range(n):
                y_out[count * n + i] = y[i]
            t_out[count] = loop.t
            slot_out[count] = slot
            loop.count = count + 1
            if loop.t == loop.t_end:
                status = FINISHED
    return CHUNK_FULL if status == RUNNING else status


PROGRAM = Program(advance)
