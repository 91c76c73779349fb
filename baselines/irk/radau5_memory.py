"""The memory of a Radau5 run, shared by Python and compiled code.

Named arrays, and names for the places in the scalars.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from herk.core.dae import Array
from herk.jit.pointers import at

RESIDUAL = "void(float64, float64[::1], float64[::1], float64[::1])"  # name(t, z, z', out): E z' - f
# name(t, z, z', cj, out): cj E + F_z by rows
JACOBIAN = "void(float64, float64[::1], float64[::1], float64, float64[::1])"

residual_at = at(RESIDUAL)
jacobian_at = at(JACOBIAN)

# Places in `ints`: sizes and addresses, then what the next attempt has to do, then counters.
N, AT_RESIDUAL, AT_JACOBIAN, AT_E, E_CONSTANT, PROJECTED = range(6)
FIRST, LAST, REJECTED, FRESH, NEW_JACOBIAN, NEW_LU, SINGULAR, ITERATIONS = range(
    8, 16
)  # FRESH: the Jacobian belongs to this point
NSTEP, NREJECT, NFEV, NJEV, NLU, NIT, NGEV = range(16, 23)
WANTED, DONE, KEPT, CAUSE = (
    24,
    25,
    26,
    27,
)  # output: times are given; how many of them are served, or points of this chunk; last failure
INTS = 32

# Places in `run`.
(
    T,
    H,
    T_END,
    RTOL,
    H_MAX,
    NEWTON_TOLERANCE,
    THETA,
    CONVERGENCE,
    H_OLD,
    H_ACCEPTED,
    ERROR_ACCEPTED,
    KEEP_BELOW,
    SAFETY,
    ERROR,
    QUOTIENT,
) = range(15)
RUN = 16

# How a chunk of attempts ends.
CHUNK_FULL, FINISHED, UNDERFLOW, SINGULAR_MATRIX, NO_CONVERGENCE, NONFINITE = 0, 1, -1, -2, -3, -4


class Memory(NamedTuple):
    """All arrays of a run; vectors have n entries, `z` (stages), `w` (stages in the new basis).

    `r` (residuals), `old` have three rows.
    """

    ints: np.ndarray
    run: Array
    levels: np.ndarray
    atol: Array
    y: Array
    before: Array
    slope: Array
    f0: Array
    scale: Array
    error: Array
    stage: Array
    rate: Array
    z: Array
    w: Array
    r: Array
    old: Array
    jac: Array
    mass: Array  # E where the Jacobian was evaluated
    mass_here: Array  # E at the current point
    lu: Array
    order: np.ndarray
    complex_lu: np.ndarray
    complex_order: np.ndarray
    complex_right: np.ndarray
    complex_x: np.ndarray


def allocate(n: int) -> Memory:
    """Return zeroed memory for n unknowns."""
    three, square = (3, n), n * n
    shapes = {
        "run": RUN,
        "z": three,
        "w": three,
        "r": three,
        "old": three,
        "jac": square,
        "mass": square,
        "mass_here": square,
        "lu": square,
    }
    whole = {"ints": INTS, "levels": n, "order": n, "complex_order": n}
    rooms = {"complex_lu": square, "complex_right": n, "complex_x": n}
    arrays = {name: np.zeros(shapes.get(name, n)) for name in Memory._fields}
    arrays |= {name: np.zeros(size, dtype=np.int64) for name, size in whole.items()}
    arrays |= {name: np.zeros(size, dtype=np.complex128) for name, size in rooms.items()}
    arrays["ints"][N] = n
    return Memory(**arrays)
