"""A large DAE at one point, with sparse matrices: its functions, what determines y', what contradicts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.jit.state import Wholes
from herk.linalg.balance import evened
from herk.linalg.elimination import NONE, eliminated
from herk.linalg.sparse_rank import balanced
from herk.linalg.superlu import factored
from herk.model import evaluate
from herk.model.jacobian_pattern import sparse_jacobian

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PREFERRED = 1e-3  # of the largest entry: rows of E determine y' before constraints do
DRAWS = 64  # sums of absolute values are found to a fifth


def linearised(
    dae: Dae, t: float, y: Array, t_end: float | None = None, floor: Array | None = None
) -> evaluate.Linearisation:
    """Evaluate everything at (t, y)."""
    values: dict[str, Any] = {
        "E": sparse_matrix(dae, t, y), "f": evaluate.evaluate("f", dae.f, t, y, (dae.n,)),
        "g": evaluate.constraints(dae, t, y), "jac_g": sparse_jacobian(dae, t, y),
        "g_t": evaluate.time_derivative(dae, t, y, t_end),
    }  # fmt: skip
    return evaluate.at_point(dae, t, y, values, floor)


def sparse_matrix(dae: Dae, t: float, y: Array, *, stored: bool = False) -> csr_array:
    """Return E at (t, y); zeros that a function stores in it are left out, unless they are asked for."""
    from scipy.sparse import csr_array

    value: Any = evaluate.call("E", dae.E, t, y) if callable(dae.E) else dae.E
    if not hasattr(value, "tocsr"):
        value = evaluate.shaped("E", value, (dae.n, dae.n))
    elif value.shape != (dae.n, dae.n):
        value = evaluate.shaped("E", value.toarray(), (dae.n, dae.n))
    matrix = csr_array(value, dtype=float, copy=True)
    if not stored:
        matrix.eliminate_zeros()
    return matrix


def stack_of(here: evaluate.Linearisation) -> csr_array:
    """Return [E; dg/dy], rows in units of their largest entries."""
    from scipy.sparse import vstack

    stacked: csr_array = vstack([here.E, here.jac], format="csr")
    rows, tops = np.repeat(np.arange(stacked.shape[0]), np.diff(stacked.indptr)), np.zeros(stacked.shape[0])
    np.maximum.at(tops, rows, np.abs(stacked.data))
    stacked.data = (1.0 / np.where(tops > 0.0, tops, 1.0))[rows] * stacked.data
    return stacked


def equations_of(stacked: csr_array, n: int) -> Wholes:
    """Return rows of [E; dg/dy] that determine y', those of E first; fewer than n if it is not determined."""
    pivots = _pivots(stacked, n)
    found: Wholes = pivots[pivots != NONE]
    return found


def _pivots(stacked: csr_array, n: int) -> Wholes:
    """Return for each unknown the row that determines its derivative, or NONE.

    In units of its own only where numbers as they are do not tell: entries that are rounding become large.
    """
    best = np.full(n, NONE)
    for scaled in (False, True):
        turned = (evened(stacked) if scaled else stacked).T.tocsr()
        cost = (np.arange(turned.shape[1]) >= n).astype(np.int64)
        for local in (True, False):
            pivots = eliminated(turned, np.arange(n), cost=cost, threshold=PREFERRED, local=local).pivot
            if (pivots == NONE).sum() < (best == NONE).sum():
                best = pivots
            if not (best == NONE).any():
                return best
    return best


def drifting(here: evaluate.Linearisation, tolerance: float, slow: float) -> list[tuple[int, float]]:
    """Return the constraints that do not stay zero along E y' = f, with their derivatives.

    They are judged beside the size of their terms, as those of small systems are: rates that are zero but for
    rounding count as what the terms of f make of them.
    """
    rates, right, terms = _rates(here)
    rate = rates(right)
    drift, under = here.jac @ rate + here.g_t, abs(here.jac)
    y_size = here.y_size
    moved = np.asarray(abs(here.E).sum(axis=0)).ravel() > 0.0  # f says how fast these move
    wrong, speed = np.arange(len(drift)), np.abs(rate)
    for closer in (False, True):  # |y'| is never more than the size of its terms, which costs more
        if closer and wrong.size:
            speed = np.where(moved, np.maximum(speed, _absolute(rates, terms)), speed)
        fastest = np.max(speed[moved] / y_size[moved], initial=0.0)
        limits = tolerance * (under @ (speed + slow * fastest * y_size) + np.abs(here.g_t))
        wrong = np.flatnonzero(~(np.abs(drift) <= limits))
    return [(int(i), float(drift[i])) for i in wrong]


def rate_of(here: evaluate.Linearisation) -> Array:
    """Return y' where E y' = f and the constraints determine it."""
    rates, right, _ = _rates(here)
    return rates(right)


def _rates(here: evaluate.Linearisation) -> tuple[Callable[[Array], Array], Array, Array]:
    """Return what gives y' from a right side of its equations, their right side and the size of its terms.

    What E and g leave open does not move: constraints that are no such equation do not depend on it.
    """
    from scipy.sparse import csr_array, eye_array, vstack

    n = len(here.f)
    whole = csr_array(vstack([here.E, here.jac, eye_array(n)], format="csr"))
    pivots = _pivots(stack_of(here), n)
    chosen = np.where(pivots == NONE, len(here.g) + n + np.arange(n), pivots)
    matrix, rows, columns = balanced(whole[chosen])
    factor = factored(matrix)

    def rates(right: Array) -> Array:
        scaled = (rows * right.T).T
        found = factor.solve(scaled)
        for _ in range(2):  # refined, so that small rates beside large ones are right too
            found += factor.solve(scaled - matrix @ found)
        return np.asarray((columns * found.T).T)

    nothing = np.zeros(n)
    right = np.concatenate([here.f, -here.g_t, nothing])[chosen]
    return rates, right, np.concatenate([here.f_size, 0.0 * here.g_t, nothing])[chosen]


def _absolute(linear: Callable[[Array], Array], size: Array) -> Array:
    """Return |A| @ size for a matrix A known by its products only.

    The sum of a_j c_j with independent c_j of Cauchy's distribution has the median |a_1| + |a_2| + ... of its
    absolute values (Indyk 2006, Stable distributions).
    """
    draws = np.random.default_rng(11).standard_cauchy((len(size), DRAWS))
    return np.asarray(np.median(np.abs(linear(size[:, None] * draws)), axis=1))
