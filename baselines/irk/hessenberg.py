"""Direct discretisation of small semi-explicit systems with constant steps, in decimals.

Errors far below double precision.

The algebraic equations are imposed at the stages, as the lecture and Hairer, Lubich and Roche (1989) define
it. Unknowns of a step are the derivatives K at the stages, those of algebraic unknowns included, so that the
new value is z + h b K for all components. Newton's corrections come from the exact Jacobian in double
precision, residuals are decimal: each iteration gains the digits a double solve has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import Any

import numpy as np

from baselines.irk.families import Implicit
from herk.core import HerkError
from herk.core.dae import Array

DIGITS, MOST_ITERATIONS = 50, 20
_DONE = 1e-33  # last correction, relative; index 3 multiplies rounding by h^-3, which leaves this and more
_decimals = np.frompyfunc(Decimal, 1, 1)


class NoStepError(HerkError):
    """The stage equations could not be solved."""


@dataclass(frozen=True, eq=False)
class System:
    """z_i' = right_i(z) for the first unknowns, 0 = right_i(z) for the last m.

    `right` is plain arithmetic, `groups` names components.
    """

    name: str
    index: int
    groups: Mapping[str, tuple[int, ...]]
    right: Callable[..., list[Any]]
    start: tuple[Decimal, ...]
    slope: tuple[
        Decimal, ...
    ]  # z' at the start: where the first iteration begins, since stage equations may have several solutions
    m: int

    @property
    def n(self) -> int:
        """Return the number of unknowns."""
        return len(self.start)

    @property
    def differential(self) -> int:
        """Return the number of differential unknowns, which come first."""
        return self.n - self.m

    @cached_property
    def jacobian(self) -> Callable[..., Array]:
        """Return the derivative of the right-hand sides, exact formulas in double precision."""
        import sympy as sp

        z = sp.symbols(f"z:{self.n}")
        matrix = sp.Matrix(self.right(*z)).jacobian(z)
        return sp.lambdify(z, matrix.tolist(), "math", cse=True)  # type: ignore[no-any-return]


def residual(system: System, U: Array, K: Array) -> Array:
    """Return K - right for differential rows and right for algebraic ones, one row for each stage."""
    result = np.array([np.broadcast_to(row, len(U)) for row in system.right(*U.T)], dtype=object).T
    result[:, : system.differential] = K[:, : system.differential] - result[:, : system.differential]
    return result


def newton_matrix(system: System, U: Array, A: Array, h: float) -> Array:
    """Return the derivative of the residuals at all stages with respect to K, in double precision."""
    s, n, d = len(A), system.n, system.differential
    matrix = np.zeros((s, n, s, n))
    for i in range(s):
        slope = np.array(system.jacobian(*U[i]), dtype=float)
        slope[:d] *= -1.0
        matrix[i] = h * slope[:, None, :] * A[i][None, :, None]
        matrix[i, range(d), i, range(d)] += 1.0
    return matrix.reshape(s * n, s * n)


def step(system: System, method: Implicit, z: Array, h: Decimal, guess: Array) -> tuple[Array, Array]:
    """Return the new value and the stage derivatives; `guess` has one row of K for each stage."""
    A, b, _ = method.decimals()
    first, shape = int(method.explicit_first), (method.stages - int(method.explicit_first), system.n)
    K = _decimals(guess)
    if first:  # what K has for algebraic unknowns there is without effect: no stage value depends on it
        K[0, : system.differential] = residual(system, z[None, :], K[:1] * 0)[0, : system.differential] * -1
    small = A.astype(float)[first:, first:]
    for _ in range(MOST_ITERATIONS):
        U = z + h * (A @ K)
        matrix = newton_matrix(system, U[first:].astype(float), small, float(h))
        scale = np.abs(matrix).max(axis=1) + np.finfo(float).tiny
        rest = residual(system, U[first:], K[first:]).astype(float).reshape(-1)
        try:
            change = np.linalg.solve(matrix / scale[:, None], rest / scale).reshape(shape)
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(change).all():
            break
        K[first:] -= _decimals(change)
        if np.abs(float(h) * change).max() < _DONE * (1 + np.abs(U.astype(float)).max()):
            return z + h * (b @ K), K
    raise NoStepError(
        f"{method.family} with {method.stages} stages finds no solution of the stage equations of"
        f" {system.name!r}, h = {h}."
    )


def march(
    system: System, method: Implicit, t_end: float, steps: int, after: Callable[[Array], Array] | None = None
) -> Array:
    """Return z at the mesh points, (steps + 1) x n.

    Fewer if Newton's method finds no solution of the stage equations.

    `after` may change each new value, as a projection does.
    """
    with localcontext() as context:
        context.prec = DIGITS
        h, ahead = Decimal(t_end) / steps, extrapolation(method)
        z = np.array([+value for value in system.start], dtype=object)
        guess = np.tile(np.array(system.slope, dtype=float), (method.stages, 1))
        points = [z]
        for _ in range(steps):
            try:
                z, K = step(system, method, z, h, guess)
            except NoStepError:
                break
            if after is not None:
                z = after(z)
            points.append(z)
            guess = ahead @ K.astype(float)
    return np.array(points)


def extrapolation(method: Implicit) -> Array:
    """Return the matrix that carries the polynomial through the implicit stages on to the stages.

    Of the next step.
    """
    c, first = method.floats()[2], int(method.explicit_first)
    result = np.zeros((method.stages, method.stages))
    for j in range(first, method.stages):
        others = np.delete(c[first:], j - first)
        result[:, j] = [np.prod((1.0 + x - others) / (c[j] - others)) for x in c]
    return result
