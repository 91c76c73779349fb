"""Where the compiled program of 2017 keeps its numbers: places in flat arrays, and how a step ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

FUNCTION = "void(float64, float64[::1], float64[::1])"  # name(t, x, out)
SOLVER = (
    "int64(float64, float64[::1], int64[::1], float64[::1], int64[::1])"  # solve(t, x, order, control, ints)
)

# How a stretch of steps ends.
FULL, FINISHED, OK, NEWTON, NOT_FINITE, UNDERFLOW, IRREDUCIBLE = 2, 1, 0, -1, -2, -3, -4

# Places in `control` (floats).
T, STEP, T_START, T_END, DELTA, TOL, PTOL, EPS0, BETA, LIMIT, T_FAILED = range(
    11
)  # LIMIT: of f where E has no rows
CONTROL_SIZE = 11

# Places in `ints`: the problem, the options, the counters, then the index lists.
N, M, STAGES, ORDER, ADAPTIVE, JOPT, ESTAT, MAX_NORM, KEEP_FINE = range(9)
F_AT, G_AT, JAC_AT, E_AT, NOPT = range(9, 14)
REQUIRED, RANK, FACTORED, DIAGONAL = range(
    14, 18
)  # about E: number of required components, rank, whether it is factored
ACCEPTED, REJECTED, UPDATES, SOLVES, RELUCTANT, ILL, STEPS, DONE = range(18, 26)
SOLVER_AT = 26  # 0 if there is none
BEYOND, BEYOND_AT_START = 27, 28  # how often f exceeded LIMIT, and whether it did at the first stage
LISTS = 29  # order of the components (n), rows of E (n), columns of E (n), pivot order of QR (n)

# Pieces of `mem` (floats) in the order of `sizes`; at[piece] is where one begins.
(
    START,
    COARSE,
    MIDDLE,
    FINE,
    RATES,
    VECTOR,
    RESIDUAL,
    CHANGED,
    RIGHT,
    JAC,
    ROWS,
    BLOCK,
    UPPER,
    INVERSE,
    LEADING,
) = range(15)


def sizes(n: int, m: int, s: int) -> tuple[int, ...]:
    """Return the lengths of the pieces of `mem`."""
    return (n, n, n, n, s * n, n, m, m, n, m * n, m * n, m * m, m * m, m * m, n * n)


def starts(n: int, m: int, s: int) -> Integers:
    """Return where each piece of `mem` begins, and its length at the end."""
    return np.concatenate([[0], np.cumsum(sizes(n, m, s))]).astype(np.int64)


def integers(values: dict[int, int], n: int) -> Integers:
    """Return `ints` with these values, all counters at zero, and the components in their own order."""
    ints = np.zeros(LISTS + 4 * n, dtype=np.int64)
    for place, value in values.items():
        ints[place] = value
    ints[LISTS : LISTS + n] = np.arange(n)
    return ints


def members(mask: int, n: int) -> tuple[int, ...]:
    """Return the components a bit mask stands for."""
    return tuple(i for i in range(n) if mask >> i & 1)
