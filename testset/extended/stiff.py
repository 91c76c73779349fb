"""Two methods for stiff systems with nothing in common.

Derivatives at both ends of a step (Hermite, Obreshkov), Radau collocation.

Both are for polynomials of degree two, whose derivatives of any order follow from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, perm
from typing import Any

import mpmath
import numpy as np

from testset.extended.methods import Vector, continued, controlled, table
from testset.extended.underlying import Long, solve

# derivatives at the old end, so that what is left of fast terms is damped by the power FEWER of their rates
FEWER = 4
MOST_ITERATIONS, MOST_NEWTON = 60, 12
ENOUGH = 1e-30  # a change of Newton's method, which squares it in the next iteration


@dataclass(frozen=True)
class Quadratic:
    """y' = constant + linear y + products (y, y), products symmetric in its last two places."""

    constant: Vector
    linear: Vector
    products: Vector

    def rate(self, _: Any, y: Vector) -> Vector:
        """Return y', for one state or several as columns."""
        return self.constant.reshape(-1, *[1] * (y.ndim - 1)) + self.linear @ y + self.pair(y, y)

    def pair(self, y: Vector, z: Vector) -> Vector:
        """Return the products of y and z."""
        out = np.zeros_like(y) + 0 * y[0]
        for i, j, k in zip(*np.nonzero(self.products), strict=True):
            out[i] = out[i] + self.products[i, j, k] * (y[j] * z[k])
        return out

    def jacobian(self, y: Vector) -> Vector:
        """Return the derivative of the rate at one state."""
        return self.linear + 2 * (self.products @ y)

    def series(self, y: Vector, order: int) -> tuple[list[Vector], list[Vector]]:
        """Return the coefficients of Taylor's series of the solution through y.

        And their derivatives with respect to y.
        """
        terms, slopes = [y], [np.eye(len(y), dtype=int) * (0 * y[0] + 1)]
        for k in range(order):
            fixed = self.constant if k == 0 else 0
            new = (
                fixed + self.linear @ terms[k] + sum(self.pair(terms[j], terms[k - j]) for j in range(k + 1))
            )
            slope = self.linear @ slopes[k] + 2 * sum(
                (self.products @ terms[j]) @ slopes[k - j] for j in range(k + 1)
            )
            terms.append(new / (k + 1))
            slopes.append(slope / (k + 1))
        return terms, slopes


def weights(here: int, other: int) -> list[int]:
    """Return what the terms of Taylor's series at one end are multiplied by.

    In the formula with so many derivatives at either end.

    Up to a factor for all: sum_j (-1)^j w_j c_j at the new end = sum_j w_j c_j at the old one, of order here
    + other.
    """
    return [comb(here, j) * perm(j) * perm(here + other - j) for j in range(here + 1)]


def hermite(
    system: Quadratic, t0: Any, t1: Any, y: Vector, tolerance: float, order: int
) -> tuple[Vector, list[Any]]:
    """Integrate with derivatives up to `order` at the new and FEWER at the old end of a step.

    Steps controlled.
    """
    return controlled(
        lambda _, h, y: _two_ends(system, h, y, order), t0, t1, y, tolerance, 2 * order - 2 - FEWER
    )


def _two_ends(system: Quadratic, h: Any, y: Vector, order: int) -> tuple[Vector, float]:
    """Return one step by Newton's method.

    And the relative error of the formula with two derivatives fewer.
    """
    terms, new = system.series(y, order)[0], y
    for lower in (2, order // 2, order):  # low orders give a start for high ones
        new, slopes = _newton(system, terms, new, h, lower)
        if new is None:
            return y, np.inf
    less = sum(w * (-h) ** j * slopes[j] for j, w in enumerate(weights(order - 1, max(order - 1 - FEWER, 0))))
    wrong = solve(less, _gap(terms, system.series(new, order)[0], h, order - 1))
    return new, float(max(abs(wrong) / (abs(new) + abs(y))))


def _newton(
    system: Quadratic, terms: list[Vector], new: Vector, h: Any, order: int
) -> tuple[Any, list[Vector]]:
    """Return the end of a step and the last derivatives, or None without convergence."""
    for _ in range(MOST_NEWTON):
        after, slopes = system.series(new, order)
        matrix = sum(w * (-h) ** j * slopes[j] for j, w in enumerate(weights(order, max(order - FEWER, 0))))
        step = solve(matrix, _gap(terms, after, h, order))
        new = new + step
        if max(abs(step) / (abs(new) + abs(terms[0]))) < ENOUGH:
            return new, slopes
    return None, []


def _gap(before: list[Vector], after: list[Vector], h: Any, order: int) -> Vector:
    """Return by how much the formula is not satisfied."""
    old, new = weights(max(order - FEWER, 0), order), weights(order, max(order - FEWER, 0))
    return sum(w * h**j * before[j] for j, w in enumerate(old)) - sum(
        w * (-h) ** j * after[j] for j, w in enumerate(new)
    )


def radau(
    system: Quadratic, times: Sequence[Any], y: Vector, parts: int, tolerance: float, stages: int
) -> Vector:
    """Integrate with Radau collocation of order 2 * stages - 1 over the given times.

    Each interval cut into equal parts.
    """
    kind = type(times[-1])
    nodes, A, b = table(
        lambda x: mpmath.legendre(stages, 2 * x - 1) - mpmath.legendre(stages - 1, 2 * x - 1), stages, kind
    )
    k, before = np.repeat(system.rate(None, y[:, None]), stages, axis=1), None
    for begin, end in pairwise(times):
        h = (end - begin) / parts
        for _ in range(parts):
            guess = k if before is None else k @ continued(nodes, h / before).T
            k = _stages(system, h, y, A, guess, tolerance)
            y, before = y + h * (k @ b), h
    return y


def _stages(system: Quadratic, h: Any, y: Vector, A: Vector, k: Vector, tolerance: float) -> Vector:
    """Return the slopes at the stages of one step by Newton's method with one Jacobian.

    Whose inverse need not be accurate.
    """
    n, s = k.shape
    J, last = system.jacobian(y + h * (k @ A[-1])), np.inf
    full = np.array(np.kron(h * J, A), dtype=Long)
    unit = np.eye(n * s, dtype=Long)
    inverse = solve(unit - full, unit)
    for _ in range(MOST_ITERATIONS):
        points = y[:, None] + h * (k @ A.T)
        wrong = (system.rate(None, points) - k).ravel()
        size = max(abs(wrong)) + mpmath.mpf("1e-100")
        step = (
            np.array(
                [mpmath.mpf(float(value)) for value in inverse @ np.array(wrong / size, dtype=Long)]
            ).reshape(n, s)
            * size
        )
        k = k + step
        change = float((abs(h * step).max(axis=1) / (abs(points).max(axis=1))).max())
        if change < tolerance or (change < 1e3 * tolerance and change >= last):
            return k
        last = change
    raise ArithmeticError(f"Newton's method does not converge in a step of length {h}.")
