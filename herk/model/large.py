"""A large DAE at one point, with sparse matrices: its functions, what determines y', what contradicts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.jit.state import Wholes
from herk.linalg.elimination import NONE, eliminated
from herk.model import evaluate
from herk.model.jacobian_pattern import sparse_jacobian

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PREFERRED = 1e-3  # of the largest entry: rows of E determine y' before constraints do


def linearised(dae: Dae, t: float, y: Array, t_end: float | None = None) -> evaluate.Linearisation:
    """Evaluate everything at (t, y)."""
    values: dict[str, Any] = {
        "E": sparse_matrix(dae, t, y), "f": evaluate.evaluate("f", dae.f, t, y, (dae.n,)),
        "g": evaluate.constraints(dae, t, y), "jac_g": sparse_jacobian(dae, t, y),
        "g_t": evaluate.time_derivative(dae, t, y, t_end),
    }  # fmt: skip
    evaluate.check_finite(values, t, y)
    some = np.abs(y[y != 0.0])
    y_size = np.where(y != 0.0, np.abs(y), np.median(some) if some.size else 1.0)
    f_size = evaluate.size_of_f(dae, t, y, values["f"], y_size)
    return evaluate.Linearisation(
        values["E"], values["f"], values["g"], values["jac_g"], values["g_t"], f_size, y_size
    )


def sparse_matrix(dae: Dae, t: float, y: Array) -> csr_array:
    """Return E at (t, y)."""
    from scipy.sparse import csr_array

    value: Any = evaluate.call("E", dae.E, t, y) if callable(dae.E) else dae.E
    if not hasattr(value, "tocsr"):
        value = evaluate.shaped("E", value, (dae.n, dae.n))
    elif value.shape != (dae.n, dae.n):
        value = evaluate.shaped("E", value.toarray(), (dae.n, dae.n))
    matrix = csr_array(value, dtype=float, copy=True)
    matrix.eliminate_zeros()
    return matrix


def stack_of(here: evaluate.Linearisation) -> csr_array:
    """Return [E; dg/dy], rows in units of their largest entries."""
    from scipy.sparse import csr_array, diags_array, vstack

    stacked = vstack([here.E, here.jac], format="csr")
    tops = np.asarray(abs(stacked).max(axis=1).todense()).ravel()
    return csr_array(diags_array(1.0 / np.where(tops > 0.0, tops, 1.0)) @ stacked)


def equations_of(stacked: csr_array, n: int) -> Wholes:
    """Return rows of [E; dg/dy] that determine y', those of E first; fewer than n if it is not determined."""
    turned = stacked.T.tocsr()
    cost = (np.arange(turned.shape[1]) >= n).astype(np.int64)
    found = np.zeros(0, dtype=np.int64)
    for local in (True, False):
        if found.size < n:
            pivots = eliminated(turned, np.arange(n), cost=cost, threshold=PREFERRED, local=local).pivot
            found = pivots[pivots != NONE]
    return found


def drifting(here: evaluate.Linearisation, tolerance: float, slow: float) -> list[tuple[int, float]]:
    """Return the constraints that do not stay zero along E y' = f, with their derivatives."""
    from scipy.sparse.linalg import splu

    n, stacked = len(here.f), stack_of(here)
    rows = equations_of(stacked, n)
    if len(rows) < n:
        return []
    tops = np.asarray(abs(here.E).max(axis=1).todense()).ravel()
    under = np.asarray(abs(here.jac).max(axis=1).todense()).ravel()
    tops = np.concatenate([tops, under])
    right = np.concatenate([here.f, -here.g_t]) / np.where(tops > 0.0, tops, 1.0)
    solver = splu(stacked[rows].tocsc())
    rate = solver.solve(right[rows])
    rate += solver.solve(right[rows] - stacked[rows] @ rate)
    drift, sizes = here.jac @ rate + here.g_t, abs(here.jac)
    y_size = np.ones(n) if here.y_size is None else here.y_size
    speed = np.abs(rate) + slow * np.max(np.abs(rate) / y_size, initial=0.0) * y_size
    limits = tolerance * (sizes @ speed + np.abs(here.g_t))
    return [(int(i), float(drift[i])) for i in np.flatnonzero(~(np.abs(drift) <= limits))]
