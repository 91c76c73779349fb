"""The memory of a pass that differentiates a Radau run."""

from __future__ import annotations

from herk.jit.state import Floats, State, Wholes


class Tangent(State):
    """What the derivatives of a step need beside the state of the run."""

    own: int
    many: int  # directions
    failed: int  # number of the step
    at_repeat: int
    at_g_p: int
    at_residual_p: int
    h: float
    s: Floats  # n x many
    y: Floats  # of the stages, n each
    v: Floats  # y' of them
    e: Floats  # E of them, n x n each
    r: Floats  # (E y' - f)_y
    basis: Floats  # N of them, n x d each
    shift: Floats  # w of them, n x many each
    z: Floats  # Z of them, n x many each
    g_y: Floats
    g_p: Floats
    r_p: Floats
    matrix: Floats  # s d x s d
    right: Floats
    solution: Floats
    square: Floats  # n x n
    column: Floats
    delta: Floats
    units: Floats  # of u, s d
    level: Floats  # factors of the rows of the system at work
    order: Wholes
    square_order: Wholes
    pivots: Wholes  # columns of g_y that are solved for
    free: Wholes  # and the others
