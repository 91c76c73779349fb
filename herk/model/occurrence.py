"""Which derivatives occur in F(t, y, y'), as looks at dF/dy' at several points tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.model.evaluate import CallableError, jacobian

NEAR = 4  # points near the start at which dF/dy' is looked at
NOISE = 1e-7  # of short differences, relative to the largest entry: below it, a derivative does not occur
EXACT = 1e-13  # the same where dF/dy' is given, or F is linear in y' and differences can be long
LONG = (2.0**20, 1.0)  # such differences
LINEAR = 1e-6  # of the largest entry, by which short differences may be off long ones,
ROUNDING = 1e-9  # and of F


@dataclass(frozen=True)
class Look:
    """F and its derivatives at one point; entries of dF/dy' that are noise are zero."""

    t: float
    y: Array
    by_y: Array
    by_yp: Array


def looks(dae: Dae, both: Dae, t_span: tuple[float, float], y: Array) -> list[Look]:
    """Return looks near the start."""
    near, first = [], None
    for t, point in _points(dae.n, t_span, y):
        try:
            found = _look(dae, both, t, point)
        except CallableError as error:
            first = first or error
            continue
        near += [found] if found is not None else []
    if not near:
        raise InputError(f"dF/dy' could not be evaluated near the start. {first or 'It is not finite.'}")
    return near


def _points(n: int, t_span: tuple[float, float], y: Array) -> Iterator[tuple[float, Array]]:
    """Yield times up to a part of the span, with y near the start and any y'."""
    rng, (t0, t1) = np.random.default_rng(17), t_span
    for k, share in enumerate(np.linspace(0.0, 1e-3, NEAR)):
        moved = y + 1e-3 * k / (NEAR - 1) * rng.uniform(0.5, 1.0, n) * (np.abs(y) + 1.0)
        yield float(t0 + share * (t1 - t0)), np.concatenate([moved, rng.uniform(0.3, 1.5, n)])


def _look(dae: Dae, both: Dae, t: float, point: Array) -> Look | None:
    """Return what is seen at a point; None if it is not finite."""
    n = dae.n
    with np.errstate(all="ignore"):
        whole = jacobian(both, t, point)
        if not np.isfinite(whole).all():
            return None
        by_yp, noise = whole[:, n:], EXACT if dae.jac_yp is not None else NOISE
        long = None if dae.large else _long_differences(both, t, point, by_yp)
    if long is not None:
        noise, by_yp = EXACT, long if dae.jac_yp is None else by_yp
    top = np.abs(by_yp).max(axis=1, keepdims=True)
    return Look(t, point[:n], whole[:, :n], np.where(np.abs(by_yp) > noise * top, by_yp, 0.0))


def _long_differences(both: Dae, t: float, point: Array, short: Array) -> Array | None:
    """Return dF/dy' by differences so long that rounding is lost beside them, if short ones are the same."""
    assert both.g is not None
    n, here = both.m, np.asarray(both.g(t, point))
    top, rounding = np.abs(short).max(axis=1, keepdims=True), ROUNDING * np.abs(here)[:, None]
    size = size_of_rates(short, here)
    for step in LONG:
        columns = []
        for j in range(n):
            moved = point.copy()
            moved[n + j] += step * size[j]
            columns.append((np.asarray(both.g(t, moved)) - here) / (moved[n + j] - point[n + j]))
        long: Array = np.array(columns).T
        if (np.abs(long - short) <= LINEAR * top + rounding).all():
            return long
    return None


def size_of_rates(by_yp: Array, here: Array) -> Array:
    """Return how large y' must be to be felt in F beside what F is, at least one."""
    slopes = np.abs(by_yp)
    felt = slopes > NOISE * slopes.max(axis=1, keepdims=True)
    ratio = np.divide(np.abs(here)[:, None], slopes, out=np.zeros_like(slopes), where=felt)
    size: Array = np.maximum(ratio.max(axis=0), 1.0)
    return size


def columns_of(found: Sequence[Look]) -> Array:
    """Return an orthonormal basis of the parts of y' that F looks at."""
    return _directions(np.vstack([each.by_yp for each in found]))


def rows_of(found: Sequence[Look]) -> Array:
    """Return an orthonormal basis of the combinations of rows of F that contain y'."""
    return _directions(np.hstack([each.by_yp for each in found]).T)


def complement(basis: Array) -> Array:
    """Return an orthonormal basis of what is orthogonal to these columns, unit vectors if possible."""
    n, k = basis.shape
    idle = ~basis.any(axis=1)
    units: Array = np.eye(n)[:, idle]
    if units.shape[1] == n - k:
        return units
    rest: Array = np.linalg.qr(np.hstack([basis, np.eye(n)]))[0][:, k:n]
    return rest


def _directions(stacked: Array) -> Array:
    """Return an orthonormal basis of what the columns of these matrices look at; unit vectors if possible."""
    n = stacked.shape[1]
    heights = np.abs(stacked).max(axis=1, initial=0.0)
    scaled = stacked[heights > 0] / heights[heights > 0, None]
    occurs = scaled.any(axis=0)
    part = scaled[:, occurs]
    widths = np.abs(part).max(axis=0, initial=0.0)
    _, values, basis = np.linalg.svd(part / widths, full_matrices=False)
    rank = int((values > 1e2 * NOISE * values.max(initial=0.0)).sum())
    units = np.eye(n)[:, occurs]
    if rank == units.shape[1]:
        return units
    spanned: Array = units @ np.linalg.qr((basis[:rank] * widths).T)[0]
    return spanned
