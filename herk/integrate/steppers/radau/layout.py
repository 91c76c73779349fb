"""The state of a Radau run: what is in it, how long its arrays are, and what its numbers mean."""

from __future__ import annotations

from dataclasses import dataclass

from herk.jit.by_address import by_address
from herk.jit.state import Floats, State, Wholes

# What a step answers beside OK; all of these are tried again, shorter.
OK, NO_CONVERGENCE, SINGULAR, NONFINITE, OFF_CONSTRAINTS, BRANCH = 0, -1, -2, -3, -4, -5

EPS = 2.220446049250313e-16  # rounding of 1

function_at = by_address("None(float, Floats, Floats, Floats)")  # (t, y, par, out)
residual_at = by_address("None(float, Floats, Floats, Floats, Floats)")  # (t, y, y', par, out): E y' - f
jacobian_at = by_address("None(float, Floats, Floats, float, Floats, Floats)")  # (t, y, y', cj, par, out)


@dataclass(frozen=True)
class RadauMethod:
    """What solve_dae knows of the method: Radau IIA with three stages."""

    name: str = "radau5"
    order: int = 5
    error_order: int = 3
    adaptive: bool = True
    mark: str = "radau5"  # what tells kept runs of one method from those of another
    largest: int = 1000  # unknowns for which full matrices are reasonable


class Radau(State):
    """All a step needs. The equations of a step are `d` rows of E y' = f, then `m` constraints."""

    n: int
    m: int
    d: int
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
    have_jacobian: int
    have_g_t: int
    t_size: float  # in which functions of time change: for differences
    # What holds at the current point
    begun: int
    first: int  # no step was accepted yet
    fixed: int  # steps are taken as they are
    tangent: int  # the first step is predicted by y': with fixed steps
    settled: int  # just d rows of E are not zero: there is nothing to select
    selected: int
    always: int  # select at every step, whatever is in use
    in_units: int  # rows are chosen by the sizes of the unknowns: by largest entries they did not serve
    unseen: int  # Jacobians since the selection was last looked at
    fresh: int  # the Jacobian belongs to this point
    ahead: int  # its constraints to a point ahead
    careful: int  # a step from this point failed
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
    rtol: float  # inside steps, see `machine`
    newton_tolerance: float
    shorten: float  # what Newton advises after a failure
    theta: float  # rate of convergence
    convergence: float  # theta / (1 - theta)
    h: float  # of the step at work
    h_factors: float  # the factors belong to
    h_old: float  # of the last accepted step
    error_old: float
    sign: float  # of the determinant of [S E; g_y], 0 if the selection is new
    pivot: float  # smallest one of [E; g_y] at the start
    t_low: float  # the span: differences in time do not leave it
    t_high: float
    stage_t: float
    residual: float
    worst_residual: float
    y: Floats
    new: Floats
    slope: Floats  # y' at the current point
    f: Floats  # at the current point
    scale: Floats
    leveled: Floats  # factors of the rows of Newton's matrices, which make all rows alike in units of `scale`
    floor: Floats  # sizes below which components count as zero
    atol: Floats
    error: Floats
    stage: Floats
    rate: Floats
    delta: Floats  # solution of the real system
    full: Floats  # E y' - f in all rows
    moved: Floats
    g: Floats
    g_moved: Floats
    right: Floats
    right_1: Floats  # three right-hand sides in the basis that makes A^-1 block diagonal
    right_2: Floats
    right_3: Floats
    z: Floats  # stages minus y, three rows
    w: Floats  # the same in the other basis
    old: Floats  # of the last step
    e_here: Floats  # n x n, at the current point
    mass: Floats  # the selected rows of E where the Jacobian was evaluated
    jacobian: Floats  # of the selected rows of E y' - f, then of g
    whole: Floats  # of all rows of E y' - f
    g_y: Floats
    lu: Floats
    re: Floats
    im: Floats
    pair: Floats
    stacked: Floats
    tops: Floats
    peak: Floats  # largest entry that each row of E has had
    parameters: Floats
    rows: Wholes  # the selected ones, d of n
    chosen: Wholes  # 1: selected
    level: Wholes  # how deep each unknown is, see `levels`
    row_level: Wholes  # that of the derivative in each row of E y' = f
    used: Wholes
    free: Wholes
    order: Wholes
    order_complex: Wholes
    # Functions of the stepper, for those who call them from elsewhere
    at_accept: int
    at_check: int
    at_sample: int
    recorded: int  # steps whose stages are kept,
    record: Floats  # elsewhere, for those who ask


def sizes(n: int, m: int, parameters: int) -> dict[str, int]:
    """Return the lengths of all arrays, in the order in which they stand."""
    vectors = (
        "y",
        "new",
        "slope",
        "f",
        "scale",
        "leveled",
        "floor",
        "atol",
        "error",
        "stage",
        "rate",
        "delta",
        "full",
    )
    found = dict.fromkeys((*vectors, "moved", "right_1", "right_2", "right_3", "tops", "peak"), n)
    found |= {"g": m, "g_moved": m, "right": n + m, "z": 3 * n, "w": 3 * n, "old": 3 * n, "pair": 2 * n}
    found |= dict.fromkeys(("e_here", "mass", "jacobian", "whole", "lu", "re", "im"), n * n)
    found |= {"g_y": m * n, "stacked": (n + m) * n, "parameters": parameters}
    wholes = ("rows", "chosen", "level", "row_level", "free", "order", "order_complex")
    return found | dict.fromkeys(wholes, n) | {"used": n + m}


def allocate(n: int, m: int, parameters: int) -> Radau:
    """Return the state of a run, all zero."""
    state = Radau(**sizes(n, m, max(parameters, 1)))
    state.n, state.m, state.d = n, m, n - m
    return state
