"""The flow on the constraints in plain numbers.

Components without a derivative are computed from g, the others follow E y' = f.

Slow, but without formulas, compilation or derivatives in time, and right where an input jumps.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from herk.core import HerkError
from herk.core.dae import Array, Dae
from herk.model.evaluate import constraints, evaluate, jacobian, matrix
from herk.model.forms.forms import rates
from herk.model.start import free_columns

UNUSABLE = (HerkError, ArithmeticError, ValueError, np.linalg.LinAlgError)


class Flow:
    """x' = rate(t, x) for the components x = y[bound] that have a derivative; `complete` gives y back."""

    def __init__(self, dae: Dae, t0: float, y0: Array) -> None:
        """Choose the components by the columns of E at the start."""
        E = matrix(dae, t0, y0)
        self.dae, self.like = dae, np.array(y0)
        self.free = list(free_columns(E))
        self.bound = [j for j in range(dae.n) if j not in self.free]
        # Where E leaves derivatives open, those of the constraints have to help.
        self.mixed = np.linalg.matrix_rank(E[:, self.bound]) < len(self.bound)

    @cached_property
    def start(self) -> Array:
        """Return x at the start."""
        return np.array(self.like[self.bound])

    def complete(self, t: float, x: Array) -> Array:
        """Return y; Newton in the components without a derivative, which most models contain linearly."""
        y = np.array(self.like)
        y[self.bound] = x
        for _ in range(8 if self.free else 0):
            change = np.linalg.lstsq(
                jacobian(self.dae, t, y)[:, self.free], constraints(self.dae, t, y), rcond=None
            )[0]
            y[self.free] -= change
            if np.abs(change).max() <= 1e-13 * (1 + np.abs(y[self.free]).max()):
                break
        self.like = y
        return y

    def rate(self, t: float, x: Array) -> Array:
        """Return x'."""
        y = self.complete(t, x)
        if self.mixed:
            return rates(self.dae, t, y)[self.bound]
        E = matrix(self.dae, t, y)
        rows = E.any(axis=1)
        f = evaluate("f", self.dae.f, t, y, (self.dae.n,))
        return np.asarray(np.linalg.lstsq(E[np.ix_(rows, self.bound)], f[rows], rcond=None)[0])

    def decay(self, t: float, y: Array, sizes: Array, change: float = 1e-7) -> float:
        """Return max(-Re lambda, 0) of the flow, its derivative seen in the tangent space of the constraints.

        The derivative is a difference over `change` times the size of each component.
        """
        try:
            middle, x = self.rate(t, y[self.bound]), y[self.bound]
            columns = np.empty((len(x), len(x)))
            for k, size in enumerate(sizes[self.bound]):
                moved = np.array(x)
                moved[k] += change * size
                columns[:, k] = (self.rate(t, moved) - middle) / (change * size)
            tangent = self._tangent(t, y)
            return max(0.0, float(-np.linalg.eigvals(tangent.T @ columns @ tangent).real.min(initial=0.0)))
        except UNUSABLE:
            return 0.0

    def _tangent(self, t: float, y: Array) -> Array:
        jac = jacobian(self.dae, t, y)
        if not len(jac):
            return np.eye(self.dae.n)
        null = np.linalg.svd(jac)[2][len(jac) :].T
        return np.linalg.qr(null[self.bound])[0]
