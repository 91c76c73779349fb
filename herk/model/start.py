"""Consistent start: does y0 satisfy every constraint, do the constraints fit the equations, and if not, what is the least change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.model.evaluate import CallableError, Linearisation, constraints, jacobian, linearise, matrix

__all__ = ["Linearisation", "check_constraints", "completed_start", "consistent_start", "jacobian", "linearise"]

EPS = float(np.finfo(float).eps)
MOST_ITERATIONS = 60


def free_columns(E: Array) -> tuple[int, ...]:
    """Return the components whose derivative does not occur: the required algebraic ones if E is regularly reducible."""
    return tuple(int(j) for j in np.flatnonzero(~E.any(axis=0)))


def residual_limits(jac: Array, y: Array, rtol: float, atol: Array | float) -> Array:
    """Return how large each residual may be if every component is known to atol + rtol |y|, and never less than rounding."""
    return np.abs(jac) @ (atol + rtol * np.abs(y)) + 16 * EPS * (np.abs(jac) @ np.abs(y)) + 1e-300


def inconsistency(dae: Dae, t: float, y: Array, rtol: float, atol: Array | float, here: Linearisation | None = None) -> str | None:
    """Return a sentence naming the constraints y violates, or None; `here` saves evaluations if it is known."""
    g, jac = (here.g, here.jac) if here is not None else (constraints(dae, t, y), jacobian(dae, t, y))
    limits = residual_limits(jac, y, rtol, atol)
    if (np.abs(g) <= limits).all():
        return None
    listed = ", ".join(f"row {i} of g is {g[i]:.3g} (allowed {limits[i]:.1g})" for i in range(dae.m) if not abs(g[i]) <= limits[i])
    return f"y0 is inconsistent at t = {t!r}: {listed}."


def check_constraints(dae: Dae, t: float, y: Sequence[float] | Array, tolerance: float = 1e-6) -> list[str]:
    """Differentiate g along E y' = f and return a sentence for every row that does not stay zero, i.e. that contradicts the equations."""
    return contradictions(linearise(dae, t, np.array(y, dtype=float)), t, tolerance)


def contradictions(here: Linearisation, t: float, tolerance: float = 1e-6) -> list[str]:
    """Return what check_constraints finds, from values at hand."""
    m = len(here.g)
    if not m:
        return []
    rate, free = _rates(here)
    drift = here.jac @ rate + here.g_t
    scale = np.abs(here.jac) @ np.abs(rate) + np.abs(here.g_t)
    if free:
        rate[free] = np.linalg.lstsq(here.jac[:, free], -drift, rcond=None)[0]
        drift = here.jac @ rate + here.g_t
    return [
        f"Row {i} of g contradicts E y' = f: along the flow its derivative is {drift[i]:.3g} instead of 0 (t = {t!r})."
        for i in range(m)
        if not abs(drift[i]) <= tolerance * (scale[i] + 1e-3)
    ]


def _rates(here: Linearisation) -> tuple[Array, list[int]]:
    """Return y' from E y' = f, with the help of g if E mixes derivatives, and the components whose derivative stays open."""
    E, n = here.E, len(here.f)
    free = list(free_columns(E))
    diagonal = np.diagonal(E)
    if np.count_nonzero(E) == np.count_nonzero(diagonal):
        return np.divide(here.f, diagonal, out=np.zeros(n), where=diagonal != 0), free
    bound = [j for j in range(n) if j not in free]
    if np.linalg.matrix_rank(E) < len(bound):  # the constraints are needed to tell the derivatives that E mixes apart
        matrix, right = _equilibrated(np.vstack([E, here.jac]), np.concatenate([np.where(E.any(axis=1), here.f, 0.0), -here.g_t]))
        rate = np.zeros(n)
        for _ in range(3):  # refined, so that small rates beside large ones are right too
            rate += np.linalg.lstsq(matrix, right - matrix @ rate, rcond=None)[0]
        return rate, []
    rate = np.zeros(n)
    rate[bound] = np.linalg.lstsq(E[:, bound], here.f, rcond=None)[0]
    return rate, free


