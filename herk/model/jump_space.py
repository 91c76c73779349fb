"""Directions in which the state of E y' = f jumps when the equations do: the limit of a Wong sequence.

y+ - y- lies in W = lim W_i with W_0 = {0}, W_(i+1) = E^-1 (f_y W_i), and has as many dimensions as there are
constraints, hidden ones included (Berger, Ilchmann, Trenn, The quasi-Weierstrass form for regular matrix
pencils, Linear Algebra Appl. 436 (2012)). The simplest case is W = ker E: E y is continuous.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import LOST, factors, rank, sizes
from herk.model.evaluate import constraints, jacobian, matrix
from herk.model.start import residual_limits

EPS = float(np.finfo(float).eps)
ZERO, CLEAR = 1e-12, 1e-8  # singular values, relative, of no rank and of one; between them nothing is sure
ALIKE = 1e-8  # part by which two spaces that are the same may differ
MOST_ITERATIONS, PATIENCE = 30, 4
NEARLY = 1e3  # roundings


def jumped(dae: Dae, t: float, before: Array, last: tuple[float, Array], later: float) -> Array | None:
    """Return where the state jumps to when the equations become those at t; None if that is not sure.

    `last`: the last point of the equations before, with their modes; `later`: a time shortly behind the jump.

    It is sure while W is the same everywhere in y- + W, where the impulses lead, and on both sides of the
    jump: E and f are then linear as far as impulses can tell, and none is multiplied by what jumps.
    """
    with np.errstate(all="ignore"):
        space = _space(dae, t, before)
        after = None if space is None else _onto_constraints(dae, t, before, space)
        if space is None or after is None:
            return None
        plain = _kernel_is_all(dae, t, before)
        if plain and getattr(dae.generated, "constant_E", False):
            return after
        points = [last, *((t, point) for point in _between(dae, t, before, after, space))]
        # derivatives of impulses, which are multiplied where more than E alone decides, feel slopes in time
        points += [] if plain else [(later, before)]
        return after if all(_alike(dae, space, *each) for each in points) else None


def _alike(dae: Dae, space: Array, t: float, y: Array) -> bool:
    """Tell whether W is the same there."""
    other = _space(dae, t, y)
    return other is not None and rank(np.hstack([space, other]), ALIKE) == dae.m


def _kernel_is_all(dae: Dae, t: float, y: Array) -> bool:
    found = _kernel(matrix(dae, t, y))
    return found is not None and found.shape[1] == dae.m


def _between(dae: Dae, t: float, before: Array, after: Array, space: Array) -> Iterator[Array]:
    """Yield points of y- + W: those of the jump, and some about as far away as the unknowns are large."""
    size = np.maximum(sizes(jacobian(dae, t, before), before), sizes(jacobian(dae, t, after), after))
    pace = np.array([1.0 / np.max(np.abs(column) / size) for column in space.T])
    yield after
    yield 0.5 * (before + after)
    for signs in np.random.default_rng(3).uniform(-1.0, 1.0, (2, dae.m)):
        yield before + space @ (signs * pace)


def _space(dae: Dae, t: float, y: Array) -> Array | None:
    """Return a basis of W at this point, in columns; None if its dimension is not sure, or not m."""
    E = matrix(dae, t, y)
    found = _kernel(E)
    if found is None or found.shape[1] == dae.m:
        return found
    generated: Any = dae.generated
    f_y = generated.callable("jac_f")(t, y)
    f_y = f_y.toarray() if hasattr(f_y, "tocsr") else f_y
    if not np.isfinite(f_y).all():
        return None
    units = factors(np.vstack([E, f_y]))[1]
    while found is not None and found.shape[1] < dae.m:
        pairs = _kernel(np.hstack([E * units, _product(f_y, found)]))  # E w + f_y v = 0
        larger = None if pairs is None else _image(pairs[: dae.n])
        if larger is None or larger.shape[1] <= found.shape[1]:
            return None
        found = units[:, None] * larger
    return found if found is not None and found.shape[1] == dae.m else None


def _product(matrix: Array, vectors: Array) -> Array:
    """Return the product without what is only rounding: units follow from what is not zero."""
    found: Array = matrix @ vectors
    return np.where(np.abs(found) > LOST * (np.abs(matrix) @ np.abs(vectors)), found, 0.0)


def _kernel(matrix: Array) -> Array | None:
    """Return a basis of the null space, whatever the units of rows and columns."""
    if not np.isfinite(matrix).all():
        return None
    rows, columns = factors(matrix)
    _, values, right = np.linalg.svd(matrix * rows[:, None] * columns)
    known = _rank(values)
    return None if known is None else columns[:, None] * right[known:].T


def _image(vectors: Array) -> Array | None:
    """Return a basis of what these columns span."""
    left, values, _ = np.linalg.svd(vectors, full_matrices=False)
    known = _rank(values)
    return None if known is None else left[:, :known]


def _rank(values: Array) -> int | None:
    """Return how many singular values are not zero; None if that is not clear."""
    limit = values.max(initial=0.0)
    known = int(np.sum(values > CLEAR * limit))
    return known if (values[known:] <= ZERO * limit).all() else None


def _onto_constraints(dae: Dae, t: float, before: Array, space: Array) -> Array | None:
    """Return the point of y- + W at which all constraints hold, by Newton's method; None if none is found."""
    y, best, nearest, stalled, scale = before, np.inf, before, 0, None
    for _ in range(MOST_ITERATIONS):
        g, jac = constraints(dae, t, y), jacobian(dae, t, y)
        if not (np.isfinite(g).all() and np.isfinite(jac).all()):
            break
        scale = sizes(jac, y) if scale is None else scale
        size = float(np.max(np.abs(g) / residual_limits(jac, y, EPS, EPS**2 * scale), initial=0.0))
        stalled = stalled + 1 if not size < 0.5 * best else 0
        best, nearest = (size, y) if size < best else (best, nearest)
        if size <= 1.0 or stalled > PATIENCE:
            break
        square = _product(jac, space)
        rows, columns = factors(square)
        square = square * rows[:, None] * columns
        if _rank(np.asarray(np.linalg.svd(square, compute_uv=False))) != dae.m:
            return None
        y = y - space @ (columns * np.linalg.solve(square, rows * g))
    return nearest if best <= NEARLY else None
