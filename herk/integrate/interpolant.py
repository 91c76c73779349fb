"""Output between steps without projection: a polynomial for each step through points on the constraints.

Evaluating it calls neither f nor g, and it can be stored without them; between its nodes it leaves g = 0 by
its own error, which is one order smaller than that of the method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from herk.core.dae import Array
from herk.integrate.dense import checked, rows
from herk.integrate.steppers.protocol import Stepper

LEAST_DEGREE = 4
MOST_HALVINGS = 12
TOLERATED = 10.0  # times the tolerances: the method itself is not better than that between its points


def nodes(degree: int) -> Array:
    """Return the Chebyshev points of a step, both ends included.

    Polynomials through equidistant ones would overshoot.
    """
    return (1.0 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2.0


def weights(theta: Array, at: Array) -> Array:
    """Return the Lagrange polynomials of the nodes `at` for each theta (a row each).

    By the barycentric formula.
    """
    signs = np.where(np.arange(at.size) % 2, -1.0, 1.0)  # of Chebyshev points; those at the ends count half
    signs[[0, -1]] /= 2.0
    distance = theta[:, None] - at
    hit = distance == 0.0
    terms = signs / np.where(hit, 1.0, distance)
    shares: Array = terms / terms.sum(axis=1, keepdims=True)
    shares[hit.any(axis=1)] = hit[hit.any(axis=1)]
    return shares


def steps_of(t: Array, times: Array) -> np.ndarray:
    """Return for each time the step between the points t that contains it."""
    sign = 1.0 if t[-1] >= t[0] else -1.0
    return np.clip(np.searchsorted(sign * t, sign * times, side="right") - 1, 0, max(t.size - 2, 0))


def through(machine: Stepper, t: Array, y: Array, slots: np.ndarray, times: Array) -> tuple[Array, Array]:
    """Return the ends of pieces that cover the given ones, and the states at the nodes of each.

    Pieces x nodes x n.

    A piece in which the polynomial misses the solution by more than the tolerances is halved: components that
    only constraints determine are exact at the ends of a step, however long, and nothing else says that they
    are between.
    """
    at = nodes(max(LEAST_DEGREE, machine.degree))
    between = (at[1:] + at[:-1]) / 2.0
    shares = weights(between, at)
    for halvings in range(MOST_HALVINGS + 1):
        length = np.diff(times)
        grid = times[:-1, None] + at * length[:, None]
        grid[:, -1] = times[1:]
        values = rows(machine, t, y, slots, grid.ravel()).reshape(*grid.shape, -1)
        if halvings == MOST_HALVINGS:
            break
        asked = times[:-1, None] + between * length[:, None]
        found = rows(machine, t, y, slots, asked.ravel()).reshape(*asked.shape, -1)
        off = np.abs(np.einsum("ij,qjn->qin", shares, values) - found)
        wrong = (off > TOLERATED * (machine.atol + machine.rtol * np.abs(found))).any(axis=(1, 2))
        if not wrong.any():
            break
        halves = times[:-1][wrong] + length[wrong] / 2.0
        times = np.sort(np.concatenate([times, halves]))[:: 1 if times[-1] > times[0] else -1]
    return times, values


def evaluate(t: Array, steps: np.ndarray, values: Array, times: Array) -> Array:
    """Return the state at each of the times, one row each; steps[q] and values[q] belong to times[q]."""
    theta = (times - t[steps]) / (t[steps + 1] - t[steps])
    theta = np.where(times == t[steps + 1], 1.0, theta)
    return np.array(np.einsum("qj,qjn->qn", weights(theta, nodes(values.shape[1] - 1)), values))


def plain_rows(machine: Stepper, t: Array, y: Array, slots: np.ndarray, times: Array) -> Array:
    """Return the states at the times like `dense.rows`, without projection."""
    if t.size == 1:
        return np.repeat(y[:1], times.size, axis=0)
    first, last = steps_of(t, times[[0, -1]])
    ends, values = through(machine, t, y, slots, t[first : last + 2])
    steps = steps_of(ends, times)
    return evaluate(ends, steps, values[steps], times)


@dataclass(frozen=True, eq=False)
class Interpolant:
    """Dense output as data: the ends of its pieces, which are steps or parts of them.

    And the states at the nodes of each.
    """

    t: Array
    values: Array

    @classmethod
    def over(cls, machine: Stepper, t: Array, y: Array, slots: np.ndarray) -> Interpolant:
        """Return the polynomials over points y (by rows)."""
        return cls(t, y[:, None]) if t.size == 1 else cls(*through(machine, t, y, slots, t))

    def __call__(self, t: float | Array) -> Array:
        """Return y at one time (n) or several (n x times)."""
        times = checked(self.t, t)
        flat = times.reshape(-1)
        if self.t.size == 1:
            out = np.repeat(self.values[:, 0], flat.size, axis=0)
        else:
            steps = steps_of(self.t, flat)
            out = evaluate(self.t, steps, self.values[steps], flat)
        return out[0] if times.ndim == 0 else out.T