def _equilibrated(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Return the system with rows of equal size: equations in different units count alike."""
    sizes = _row_sizes(matrix)
    sizes[sizes == 0] = 1.0
    return matrix / sizes[:, None], right / sizes


def _row_sizes(matrix: Array) -> Array:
    sizes: Array = np.abs(matrix).max(axis=1, initial=0.0)
    return sizes


def consistent_start(dae: Dae, t0: float, y0: Sequence[float | None] | Array, fixed: Sequence[int] = ()) -> Array:
    """Return a consistent y near y0: unknown (None, nan) and required algebraic components move first, others only if they must.

    Components listed in `fixed` never move. The change of the others is as small as possible, relative to their size.
    """
    y, unknown = _start_vector(dae, y0)
    bad = [i for i in fixed if not 0 <= i < dae.n or i in unknown]
    if bad:
        raise InputError(f"fixed names components {bad}, which are unknown or outside 0..{dae.n - 1}.")
    required = free_columns(matrix(dae, t0, np.where(np.isnan(y), 1.0, y)))
    first = sorted({*unknown, *required} - set(fixed))
    others = [i for i in range(dae.n) if i not in first and i not in fixed]
    return _solve(dae, t0, y, unknown, first, others)


def completed_start(dae: Dae, t0: float, y0: Sequence[float | None] | Array) -> Array:
    """Return y0 with its unknown components (None, nan) computed from the constraints, the given ones untouched."""
    y, unknown = _start_vector(dae, y0)
    if not unknown:
        return y
    names = ", ".join(dae.names[i] for i in unknown)
    if len(unknown) > dae.m:
        raise InputError(f"The start values of {names} are left open, but {dae.m} constraints cannot determine {len(unknown)} of them.")
    try:
        found = _solve(dae, t0, y, unknown, unknown, [])
    except InputError as error:
        raise InputError(f"The start values of {names} cannot be computed from the constraints with the others as given: {error}") from None
    if np.linalg.matrix_rank(jacobian(dae, t0, found)[:, unknown]) < len(unknown):
        raise InputError(f"The constraints do not determine the start values of {names}; give some of them.")
    return found


def _start_vector(dae: Dae, y0: Sequence[float | None] | Array) -> tuple[Array, list[int]]:
    y = np.array([np.nan if value is None else value for value in y0], dtype=float)
    if y.shape != (dae.n,):
        raise InputError(f"y0 has shape {y.shape}; {dae.n} values are needed.")
    return y, [int(i) for i in np.flatnonzero(np.isnan(y))]


def _solve(dae: Dae, t: float, y: Array, unknown: list[int], first: list[int], others: list[int]) -> Array:
    """Run Gauss-Newton from a few start values for the unknown components; the first that converges is taken."""
    message = ""
    for guess in (0.0, 1.0, -1.0, 0.1, 10.0) if unknown else (0.0,):
        start = y.copy()
        start[unknown] = guess
        try:
            with np.errstate(all="ignore"):  # iterates may run away; then another start value is tried
                found, message = _newton(dae, t, start, first, others)
        except CallableError as error:
            if not unknown:
                raise
            found, message = None, str(error)
        if found is not None:
            return found
    raise InputError(f"No consistent start was found near y0: {message}")


def _newton(dae: Dae, t: float, y: Array, first: list[int], others: list[int]) -> tuple[Array | None, str]:
    """Return a solution of g = 0, or None and the rows that stay wrong."""
    scale = np.abs(y) + 1.0
    best, nearest_point, smallest, stalled = np.inf, y, np.zeros(dae.m), 0
    for _ in range(MOST_ITERATIONS):
        g, jac = constraints(dae, t, y), jacobian(dae, t, y)
        if not (np.isfinite(g).all() and np.isfinite(jac).all()):
            return None, "g or its Jacobian is not finite there."
        limits = residual_limits(jac, y, EPS, EPS**2 * scale)  # zeros have no rounding of their own
        size = float(np.max(np.abs(g) / limits, initial=0.0))
        if size <= 1.0:
            return y, ""
        stalled = stalled + 1 if size >= 0.5 * best else 0
        if size < best:
            best, nearest_point, smallest = size, y, g
        if stalled > 6:
            break
        y = y + _correction(g, jac, scale, first, others)
    if best <= 1e3:  # at rounding level, but for a badly scaled constraint
        return nearest_point, ""
    rows = ", ".join(f"row {i} of g stays at {smallest[i]:.3g}" for i in np.argsort(-np.abs(smallest))[:3])
    return None, f"{rows}."


def _correction(g: Array, jac: Array, scale: Array, first: list[int], others: list[int]) -> Array:
    """Return the Newton correction that moves `others` only for what `first` cannot reach (left null space of their columns)."""
    change = np.zeros(len(scale))
    sizes = _row_sizes((jac * scale)[:, first])
    sizes[sizes == 0] = _row_sizes(jac * scale)[sizes == 0]
    sizes[sizes == 0] = 1.0
    jac, g = jac / sizes[:, None], g / sizes  # by what `first` can do for each row, in whatever units
    if others:
        left, sizes, _ = np.linalg.svd(jac[:, first] * scale[first]) if first else (np.eye(len(g)), np.zeros(0), None)
        rank = int(np.sum(sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300)))
        null = left[:, rank:].T
        open_rows, right = _equilibrated(null @ (jac[:, others] * scale[others]), -null @ g)
        change[others] = scale[others] * np.linalg.lstsq(open_rows, right, rcond=1e-12)[0]
    if first:
        change[first] = scale[first] * np.linalg.lstsq(jac[:, first] * scale[first], -(g + jac @ change), rcond=1e-12)[0]
    return change
