"""The state of a half-explicit run: what is in it, how long its arrays are, and what its numbers mean."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from herk.core.dae import Array
from herk.integrate.steppers.half_explicit.probes import probes, steady
from herk.integrate.steppers.half_explicit.tableau import Tableau
from herk.jit.by_address import by_address
from herk.jit.state import Floats, State, Wholes

# What a kernel is asked to do.
STEP, ACCEPT, EXTEND, DERIVATIVE, ALGEBRAIC, SPREAD = 0, 1, 2, 3, 4, 5

# What a kernel answers: a step that fails is tried again, shorter; an accepted one may ask for a selection.
WORSE = 1
OK, NO_CONVERGENCE, SINGULAR, E_CHANGED, NONFINITE, BRANCH, ROUGH, TURNED = 0, -1, -2, -3, -4, -5, -6, -7
OVERTURNED = -8  # E is singular on the way

EPS = 2.220446049250313e-16  # rounding of 1
DETERIORATED = 0.7  # a pivot that fell below this part of its best value asks for a new selection
FALLEN = 0.3  # the same for the weakest of very many: one of them is always on its way
FRESH_SIZE = 16  # up to this many constraints a Jacobian per step costs less than the iterations it saves
NO_DIFFERENCE = 1e-26  # the square of a difference of two stages that is rounding
FAINTEST = 1e-200  # and of what is no difference however small the component is
UNSEEN = 0.05  # changes that are small beside this part of a component are no sign of anything

# Ways to get y' from E y' = f.
E_DIAGONAL, E_CONSTANT, E_VARYING, E_STACKED = 0, 1, 2, 3

# Places in a row of the table of selections: the order of the components stands behind.
ROW_KERNEL, ROW_DIFFERENTIAL, ROW_PREDICTED, ROW_GUESSED = 0, 1, 2, 3
ROW_PIVOTS, ROW_STAGE, ROW_ORDER = 4, 5, 8

kernel_at = by_address("int(int, float, float, int)")  # (task, t, h, state)
function_at = by_address("None(float, Floats, Floats, Floats)")  # (t, y, par, out)
# Stage code of a model: (t, y, tolerance, floor, pivots, work, par), (t, y, out, floor, work, par),
# (t, y, work, par)
algebraic_at = by_address("int(float, Floats, float, Floats, Floats, Floats, Floats)")
derivative_at = by_address("int(float, Floats, Floats, Floats, Floats, Floats)")
residual_at = by_address("float(float, Floats, Floats, Floats)")


class HalfExplicit(State):
    """All a step needs. Written-out kernels have the places of these names as literals."""

    n: int
    m: int
    stages: int
    extra: int  # stages of dense output
    estimates: int
    estimate: float  # how large the first one is for y' = y and a step of 1, by its first term,
    estimate_power: int  # and the power of the step in that
    # The selection in force: how many components are differential, have a predicted derivative, a start value
    differential: int
    predicted: int
    guessed: int
    pivots: int
    smooth: int  # pivots change smoothly: determinants, known at every stage
    slot: int
    known: int  # rows of the table
    pending: int  # select before stepping
    resumed: int  # rejections at this point after which Python was waited for: one look at them is enough
    answered: int  # Python has made the selection that was asked for, in the only row of the table
    chosen: int  # its slot; -1: dg/dy has lost rank
    looked: int  # after which failures it was asked for last, and
    looked_t: float  # when that was
    always: int  # select at every step
    in_units: int  # select in units of the unknowns
    fresh: int  # a selection was made since the last accepted step
    threshold: float
    # Code by address: kernels, stage code of a model, functions of the user
    kernel: int
    any_size: int
    stage_algebraic: int
    stage_derivative: int
    stage_residual: int
    general: int  # there is no stage code: newton.py, derivative.py
    at_e: int
    at_f: int
    at_g: int
    at_jac_g: int
    at_g_t: int
    have_e: int  # E is a function, not a matrix
    have_jacobian: int
    have_g_t: int
    t_size: float  # in which functions of time change: for differences
    full_newton: int
    sparse: int  # Jacobian and E are values on patterns, selections are made in Python
    marked: int  # units of a selection of many unknowns are known, see `margin`
    near: int  # the point in work is close to the one the factors are from
    e_factors: int
    groups: int  # of columns that are differenced together
    e_mode: int
    e_stride: int  # from one entry of the diagonal to the next
    e_rank: int
    e_valid: int
    e_blocks: int  # of E, whose determinants are to keep their signs; 0: nobody looks
    e_turns: float  # the last time at which one had not
    lu_valid: int
    last_stage: int  # the stage in work is the new point
    nfev: int
    ngev: int
    njev: int
    nlu: int
    nit: int
    tolerance: float  # of Newton inside a step, and
    tight: float  # at its end
    contraction: float
    stage_t: float
    residual: float
    worst_residual: float
    # Three stages that tell whether algebraic components are resolved, and the weights of a parabola
    probes: int
    probe_0: int
    probe_1: int
    probe_2: int
    node_0: float
    node_1: float
    node_2: float
    weight_0: float
    weight_1: float
    weight_2: float
    weight_3: float
    steady: float  # a pivot that keeps this part of itself was not on its way to zero
    roughness: float  # how far they are from a parabola, beside their change: those whose derivative occurs,
    roughness_free: float  # and the others
    resolved: float  # how far they may be
    h_last: float
    h_known: float  # the same, whatever became of the selection
    # Whether stability limits the steps, see `stability`
    patience: int  # steps in a row it may seem so; 0: nobody asks
    asking: int  # enough is left behind the step being made for a change of method to pay
    limited: int
    innocent: int
    gate: float  # of h * fastest
    worth: float  # steps left, at this length, from which on the question is worth an answer
    fastest: float  # the modulus of the dominating eigenvalue
    distant: float  # fastest * span from which on the question is asked before the first step,
    foreseen: int  # which was done
    restless: float  # how quickly the solution changes there, per unit of time, if that was asked
    jumps: int
    jump: float
    y: Floats
    new: Floats
    stage: Floats
    floor: Floats  # what is small for each component, then how large each has been
    slope: Floats
    pivot: Floats
    best_pivot: Floats
    sign: Floats
    pivot_now: Floats
    pivot_before: Floats
    pivot_peak: Floats
    pivot_probed: Floats  # at the three probes
    least: Floats  # pivots with which the run may begin
    error: Floats
    k: Floats
    table_a: Floats
    table_c: Floats
    table_e: Floats
    table_b: Floats
    ydot: Floats
    f: Floats
    g: Floats
    jacobian: Floats
    lu: Floats
    level: Floats  # sizes of its rows when the selection was made; 0: not known yet
    e_now: Floats
    e_lu: Floats
    e_sign: Floats  # of these determinants,
    e_new: Floats  # the same at a new point, with scratch,
    e_whole: Floats  # and E there
    e_unit: Floats  # units of the unknowns in the reduced E,
    e_level: Floats  # and factors of its rows: pivots are chosen by these
    stacked: Floats
    rhs: Floats
    probed: Floats
    parameters: Floats
    size: Floats
    heaviest: Floats
    weight: Floats
    relative: Floats
    indptr: Wholes  # of dg/dy, elsewhere: by rows, then entries by groups of columns with row and column
    indices: Wholes
    group_start: Wholes
    group_entry: Wholes
    entry_row: Wholes
    e_entry: Wholes  # columns of the entries of E
    order: Wholes  # differential components, guessed with a derivative, other guessed, other algebraic
    required: Wholes
    e_rows: Wholes
    e_columns: Wholes
    newton_order: Wholes
    e_order: Wholes
    e_block_row: Wholes  # rows of E, block by block,
    e_block_column: Wholes  # columns,
    e_block_start: Wholes  # where blocks begin,
    e_block_order: Wholes  # and how rows were exchanged
    cost: Wholes
    open: Wholes  # 1: not given at the start, to be computed
    wanted: Wholes  # the selection asked for
    other: Wholes  # and one in units of the unknowns, with scratch
    forced: Wholes
    flags: Wholes
    left: Wholes  # columns not chosen yet
    work: Floats
    table: Wholes  # of selections, elsewhere
    parts: Wholes  # of a large system, by address: solved one after the other


@lru_cache(maxsize=256)
def rows_of(tableau: Tableau) -> tuple[Array, Array, Array]:
    """Return one matrix for all stages, their nodes, and the error estimates.

    The new point is stage s, those of dense output follow.
    """
    s, k = tableau.stages, len(tableau.dense_c)
    rows = np.zeros((s + 1 + k, s + 1 + k))
    rows[:s, :s], rows[s, :s], rows[s + 1 :] = tableau.A, tableau.b, tableau.dense_A
    estimates = np.zeros((len(tableau.error), s + 1))
    for row, error in zip(estimates, tableau.error, strict=True):
        row[: len(error)] = error
    return rows, np.concatenate([tableau.c, [1.0], tableau.dense_c]), estimates


@lru_cache(maxsize=256)
def sizes(
    n: int, m: int, tableau: Tableau, parameters: int = 1, entries: tuple[int, int] | None = None
) -> dict[str, int]:
    """Return the lengths of all arrays but the last two, in the order in which they stand.

    `entries` counts those of dg/dy and E where they are sparse.
    """
    rows, nodes, estimates = rows_of(tableau)
    vectors = dict.fromkeys(("y", "new", "stage", "slope"), n) | {"floor": 2 * n}
    pivots = dict.fromkeys(
        ("pivot", "best_pivot", "sign", "pivot_now", "pivot_before", "pivot_peak", "least"), m + 1
    )
    tables = {"error": len(estimates) * n, "k": len(rows) * n, "table_a": rows.size, "table_c": nodes.size}
    tables |= {"table_e": estimates.size, "table_b": 0 if tableau.dense_B is None else tableau.dense_B.size}
    systems = {"ydot": n, "f": n, "g": m, "jacobian": m * n, "lu": m * m, "e_now": n * n, "e_lu": n * n}
    if entries is not None:
        systems |= {"jacobian": entries[0], "lu": 0, "e_now": entries[1], "e_lu": entries[1]}
    systems |= {
        "stacked": (n + m) * n if entries is None else n,
        "rhs": n + m,
        "probed": 3 * n,
        "pivot_probed": 3 * (m + 1),
        "parameters": parameters,
        "size": n,
    }
    whole = n * n if entries is None else 0
    systems |= {"e_sign": n, "e_new": n + whole, "e_whole": whole}
    systems |= {"heaviest": m, "level": m, "weight": n, "relative": n, "e_unit": n, "e_level": n}
    wholes = dict.fromkeys(
        ("order", "required", "e_rows", "e_columns", "newton_order", "e_order", "cost", "open"), n
    )
    wholes |= {"e_block_row": n, "e_block_column": n, "e_block_start": n + 1, "e_block_order": n}
    wholes |= {"wanted": m, "other": m, "forced": m, "flags": n, "left": n}
    return vectors | pivots | tables | systems | wholes


def allocate(
    n: int,
    m: int,
    tableau: Tableau,
    work: int,
    parameters: Array | None = None,
    entries: tuple[int, int] | None = None,
) -> HalfExplicit:
    """Return the state of a run with the tableau and the values of parameters written into it."""
    given = np.zeros(1) if parameters is None else parameters
    state = HalfExplicit(**sizes(n, m, tableau, given.size, entries), work=max(work, 1))
    state.sparse, state.e_stride = entries is not None, n + 1 if entries is None else 1
    state.n, state.m, state.stages, state.extra = n, m, tableau.stages, len(tableau.dense_c)
    state.estimates, state.contraction = len(tableau.error), 0.1
    state.estimate, state.estimate_power = tableau.first_term
    rows, nodes, estimates = rows_of(tableau)
    state.table_a[:], state.table_c[:], state.table_e[:] = rows.ravel(), nodes, estimates.ravel()
    if tableau.dense_B is not None:
        state.table_b[:] = tableau.dense_B.ravel()
    state.parameters[:] = given
    known = probes(tableau)
    if known is not None and m:
        state.probes = 3
        (state.probe_0, state.probe_1, state.probe_2), weights = known
        state.node_0, state.node_1, state.node_2 = (float(nodes[i]) for i in known[0])
        state.weight_0, state.weight_1, state.weight_2, state.weight_3 = weights
        state.steady = steady(state.node_0, state.node_1, state.node_2)
    return state
