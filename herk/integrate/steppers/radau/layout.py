"""The state of a Radau run: what is in it, how long its arrays are, and what its numbers mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herk.core import Dae
from herk.jit.by_address import by_address
from herk.jit.state import Floats, State, Wholes
from herk.linalg.pattern import Pattern

# What a step answers beside OK; all of these are tried again, shorter.
OK, NO_CONVERGENCE, SINGULAR, NONFINITE, OFF_CONSTRAINTS, BRANCH, OVERTURNED = 0, -1, -2, -3, -4, -5, -6

# What steps of a large system ask Python for, and how it answers
NOTHING, SELECTION, PIVOTS, ENTRIES = 0, 1, 2, 3
MADE, NONE_FOUND = 1, 2

EPS = 2.220446049250313e-16  # rounding of 1

function_at = by_address("None(float, Floats, Floats, Floats)")  # (t, y, par, out)
residual_at = by_address("None(float, Floats, Floats, Floats, Floats)")  # (t, y, y', par, out): E y' - f
jacobian_at = by_address("None(float, Floats, Floats, float, Floats, Floats)")  # (t, y, y', cj, par, out)
product_at = residual_at  # (t, y, y', par, out): (E y')_y on its pattern


@dataclass(frozen=True)
class RadauMethod:
    """What solve_dae knows of the method: Radau IIA, from the fewest to the most stages it may have."""

    name: str = "radau5"
    fewest: int = 3
    most: int = 3
    adaptive: bool = True
    largest: int = 1000  # unknowns for which full matrices are reasonable
    full: bool = False  # have full matrices, of a large model too

    @property
    def mark(self) -> str:
        """Return what tells kept runs of one method from those of another."""
        return f"{self.name}_full" if self.full else self.name

    @property
    def order(self) -> int:
        """Return the order, the highest one."""
        return 2 * self.most - 1

    @property
    def error_order(self) -> int:
        """Return the order of the estimate with the fewest stages."""
        return self.fewest

    def takes(self, dae: Dae) -> bool:
        """Tell whether a system is not too large; on patterns none is, if E has as many rows as columns."""
        if dae.n <= self.largest:
            return True
        if hasattr(dae.generated, "sparse"):
            E = dae.generated.sparse.patterns["E"]  # type: ignore[union-attr]
        elif dae.generated is None and not callable(dae.E):
            E = Pattern.of(dae.E)
        else:  # a function shows only at a point what it is
            return dae.generated is None
        return len(np.unique(E.rows)) == len(np.unique(E.indices))


class Radau(State):
    """All a step needs. The equations of a step are `d` rows of E y' = f, then `m` constraints."""

    n: int
    m: int
    d: int
    # The method in force, see `order`
    s: int  # stages
    fewest: int
    most_stages: int
    since: int  # steps with it
    since_look: int  # steps since the way they make was looked at
    failed: int  # Newton failed since the last accepted step
    # Code by address
    general: int  # there is no code of a model: E, f and differences of them
    at_e: int
    at_f: int
    at_g: int
    at_jac_g: int
    at_g_t: int
    at_residual: int
    at_jacobian: int
    have_e: int  # E is a function, not a matrix
    e_blocks: int  # of E, whose determinants are to keep their signs, or [E; g_y]; 0: nobody looks
    parts: int  # of [S E; g_y] whose determinants are to keep theirs, if there are several
    e_turns: float  # the last time at which one had not
    have_jacobian: int
    have_g_t: int
    t_size: float  # in which functions of time change: for differences
    # What holds at the current point
    begun: int
    first: int  # no step was accepted yet
    fixed: int  # steps are taken as they are
    tangent: int  # the first step is predicted by y': with fixed steps
    settled: int  # just d rows of E are not zero: there is nothing to select
    unlike: int  # what is open at the start is not what linear equations say, or they say nothing
    selected: int
    always: int  # select at every step, whatever is in use
    in_units: int  # rows are chosen by the sizes of the unknowns: by largest entries they did not serve
    loyal: int  # between steps: rows are those at which the run was left
    turning: int  # and constraints are taken in the middle of the step,
    middle: int  # which is at work
    unseen: int  # Jacobians since the selection was last looked at
    fresh: int  # the Jacobian belongs to this point
    ahead: int  # its constraints to a point ahead
    at_new: int  # g_y was last evaluated at the new point
    careful: int  # steps from this point failed
    tardy: int  # steps at whose ends factors of the step are not tried: they were slow at the last one
    jacobian_valid: int
    factors_valid: int
    iterations: int
    most_iterations: int
    keep: int  # Newton converged so quickly that the Jacobian serves the next step too
    nfev: int
    ngev: int
    njev: int
    nlu: int
    nit: int
    changes: int  # of the selected rows
    step: int  # number of the one that was repeated for values between its ends,
    repeated: int  # and how that went
    rtol: float  # inside steps, see `order`
    rtol_asked: float
    newton_tolerance: float
    noise: float  # by how much the change of basis may enlarge rounding
    shorten: float  # what Newton advises after a failure
    theta: float  # rate of convergence
    convergence: float  # theta / (1 - theta)
    increment: float  # the last one, in units of the tolerance
    believed: float  # least one that a first increment is judged by
    opening: float  # the same of the first two iterations, when there last were two
    h: float  # of the step at work
    h_factors: float  # the factors belong to
    h_old: float  # of the last accepted step
    longest: float  # of those since rows were last chosen by other sizes
    ceiling: float  # length beyond which Newton, which failed not long ago, may fail again
    error_old: float
    sign: float  # of the determinant of [S E; g_y], 0 if the selection is new
    widest: float  # its largest modulus since then
    here: float  # that at the current point, 0 if it is not known
    there: float  # that at the new one
    linearised: float  # that of the Jacobian in use
    slack: float  # of what a component changes among stages that its polynomial may be off between them
    lasting: float  # time in which it fell by e lately
    shrinking: float  # rate at which that time shrinks
    left: float  # time until it may vanish
    waited: float  # time since that was seen,
    fallen: float  # and how far its logarithm has fallen since then
    pivot: float  # smallest one of [E; g_y] at the start
    t_look: float  # where that was
    t_low: float  # the span: differences in time do not leave it
    t_high: float
    stage_t: float
    residual: float
    worst_residual: float
    y: Floats
    new: Floats
    slope: Floats  # y' at the current point
    f: Floats  # at the current point
    scale: Floats  # of errors: atol + rtol |y|
    per: Floats  # 1 / scale
    reached: Floats  # the largest scale of an unknown so far, its unit in determinants; of many: its size
    leveled: Floats  # factors of the rows of Newton's matrices, which make all rows alike in units of `scale`
    floor: Floats  # sizes below which components count as zero
    atol: Floats
    error: Floats
    stage: Floats
    rate: Floats
    apart: Floats  # where a step of its own leads to within a step; the polynomial before it was put on g = 0
    delta: Floats  # solution of the real system
    full: Floats  # E y' - f in all rows, then g
    moved: Floats
    g: Floats
    g_moved: Floats
    right: Floats
    right_1: Floats
    right_2: Floats
    sides: Floats  # residuals of the stages, a row for each,
    turned: Floats  # and in the basis that makes A^-1 block diagonal
    rates: Floats  # Y' of the stages
    z: Floats  # stages minus y, a row for each
    w: Floats  # the same in the other basis
    old: Floats  # of the last step
    e_here: Floats  # n x n, at the current point
    e_sign: Floats  # of these determinants,
    e_new: Floats  # the same at a new point, with scratch
    mass: Floats  # the selected rows of E where the Jacobian was evaluated
    jacobian: Floats  # of the selected rows of E y' - f, then of g
    whole: Floats  # of all rows of E y' - f
    g_y: Floats
    lu: Floats  # factors of the real system
    re: Floats  # and of the complex ones, one behind the other
    im: Floats
    pair: Floats
    stacked: Floats
    tops: Floats
    peak: Floats  # largest value that each entry of E has had
    parameters: Floats
    tables: Floats  # the numbers of all methods that may be used; those in force are
    nodes: Floats
    inverse: Floats  # A^-1
    values: Floats  # its eigenvalues
    basis: Floats  # T
    back: Floats  # T^-1
    under: Floats  # 1 / what is under the Lagrange polynomials over 0 and the nodes
    first_slope: Floats  # their derivatives at 0
    lift: Floats  # and what they are at the stages of the next step
    rows: Wholes  # the selected ones, d of n
    chosen: Wholes  # 1: selected
    open: Wholes  # 1: not given at the start
    in_run: Wholes  # 1: selected where the run was left
    level: Wholes  # how deep each unknown is, see `depth`
    row_level: Wholes  # that of the derivative in each row of E y' = f
    e_block_row: Wholes  # rows of E, block by block,
    e_block_column: Wholes  # columns,
    e_block_start: Wholes  # and where blocks begin
    used: Wholes
    free: Wholes
    order: Wholes
    order_complex: Wholes
    # Of a large system: all matrices are values on patterns, see `on_patterns`
    sparse: int
    asked: int  # what Python is to find
    answered: int
    at_jac_f: int  # 0: there is no code for derivatives, differences stand in,
    at_jac_ey: int
    of_equations: int  # with these groups of columns,
    of_constraints: int  # and those of g
    tried: int  # the pattern was found by trying: it may lack entries that matter elsewhere
    misses: int  # failures of Newton since it was last looked at,
    forgiven: int  # and how many there may be before it is looked at again
    of_masses: int  # where factors are: of [S E; g_y],
    of_step: int  # of the real system,
    of_end: int  # of the same with g_y at the end of the step,
    of_pairs: Wholes  # of the complex ones
    stamp: int  # of the factors of the step
    start: Wholes  # rows of [E, (E y' - f)_y; g_y]
    column: Wholes
    first_g: int  # where the entries of g_y begin
    e_start: Wholes
    e_column: Wholes
    e_place: Wholes  # of entries of E, f_y, (E y')_y in the whole
    f_place: Wholes
    ey_place: Wholes
    unit: Floats  # of unknowns in the factors of the step, which the order of its pivots was found with,
    width: Floats  # and in those of [S E; g_y]
    response: Floats  # of [S E; g_y] to a right-hand side of ones or so: large where it is nearly singular
    # Functions of the stepper, for those who call them from elsewhere
    at_accept: int
    at_check: int
    at_sample: int
    recorded: int  # steps whose stages are kept,
    record: Floats  # elsewhere, for those who ask


