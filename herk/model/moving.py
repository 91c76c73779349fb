"""F(t, y, y') = 0 that is linear in y', where other parts of y' occur at other times: as E y' = f with g.

E = dF/dy' and f = -F(t, y, 0), in the rows that contain y'; those that never do are constraints. Their
derivatives determine what E leaves open, whichever part of y' that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import rank
from herk.model.evaluate import jacobian
from herk.model.occurrence import EXACT, Look, complement, rows_of, size_of_rates

Residual = Callable[[Dae, float, Array, Array], Array]


@dataclass(frozen=True)
class Moving:
    """The functions E, f, g of such a system."""

    dae: Dae
    residual: Residual
    rows: Array  # combinations of rows of F with y',
    free: Array  # and without
    steps: Array  # of differences in y'; zero where it does not occur

    def matrix(self, t: float, y: Array) -> Array:
        """Return the rows of dF/dy' that are not zero, and zeros below."""
        n, still = self.dae.n, np.zeros(self.dae.n)
        if self.dae.jac_yp is not None:
            by_yp = np.asarray(self.dae.jac_yp(t, y, still), dtype=float)
        else:
            by_yp, here = np.zeros((n, n)), self.residual(self.dae, t, y, still)
            for j in np.flatnonzero(self.steps):
                moved = still.copy()
                moved[j] = self.steps[j]
                by_yp[:, j] = (self.residual(self.dae, t, y, moved) - here) / self.steps[j]
        E = np.zeros((n, n))
        E[: self.rows.shape[1]] = _clean(self.rows.T, by_yp)
        return E

    def rate(self, t: float, y: Array) -> Array:
        """Return -F(t, y, 0) in these rows."""
        f, here = np.zeros(self.dae.n), self.residual(self.dae, t, y, np.zeros(self.dae.n))
        f[: self.rows.shape[1]] = -self.rows.T @ here
        return f

    def constraints(self, t: float, y: Array) -> Array:
        """Return g, or the rows of F without y' where none is given."""
        if self.dae.g is not None:
            return np.asarray(self.dae.g(t, y), dtype=float)
        return self.free.T @ self.residual(self.dae, t, y, np.zeros(self.dae.n))

    constraints.called = "F(t, y, y')"  # type: ignore[attr-defined]  # in messages


def _clean(left: Array, right: Array) -> Array:
    """Return a product with zeros where all terms cancel."""
    product, terms = left @ right, np.abs(left) @ np.abs(right)
    return np.where(np.abs(product) > EXACT * terms, product, 0.0)


def moving(dae: Dae, residual: Residual, near: Sequence[Look], later: Sequence[Look]) -> Moving | None:
    """Return the system in this form, if F is linear in y' wherever it was looked at and determines y'."""
    seen = [*near, *later]
    if dae.large or not all(each.linear and _is_linear(dae, residual, each) for each in seen):
        return None
    here = near[-1]
    rows = rows_of(seen)
    free = complement(rows)
    occurs = np.any([each.by_yp.any(axis=0) for each in seen], axis=0)
    slopes = np.max([np.abs(each.by_yp) for each in seen], axis=0)
    size = size_of_rates(slopes, residual(dae, here.t, here.y, np.zeros(dae.n)))
    steps = np.where(occurs, 2.0 ** np.ceil(np.log2(size)), 0.0)
    made = Moving(dae, residual, rows, free, steps)
    if dae.g is None:
        below = free.T @ here.by_y
    else:
        plain = Dae(E=np.eye(dae.n), f=made.rate, g=dae.g, n=dae.n, m=dae.m, jac_g=dae.jac_g)
        below = jacobian(plain, here.t, here.y)
    return made if rank(np.vstack([rows.T @ here.by_yp, below])) == dae.n else None


def _is_linear(dae: Dae, residual: Residual, look: Look) -> bool:
    """Tell whether F(t, y, y') = F(t, y, 0) + dF/dy' y' for small and large y'."""
    rng, still = np.random.default_rng(29), np.zeros(dae.n)
    with np.errstate(all="ignore"):
        here = residual(dae, look.t, look.y, still)
        for size in (1.0, 1e3):
            yp = size * rng.uniform(-1.0, 1.0, dae.n)
            off = residual(dae, look.t, look.y, yp) - here - look.by_yp @ yp
            if not (np.abs(off) <= 1e-8 * (np.abs(here) + np.abs(look.by_yp) @ np.abs(yp))).all():
                return False
    return True
