"""The memory of a run, shared by Python and compiled code: two flat arrays, and names for the places in them.

Compiled kernels are called through pointers once per step; two arrays are cheap to pass, twenty would not be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from herk.core.dae import Array
from herk.integrate.steppers.half_explicit.tableau import Tableau

# What a kernel is asked to do.
STEP, ACCEPT, EXTEND, RATE, COMPLETE = 0, 1, 2, 3, 4

# What a kernel answers: a step that fails is tried again, shorter; an accepted one may ask for a new
# selection.
WORSE = 1
OK, NO_CONVERGENCE, SINGULAR, E_CHANGED, NONFINITE, BRANCH, ROUGH = 0, -1, -2, -3, -4, -5, -6

# Places in the integer array: sizes, the selection, flags, counters; then where each block of floats starts.
N, M, STAGES, EXTRA, ESTIMATES = 0, 1, 2, 3, 4
DIFFERENTIAL, PREDICTED, GUESSED, PIVOTS, KERNEL = 5, 6, 7, 8, 9
HAVE_JACOBIAN, HAVE_G_T, FULL_NEWTON, E_MODE, E_RANK, LU_VALID, E_VALID = 10, 11, 12, 13, 14, 15, 16
NFEV, NGEV, NJEV, NLU, NIT, NREJECT = 17, 18, 19, 20, 21, 22
AT_E, AT_F, AT_G, AT_JAC_G, AT_G_T = 24, 25, 26, 27, 28  # addresses of the user's functions
HAVE_E = 29  # E is a function, not a matrix
PROBES = 30  # how many stages tell between the ends of a step whether the algebraic components are resolved
PROBE = 62  # their numbers, three of them
STAGE_COMPLETE, STAGE_RATE, STAGE_RESIDUAL = 65, 66, 67  # addresses of stage code
GENERAL = 68  # that code is for systems given by callables: newton.py, rate.py
LAST_STAGE = 69  # the stage in work is the new point
ANY_SIZE = 70  # address of the kernel for run-time sizes
AT = 32  # offsets of the blocks of floats
ORDER = 72  # n components: differential, guessed with a derivative, other guessed, other algebraic
# Behind ORDER, n entries each: required flags, rows and columns of the reduced E, row orders of the Newton LU
# and of the LU of E.

EPS = 2.220446049250313e-16  # rounding of 1
DETERIORATED = 0.7  # a pivot that fell below this part of its best value asks for a new selection
FRESH_SIZE = 16  # up to this many constraints a Jacobian per step costs less than the iterations it saves

# Ways to get y' from E y' = f.
E_DIAGONAL, E_CONSTANT, E_VARYING, E_STACKED = 0, 1, 2, 3

# Scalars of the float array: Newton tolerances inside and at the end of a step, rate of the last Newton
# solve, last stage's time, largest |g| at the new point and at all accepted points.
TOLERANCE, TIGHT, CONTRACTION, STAGE_T, RESIDUAL, WORST_RESIDUAL = 0, 1, 2, 3, 4, 5
# How far algebraic components are from a parabola within the step, beside their change: those whose
# derivative occurs, the others; then two weights for each of the last two probes.
ROUGHNESS, ROUGHNESS_FREE, WEIGHTS = 6, 7, 8
SCALARS = 12
UNSEEN = 0.05  # changes that are small beside this part of a component are no sign of anything

# Blocks of the float array.
(Y, NEW, STAGE, FLOOR, SLOPE, PIVOT, BEST_PIVOT, ERROR, K, TABLE_A, TABLE_C, TABLE_E, TABLE_B,
 YDOT, F, G, JACOBIAN, LU, E_NOW, E_LU, STACKED, RHS, SIGN, PIVOT_NOW, PIVOT_BEFORE, PIVOT_PEAK, PROBED,
 PARAMETERS, WORK) = range(29)  # fmt: skip


@dataclass(frozen=True)
class Memory:
    """The two arrays, with views on the blocks Python reads or writes."""

    floats: Array
    ints: np.ndarray

    def view(self, block: int, length: int) -> Array:
        """Return a view on the first entries of a block."""
        start = int(self.ints[AT + block])
        return self.floats[start : start + length]


@lru_cache(maxsize=256)
def rows_of(tableau: Tableau) -> tuple[Array, Array, Array]:
    """Return one matrix for all stages (the new point is stage s, those of dense output follow).

    Their nodes, and the error estimates.
    """
    s, k = tableau.stages, len(tableau.dense_c)
    rows = np.zeros((s + 1 + k, s + 1 + k))
    rows[:s, :s], rows[s, :s], rows[s + 1 :] = tableau.A, tableau.b, tableau.dense_A
    estimates = np.zeros((len(tableau.error), s + 1))
    for row, error in zip(estimates, tableau.error, strict=True):
        row[: len(error)] = error
    return rows, np.concatenate([tableau.c, [1.0], tableau.dense_c]), estimates


@lru_cache(maxsize=256)
def probes(tableau: Tableau) -> tuple[tuple[int, int, int], tuple[float, ...]] | None:
    """Return three stages inside the step.

    And the weights that predict the last two from a parabola through start, first and end.

    Later stages are more exact, so of several near a node the last one is taken. None: the tableau has no two
    nodes inside the step.
    """
    inside = [i for i in range(1, tableau.stages) if 0.05 < tableau.c[i] < 0.95]
    if len({float(tableau.c[i]) for i in inside}) < 2:
        return None
    first = max(inside, key=lambda i: (-round(abs(float(tableau.c[i]) - 0.45), 1), i))
    others = [i for i in inside if abs(tableau.c[i] - tableau.c[first]) > 0.05]
    a, chosen, weights = float(tableau.c[first]), [], []
    for node in (0.2, 0.75):
        chosen.append(max(others, key=lambda i: (-round(abs(float(tableau.c[i]) - node), 1), i)))
        b = float(tableau.c[chosen[-1]])
        weights += [b * (b - 1.0) / (a * (a - 1.0)), b * (b - a) / (1.0 - a)]
    return (first, chosen[0], chosen[1]), tuple(weights)


@lru_cache(maxsize=256)
def starts(n: int, m: int, tableau: Tableau, parameters: int = 1) -> tuple[int, ...]:
    """Return where each block of floats starts; generated kernels have these numbers as literals."""
    rows, nodes, estimates = rows_of(tableau)
    dense = 0 if tableau.dense_B is None else tableau.dense_B.size
    sizes = (
        n,
        n,
        n,
        n,
        n,
        m + 1,
        m + 1,
        len(estimates) * n,
        len(rows) * n,
        rows.size,
        nodes.size,
        estimates.size,
        dense,
        n,
        n,
        m,
        m * n,
        m * m,
        n * n,
        n * n,
        (n + m) * n,
        n + m,
        m + 1,
        m + 1,
        m + 1,
        m + 1,
        3 * n,
        parameters,
    )
    return (SCALARS, *(SCALARS + np.cumsum(sizes)).tolist())


def allocate(n: int, m: int, tableau: Tableau, work: int, parameters: Array | None = None) -> Memory:
    """Return the memory of a run with the tableau and the values of parameters written into it."""
    given = np.zeros(1) if parameters is None else parameters
    places = starts(n, m, tableau, given.size)
    ints = np.zeros(ORDER + 6 * n, dtype=np.int64)
    ints[[N, M, STAGES, EXTRA, ESTIMATES]] = n, m, tableau.stages, len(tableau.dense_c), len(tableau.error)
    ints[AT : AT + len(places)] = places
    memory = Memory(np.zeros(places[WORK] + max(work, 1)), ints)
    dense = np.zeros(0) if tableau.dense_B is None else tableau.dense_B
    for block, values in zip((TABLE_A, TABLE_C, TABLE_E, TABLE_B), (*rows_of(tableau), dense), strict=True):
        memory.view(block, values.size)[:] = values.ravel()
    memory.floats[CONTRACTION] = 0.1
    memory.view(PARAMETERS, given.size)[:] = given
    known = probes(tableau)
    if known is not None and m:
        ints[PROBES] = 3
        ints[PROBE : PROBE + 3], memory.floats[WEIGHTS : WEIGHTS + 4] = known
    return memory
