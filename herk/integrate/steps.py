"""What the loop, its controller and its steppers share: the state of a run, and how steps and chunks end."""

from __future__ import annotations

from herk.jit.by_address import by_address
from herk.jit.state import Floats, State

OK = 0  # of a step: it was made; negative: it failed and is tried again, shorter
RUNNING, FINISHED, CHUNK_FULL, NEED_PYTHON = 0, 1, 2, 3
CONSIDER = 4  # the step was made, and another method should be thought about
ENDS = -100  # what ends a run, and below
UNDERFLOW, STUCK, RANK_LOST, SUNK = -101, -102, -103, -104

INFINITE = 1e300
NEGLIGIBLE = 1e-3  # of the tolerance: how far a start may be from the constraints

stepper_at = by_address("int(int)")  # begin, try_step, accept: all take the state of the loop


class Loop(State):
    """Where a run stands, what it was asked for, and which stepper makes its steps."""

    t: float
    h: float  # to be tried next; 0: to be chosen
    t_start: float
    t_end: float
    h_max: float
    h_min: float  # 0: as short as rounding allows
    h_tried: float
    target: float  # where that leads to
    limit: float  # how long the stepper lets the next step be
    proposed: float  # the next step as the stepper wants it; 0: the controller chooses
    rtol: float
    error: float  # of the last step, in units of the tolerance
    log_error: float  # its logarithm, as far as the controller remembers it,
    old_log: float  # and that of the last accepted step
    exponent: float  # 1 / (order of the estimate + 1)
    n: int
    fixed: int
    index: int
    total: int
    rejected: int  # steps in a row
    nreject: int
    cause: int  # why the last step failed
    count: int  # points of this chunk
    slot: int  # what the stepper wants remembered with a point
    own: int
    begin: int
    try_step: int
    accept: int
    y: Floats
    atol: Floats
