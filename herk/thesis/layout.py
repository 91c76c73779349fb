"""The state of a run of the program of 2017: what is in it, how long its arrays are, how a step ends."""

from __future__ import annotations

from herk.jit.by_address import by_address
from herk.jit.state import Floats, State, Wholes

# How a stretch of steps ends.
FULL, FINISHED, OK, NEWTON, NOT_FINITE, UNDERFLOW, IRREDUCIBLE = 2, 1, 0, -1, -2, -3, -4

function_at = by_address("None(float, Floats, Floats, Floats)")  # (t, x, par, out)
solver_at = by_address("int(float, Floats, Wholes, int)")  # (t, x, order, state)


class Herkosidae(State):
    """All a step needs; matrices are stored by columns unless something else is said."""

    n: int
    m: int
    stages: int
    order: int  # of the method
    # The options
    adaptive: int
    given_jacobian: int  # Jopt
    constant_e: int  # Estat
    simplified: int  # Nopt
    max_norm: int
    keep_fine: int
    # Code by address; 0 if there is none
    at_e: int
    at_f: int
    at_g: int
    at_jac_g: int
    at_solver: int
    # About E
    required: int  # components that must be algebraic
    rank: int
    factored: int
    diagonal: int
    # Counters
    accepted: int  # points written in this stretch
    changes: int  # of the selection, written in this stretch
    rejected: int
    updates: int
    solves: int
    reluctant: int
    ill: int
    beyond: int  # how often f exceeded the limit
    beyond_at_start: int  # whether it did at the first stage
    steps: int  # constant ones, to be made
    done: int  # constant ones, made
    t: float
    h: float
    t_start: float
    t_end: float
    delta: float
    tol: float
    ptol: float
    eps0: float
    beta: float
    limit: float  # of f where E has no rows
    t_failed: float
    start: Floats
    coarse: Floats
    middle: Floats
    fine: Floats
    rates: Floats  # h x' of the stages, one after the other
    vector: Floats
    residual: Floats
    changed: Floats
    right: Floats
    jac: Floats  # dg/dx
    jac_rows: Floats  # dg/dx by rows
    block: Floats  # its algebraic columns
    upper: Floats
    inverse: Floats
    e: Floats  # E by rows, then its factors
    weights: Floats  # by rows; the last one leads to the new point
    nodes: Floats
    components: Wholes  # their order, algebraic ones first
    e_rows: Wholes
    e_columns: Wholes
    pivots: Wholes
    selected: Wholes  # the algebraic components of the step
    before: Wholes  # those of the step before
    parameters: Floats
    points: Floats  # accepted ones, by rows; this and what follows lives elsewhere
    times: Floats
    widths: Floats  # steps planned at these times
    change_rows: Wholes  # points before which the selection changed
    change_components: Wholes  # to these, by rows


def allocate(n: int, m: int, stages: int, parameters: int) -> Herkosidae:
    """Return the state of a run, all zero but the components, which stand in their own order."""
    sizes = dict.fromkeys(("start", "coarse", "middle", "fine", "vector", "right"), n)
    sizes |= dict.fromkeys(("residual", "changed"), m) | dict.fromkeys(("jac", "jac_rows"), m * n)
    sizes |= dict.fromkeys(("block", "upper", "inverse"), m * m) | {"e": n * n, "rates": stages * n}
    sizes |= {"weights": (stages + 1) * stages, "nodes": stages + 1, "parameters": max(parameters, 1)}
    sizes |= dict.fromkeys(("components", "e_rows", "e_columns", "pivots"), n)
    sizes |= dict.fromkeys(("selected", "before"), m)
    own = Herkosidae(**sizes)
    own.n, own.m, own.stages = n, m, stages
    own.components[:] = range(n)
    own.before[:] = -1
    return own