def sizes(n: int, m: int, parameters: int, stages: int, tables: int) -> dict[str, int]:
    """Return the lengths of all arrays, in the order in which they stand."""
    vectors = ("y", "new", "slope", "f", "scale", "per", "leveled", "floor", "atol", "error", "stage", "rate")
    found = dict.fromkeys((*vectors, "reached", "delta", "moved", "right_1", "right_2", "tops"), n)
    found |= {"g": m, "g_moved": m, "right": n + m, "full": n + m, "pair": 2 * n, "apart": 2 * n}
    found |= dict.fromkeys(("sides", "turned", "rates", "z", "w", "old"), stages * n)
    found |= dict.fromkeys(("e_here", "peak", "mass", "jacobian", "whole", "lu"), n * n)
    found |= dict.fromkeys(("re", "im"), stages // 2 * n * n)
    found |= {"g_y": m * n, "stacked": (n + m) * n, "parameters": parameters, "tables": tables}
    found |= dict.fromkeys(("nodes", "values", "under", "first_slope"), stages)
    found |= dict.fromkeys(("inverse", "basis", "back", "lift"), stages * stages)
    found |= {"e_sign": n, "e_new": n + n * n, "e_block_start": n + 1, "response": 0}
    wholes = ("rows", "chosen", "open", "in_run", "level", "row_level", "free", "order")
    found |= dict.fromkeys(("e_block_row", "e_block_column"), n)
    return found | dict.fromkeys(wholes, n) | {"order_complex": stages // 2 * n, "used": n + m}


def allocate(
    n: int,
    m: int,
    parameters: int,
    method: RadauMethod,
    tables: Sequence[float],
    sparse: dict[str, int] | None = None,
) -> Radau:
    """Return the state of a run, all zero but the numbers of the methods; `sparse` has other lengths."""
    state = Radau(**(sizes(n, m, max(parameters, 1), method.most, len(tables)) | (sparse or {})))
    state.n, state.m, state.d = n, m, n - m
    state.fewest, state.most_stages, state.tables[:] = method.fewest, method.most, tables
    return state
