"""Points moved onto g = 0: Newton's method in doubles by shortest corrections.

Then a few steps in many digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import sympy as sp

from herk.codegen.gradient import gradient
from herk.linalg.rank import CLEAN, SparseRow
from herk.linalg.superlu import factored
from herk.model.index_reduction.points import DIGITS, Evaluator, OutsideError, Point
from herk.model.index_reduction.scales import Scales
from herk.model.step_length import MOST_DOUBLINGS, MOST_HALVINGS, length

if TYPE_CHECKING:
    from herk.core.dae import Array
    from herk.model.model import Model

Number = Any  # mpmath.mpf
_ROUGH = 1e-7  # relative correction at which doubles have done their part
_MOST, _FEW = 40, 15  # iterations
_FAR = 200  # from far away
_HALVINGS = 12
_FLAT = 1e-5  # of the sizes of terms: such a slope is that of a double zero
_SINGULAR = 1e-11
_SMALL = 40  # rows
EPS = float(np.finfo(float).eps)
_DONE = mpmath.mpf(10) ** (10 - DIGITS)


@dataclass(frozen=True)
class _Linear:
    """g_y at one point, columns in the sizes of the unknowns, rows of largest entry one.

    `solve` inverts it.
    """

    rows: Array
    weights: Array
    solve: Callable[[Array], Array]

    def correction(self, residual: Array) -> Array:
        """Return the shortest d, in the sizes of the unknowns, with J d = -residual.

        Dependent rows left aside.
        """
        return self.weights * self.solve(-residual / self.rows)

    def distance(self, residual: Array) -> float:
        """Return the largest residual in units of its gradient."""
        with np.errstate(over="ignore"):
            return float(np.max(np.abs(residual) / self.rows, initial=0.0))


def _linear(jacobian: Array, weights: Array) -> _Linear:
    scaled = jacobian * weights
    rows = np.abs(scaled).max(axis=1, initial=0.0)
    rows[rows == 0.0] = np.inf
    scaled = scaled / rows[:, None]
    return _Linear(rows, weights, _by_values(scaled) if len(rows) <= _SMALL else _sparse(scaled))


def _by_values(matrix: Array) -> Callable[[Array], Array]:
    """Return the pseudo-inverse by singular values: quick for small matrices."""
    u, sizes, v = np.linalg.svd(matrix, full_matrices=False)
    inverse = np.divide(
        1.0, sizes, out=np.zeros_like(sizes), where=sizes > _SINGULAR * sizes.max(initial=0.0)
    )
    return lambda right: v.T @ (inverse * (u.T @ right))


def _sparse(matrix: Array) -> Callable[[Array], Array]:
    """Return an inverse by the normal equations of second kind, d = A^T (A A^T)^-1 r, refined once.

    Rows that are dependent, or nearly so, are left to reflections.
    """
    from scipy.sparse import csr_array

    sparse = csr_array(matrix)
    try:
        factors = factored(sparse @ sparse.T)
    except RuntimeError:  # exactly singular
        return _by_reflections(matrix)
    pivots = np.abs(factors.U.diagonal())
    if not pivots.min() > _SINGULAR * pivots.max():
        return _by_reflections(matrix)

    def solve(right: Array) -> Array:
        found = sparse.T @ factors.solve(right)
        refined: Array = found + sparse.T @ factors.solve(right - sparse @ found)
        return refined

    return solve


def _by_reflections(matrix: Array) -> Callable[[Array], Array]:
    """Return an inverse by a QR factorisation that chooses independent rows: much quicker for large ones."""
    from scipy.linalg import qr, solve_triangular

    q, r, order = qr(matrix.T, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(r))
    k = int(np.sum(diagonal > _SINGULAR * diagonal.max(initial=0.0)))
    q, r = q[:, :k], r[:k, :k]
    return lambda right: q @ solve_triangular(r, right[order[:k]], trans="T", check_finite=False)


@dataclass
class Projection:
    """Newton's method onto g = 0 at fixed t."""

    model: Model
    constraints: Sequence[sp.Expr]
    scales: Scales

    def __post_init__(self) -> None:
        """Write down residuals and the entries of the Jacobian that are not zero."""
        slopes = [gradient(c) for c in self.constraints]
        places = {s: j for j, s in enumerate(self.model.states)}
        self._places = [(i, places[s]) for i, slope in enumerate(slopes) for s in slope if s in places]
        self._residuals = Evaluator(self.model, self.constraints)
        entries = [slopes[i][self.model.states[j]] for i, j in self._places]
        self._slopes = Evaluator(self.model, entries)
        self._found: dict[int, tuple[Point, Point | None]] = {}

    @cached_property
    def _index(self) -> tuple[Array, Array]:
        pairs = np.array(self._places, dtype=int).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def gradients(self, point: Point) -> list[SparseRow]:
        """Return the rows of g_y, without entries that vanish where the constraints hold."""
        rows: list[SparseRow] = [{} for _ in self.constraints]
        for (i, j), value in zip(self._places, self._slopes.cleaned(point), strict=True):
            if value:
                rows[i][j] = value
        return rows

    def distances(self, point: Point) -> list[Number]:
        """Return how far the point is from each g_i = 0, in the sizes of the unknowns.

        Inf without a gradient, of all where one has none that is finite, such as 0**x.
        """
        try:
            sized, slopes = self._residuals.sized(point), self._slopes.exact(point)
        except OutsideError:
            return [mpmath.inf] * len(self.constraints)
        steepest = [mpmath.mpf(0)] * len(sized)
        for (i, j), value in zip(self._places, slopes, strict=True):
            steepest[i] = max(steepest[i], abs(value) * max(abs(point.y[j]), self.scales.y[j]))
        return [_distance(value, size, steep) for (value, size), steep in zip(sized, steepest, strict=True)]

    def onto(self, point: Point, ease: Array | None = None) -> Point | None:
        """Return the point moved onto g = 0, None if that fails; `ease` tells which unknowns rather move."""
        known, found = self._found.get(point.slot, (None, None))
        if not self.constraints or point is found:
            return point
        if known is not point:
            found = self._onto(point, ease)
            self._found[point.slot] = point, found
        return found

    def _onto(self, point: Point, ease: Array | None) -> Point | None:
        favour = np.ones(self.model.n) if ease is None else ease
        found = self._reached(point, favour, _MOST if point.near else _FEW, 0)
        if found is None and point.near:  # far points only raise doubts
            found = self._reached(point, favour, _FAR, MOST_DOUBLINGS)
            # What is quick for exponentials is so for double zeros, too, where Newton's method is slow.
            return found if found is not None and self._has_gradients(found) else None
        return found

    def _reached(self, point: Point, favour: Array, most: int, doublings: int) -> Point | None:
        try:
            y = np.array([float(v) for v in point.y])
            rough = self._rough(float(point.t), y, favour, most, doublings)
            return None if rough is None else self._refined(point, rough, favour)
        except (OutsideError, OverflowError):
            return None

    def _jacobian(self, t: float, y: Array, favour: Array) -> _Linear:
        matrix = np.zeros((len(self.constraints), self.model.n))
        matrix[self._index] = self._slopes.floats(t, y.tolist())
        weights = np.maximum(np.abs(y), self.scales.y) * favour
        with np.errstate(over="ignore"):
            if not np.isfinite(matrix * weights).all():
                raise OutsideError("a slope is too large for a double")
        return _linear(matrix, weights)

    def _rough(self, t: float, y: Array, favour: Array, most: int, doublings: int) -> Array | None:
        """Return y on g = 0 as far as doubles can tell, by steps made shorter, or longer if so allowed."""
        residual = np.array(self._residuals.floats(t, y.tolist()))
        for _ in range(most):
            linear = self._jacobian(t, y, favour)
            step = linear.correction(residual)
            near = np.abs(y) + EPS * linear.weights if doublings else linear.weights
            if (np.abs(step) < _ROUGH * near).all():
                return y + step
            found = self._moved(t, y, step, residual, linear, doublings)
            if found is None:
                return None
            y, residual = found
        return None

    def _moved(
        self, t: float, y: Array, step: Array, before: Array, linear: _Linear, doublings: int
    ) -> tuple[Array, Array] | None:
        """Return the point after a step that is as long as it had better be; None if nothing is gained."""
        known = {0.0: before}

        def distance(share: float) -> float:
            try:
                known[share] = np.array(self._residuals.floats(t, (y + share * step).tolist()))
            except OutsideError:
                return np.inf
            return linear.distance(known[share])

        share = length(distance, MOST_HALVINGS if doublings else _HALVINGS, doublings)
        return (y + share * step, known[share]) if share else None

    def _refined(self, point: Point, y: Array, favour: Array) -> Point | None:
        """Return the point in many digits; None if convergence is slow, as where the gradient vanishes."""
        with mpmath.workdps(DIGITS):
            linear = self._jacobian(float(point.t), y, favour)
            sizes = tuple(float(s) for s in np.maximum(point.sizes, np.abs(y)))
            exact = replace(point, y=tuple(mpmath.mpf(float(v)) for v in y), sizes=sizes)
            before = 1e-3
            for _ in range(25):
                step = linear.correction(np.array([float(v) for v in self._residuals.exact(exact)]))
                exact = replace(exact, y=tuple(v + float(d) for v, d in zip(exact.y, step, strict=True)))
                small = float(np.max(np.abs(step) / linear.weights))
                if small < _DONE:
                    return exact if self._holds(exact) else None
                if small > 1e-2 * before:
                    return None
                before = small
        return None

    def _has_gradients(self, point: Point) -> bool:
        """Tell whether no gradient vanishes beside the terms of its constraint."""
        weights = np.maximum([abs(float(v)) for v in point.y], self.scales.y)
        slopes = np.zeros((len(self.constraints), self.model.n))
        with mpmath.workdps(DIGITS):
            slopes[self._index] = [float(v) for v in self._slopes.exact(point)]
            sizes = np.array([float(size) for _, size in self._residuals.sized(point)])
        return bool((np.abs(slopes * weights).max(axis=1) > _FLAT * sizes).all())

    def _holds(self, point: Point) -> bool:
        return all(abs(value) <= CLEAN * size for value, size in self._residuals.sized(point))


def _distance(value: Number, size: Number, steep: Number) -> Number:
    if abs(value) <= CLEAN * size:
        return mpmath.mpf(0)
    return abs(value) / steep if steep else mpmath.inf
