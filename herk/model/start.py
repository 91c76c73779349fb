"""Consistent start: does y0 satisfy every constraint, do the constraints fit the equations, and if not, what is the least change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array

EPS = float(np.finfo(float).eps)
MOST_ITERATIONS = 60


@dataclass(frozen=True)
class Linearisation:
    """E, f, g and the derivatives of g at one point, as arrays."""

    E: Array
    f: Array
    g: Array
    jac: Array
    g_t: Array


def linearise(dae: Dae, t: float, y: Array) -> Linearisation:
    """Evaluate everything at (t, y); missing derivatives by differences."""
    E = np.array(dae.E(t, y) if callable(dae.E) else dae.E, dtype=float).reshape(dae.n, dae.n)  # noqa: N806
    g = constraints(dae, t, y)
    step = 6e-6 * (abs(t) + 1.0)
    if dae.g_t is not None:
        g_t = np.array(dae.g_t(t, y), dtype=float).reshape(dae.m)
    else:
        g_t = (constraints(dae, t + step, y) - constraints(dae, t - step, y)) / (2 * step)
    return Linearisation(E, np.array(dae.f(t, y), dtype=float).reshape(dae.n), g, jacobian(dae, t, y), g_t)


def constraints(dae: Dae, t: float, y: Array) -> Array:
    """Return g(t, y), an empty vector if there is none."""
    return np.array(dae.g(t, y), dtype=float).reshape(dae.m) if dae.g is not None and dae.m else np.zeros(0)


def jacobian(dae: Dae, t: float, y: Array) -> Array:
    """Return dg/dy, by central differences if the DAE does not bring it."""
    if dae.jac_g is not None:
        return np.array(dae.jac_g(t, y), dtype=float).reshape(dae.m, dae.n)
    columns = np.zeros((dae.m, dae.n))
    for j in range(dae.n):
        shift = np.zeros(dae.n)
        shift[j] = 6e-6 * (abs(y[j]) + 1e-3)
        columns[:, j] = (constraints(dae, t, y + shift) - constraints(dae, t, y - shift)) / (2 * shift[j])
    return columns


def free_columns(E: Array) -> tuple[int, ...]:  # noqa: N803
    """Return the components whose derivative does not occur: the required algebraic ones if E is regularly reducible."""
    return tuple(int(j) for j in np.flatnonzero(~E.any(axis=0)))


def residual_limits(jac: Array, y: Array, rtol: float, atol: Array | float) -> Array:
    """Return how large each residual may be if every component is known to atol + rtol |y|, and never less than rounding."""
    return np.abs(jac) @ (atol + rtol * np.abs(y)) + 16 * EPS * (np.abs(jac) @ np.abs(y)) + 1e-300


def inconsistency(dae: Dae, t: float, y: Array, rtol: float, atol: Array | float) -> str | None:
    """Return a sentence naming the constraints y violates, or None."""
    g, limits = constraints(dae, t, y), residual_limits(jacobian(dae, t, y), y, rtol, atol)
    rows = [i for i in range(dae.m) if not abs(g[i]) <= limits[i]]
    if not rows:
        return None
    listed = ", ".join(f"row {i} of g is {g[i]:.3g} (allowed {limits[i]:.1g})" for i in rows)
    return f"y0 is inconsistent at t = {t!r}: {listed}."


def check_constraints(dae: Dae, t: float, y: Sequence[float] | Array, tolerance: float = 1e-6) -> list[str]:
    """Differentiate g along E y' = f and return a sentence for every row that does not stay zero, i.e. that contradicts the equations."""
    point = np.array(y, dtype=float)
    at = linearise(dae, t, point)
    free = list(free_columns(at.E))
    bound = [j for j in range(dae.n) if j not in free]
    rate = np.zeros(dae.n)
    if bound:
        rate[bound] = np.linalg.lstsq(at.E[:, bound], at.f, rcond=None)[0]
    if not free and np.linalg.matrix_rank(at.E) < dae.n:  # E mixes derivatives: g has to help
        rate = np.linalg.lstsq(np.vstack([at.E, at.jac]), np.concatenate([at.f, -at.g_t]), rcond=None)[0]
    drift = at.jac @ rate + at.g_t
    scale = np.abs(at.jac) @ np.abs(rate) + np.abs(at.g_t)
    if free and dae.m:
        rate[free] = np.linalg.lstsq(at.jac[:, free], -drift, rcond=None)[0]
        drift = at.jac @ rate + at.g_t
    return [
        f"Row {i} of g contradicts E y' = f: along the flow its derivative is {drift[i]:.3g} instead of 0 (t = {t!r})."
        for i in range(dae.m)
        if not abs(drift[i]) <= tolerance * (scale[i] + 1e-3)
    ]


def consistent_start(dae: Dae, t0: float, y0: Sequence[float | None] | Array, fixed: Sequence[int] = ()) -> Array:
    """Return a consistent y near y0: unknown (None, nan) and required algebraic components move first, others only if they must.

    Components listed in `fixed` never move. The change of the others is as small as possible, relative to their size.
    """
    y, unknown = _start_vector(dae, y0)
    bad = [i for i in fixed if not 0 <= i < dae.n or i in unknown]
    if bad:
        raise InputError(f"fixed names components {bad}, which are unknown or outside 0..{dae.n - 1}.")
    E = linearise(dae, t0, np.where(np.isnan(y), 1.0, y)).E  # noqa: N806
    first = sorted({*unknown, *free_columns(E)} - set(fixed))
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
        found, message = _newton(dae, t, start, first, others)
        if found is not None:
            return found
    raise InputError(f"No consistent start was found near y0: {message}")


def _newton(dae: Dae, t: float, y: Array, first: list[int], others: list[int]) -> tuple[Array | None, str]:
    scale = np.abs(y) + 1.0
    best, stalled = np.inf, 0
    for _ in range(MOST_ITERATIONS):
        g, jac = constraints(dae, t, y), jacobian(dae, t, y)
        if not (np.isfinite(g).all() and np.isfinite(jac).all()):
            return None, "g or its Jacobian is not finite there."
        size = float(np.max(np.abs(g) / residual_limits(jac, y, EPS, 0.0), initial=0.0))
        if size <= 1.0:
            return y, ""
        stalled = stalled + 1 if size >= 0.5 * best else 0
        best = min(best, size)
        if stalled > 6:
            break
        y = y + _correction(g, jac, scale, first, others)
    if best <= 1e3:  # at rounding level, but for a badly scaled constraint
        return y, ""
    rows = ", ".join(f"row {i} of g stays at {g[i]:.3g}" for i in np.argsort(-np.abs(g))[:3])
    return None, f"{rows}."


def _correction(g: Array, jac: Array, scale: Array, first: list[int], others: list[int]) -> Array:
    """Return the Newton correction that moves `others` only for what `first` cannot reach (left null space of their columns)."""
    change = np.zeros(len(scale))
    if others:
        left, sizes, _ = np.linalg.svd(jac[:, first] * scale[first]) if first else (np.eye(len(g)), np.zeros(0), None)
        rank = int(np.sum(sizes > 1e-10 * max(sizes.max(initial=0.0), 1e-300)))
        null = left[:, rank:].T
        change[others] = scale[others] * np.linalg.lstsq(null @ (jac[:, others] * scale[others]), -null @ g, rcond=1e-12)[0]
    if first:
        change[first] = scale[first] * np.linalg.lstsq(jac[:, first] * scale[first], -(g + jac @ change), rcond=1e-12)[0]
    return change
