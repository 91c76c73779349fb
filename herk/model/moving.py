"""F(t, y, y') = 0 that is linear in y', as E y' = f with constraints: E = dF/dy' and f = -F(t, y, 0).

So it is solved where other parts of y' occur at other times, and where units are odd: what is long in its own
unit shows E to rounding, zeros exactly. Constraints are g or, where none is given, the combinations of rows
that are free of y'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import rank
from herk.linalg.independent import independent
from herk.model.rounding import TORN, rounding_in

Residual = Callable[[Dae, float, Array, Array], Array]
AT = (0.0, 2e-4, 1e-3), (0.13, 0.31, 0.57, 0.79, 1.0)  # of the span: near the start, and later
LONG = 2.0**40  # times the rate that crosses an unknown within the span is the y' that shows E
SHORTER = 2.0**25, 2.0**10, 1.0, -(2.0**10)  # that are to show the same
LINEAR = 1e-8  # of an entry, by which they may be off,
ROUNDING = 1e-12  # and of the terms of a row; what is smaller in a combination of rows is zero
TRIED = 1e-2  # of its size, by which y is moved to see how large terms of F are
ODD = 1e9  # times apart sizes and rates are in units that call for this form
KEPT = 1e-11  # of its terms, by which E may change and be taken for the same


@dataclass(frozen=True)
class Moving:
    """The functions E, f, g of such a system; `free` are the combinations of rows that are constraints."""

    dae: Dae
    residual: Residual
    long: Array  # y' that shows E
    span: float
    keep: Array | float = 1.0  # 1 for entries of E, 0 for those of other rows and for rounding
    free: Array = field(default_factory=lambda: np.zeros((0, 0)))
    last: list[Array] = field(default_factory=list, compare=False)  # E, and its size times long

    @property
    def still(self) -> bool:
        """Tell whether y' occurred nowhere."""
        return not np.any(self.keep)

    def moves_at(self, t: float, y: Array) -> bool:
        """Tell whether y' occurs here."""
        return bool((np.abs(self.residual(self.dae, t, y, self.long) - self.at_rest(t, y)) > 0.0).any())

    def matrix(self, t: float, y: Array) -> Array:
        """Return dF/dy' in the rows of E."""
        return self.keep * self.whole(t, y)

    def whole(self, t: float, y: Array) -> Array:
        """Return dF/dy', found anew where it has changed."""
        if self.dae.jac_yp is not None:
            return np.asarray(self.dae.jac_yp(t, y, 0.0 * self.long), dtype=float)
        here = self.at_rest(t, y)
        signed = self.long * np.where(np.arange(self.dae.n) % 2, -0.7, 1.0)  # of no symmetry that E may have
        felt = self.residual(self.dae, t, y, signed) - here
        if self.last and (np.abs(felt - self.last[0] @ signed) <= KEPT * self.last[1]).all():
            return self.last[0]
        found = slopes(self.dae, self.residual, t, y, here, self.long)
        self.last[:] = [found, np.abs(found) @ np.abs(signed)]
        return found

    def at_rest(self, t: float, y: Array) -> Array:
        """Return F(t, y, 0)."""
        return self.residual(self.dae, t, y, np.zeros(self.dae.n))

    def rate(self, t: float, y: Array) -> Array:
        """Return -F(t, y, 0) in the rows of E."""
        return np.where(np.any(self.keep, axis=-1), -self.at_rest(t, y), 0.0)

    def constraints(self, t: float, y: Array) -> Array:
        """Return g, or the combinations of rows of F without y' where none is given."""
        if self.dae.g is not None:
            return np.asarray(self.dae.g(t, y), dtype=float)
        found: Array = self.free @ self.at_rest(t, y)
        return found

    constraints.called = "F(t, y, y')"  # type: ignore[attr-defined]  # in messages

    def slopes_of_constraints(self, t: float, y: Array) -> Array:
        """Return dg/dy, where dF/dy is given."""
        assert self.dae.jac_y is not None
        found: Array = self.free @ np.asarray(self.dae.jac_y(t, y, np.zeros(self.dae.n)), dtype=float)
        return found


def slopes(dae: Dae, residual: Residual, t: float, y: Array, here: Array, steps: Array) -> Array:
    """Return dF/dy' by differences from y' = 0, of this length for each part."""
    found = np.zeros((dae.n, dae.n))
    for j, step in enumerate(steps):
        moved = np.zeros(dae.n)
        moved[j] = step
        found[:, j] = (residual(dae, t, y, moved) - here) / step
    return found


def moving(dae: Dae, residual: Residual, span: tuple[float, float], y: Array, floor: Array) -> Moving | None:
    """Return the system in this form, if that is needed and F is linear in y' wherever it is looked at.

    `floor` are sizes below which unknowns do not matter.
    """
    if dae.large:
        return None
    size = np.abs(y) + floor
    length = abs(span[1] - span[0])
    long = 2.0 ** np.ceil(np.log2(LONG * size / length))
    made, seen = Moving(dae, residual, long, length), []
    for t, point, near in _points(span, y, size):
        try:
            with np.errstate(all="ignore"):
                found = _look(made, t, point)
        except Exception:  # noqa: BLE001 - whatever a user's function raises; later, y is elsewhere
            if near:
                return None
            continue
        if found is None:
            return None
        seen.append(found)
    lost = rounding_in(made.whole, span, y, floor)
    sure = [np.where(lost | unsure, 0.0, each) for each, unsure in seen]
    lost |= np.any([unsure for _, unsure in seen], axis=0) & ~np.any(sure, axis=0)
    pivots, free = independent(np.hstack(sure))
    most = max(rank(each) for each in sure)
    turning = len(pivots) > most
    moves = turning or rank(np.vstack(sure)) > most
    if dae.g is None and not (moves or lost.any() or _odd(np.concatenate([size, long / LONG]))):
        return None
    keep = np.where(lost, 0.0, float(np.any(sure) or lost.any()))
    if dae.g is not None:
        return Moving(dae, residual, long, length, keep)
    if turning:  # what is free of y' is another combination at every time
        return None
    keep[np.setdiff1d(np.arange(dae.n), pivots)] = 0.0
    return Moving(dae, residual, long, length, keep, free)


def _odd(sizes: Array) -> bool:
    """Tell whether numbers of this size, and one, are far apart."""
    return bool(max(sizes.max(), 1.0) > ODD * min(sizes.min(), 1.0))


def _points(span: tuple[float, float], y: Array, size: Array) -> Iterator[tuple[float, Array, bool]]:
    rng, (t0, t1) = np.random.default_rng(17), span
    for near, shares in zip((True, False), AT, strict=True):
        for share in shares:
            moved = min(share, 1e-3) * rng.uniform(0.5, 1.0, len(y)) * size
            yield float(t0 + share * (t1 - t0)), y + moved, near


def _look(form: Moving, t: float, y: Array) -> tuple[Array, NDArray[np.bool_]] | None:
    """Return dF/dy' at a point, and which entries are rounding; None if F is not linear in y'."""
    dae, residual, rng = form.dae, form.residual, np.random.default_rng(29)
    here = form.at_rest(t, y)
    E = slopes(dae, residual, t, y, here, form.long)
    if not (np.isfinite(E).all() and np.isfinite(here).all()):
        return None
    unit = form.long / LONG
    moved = residual(dae, t, y + TRIED * unit * form.span * rng.choice([-1.0, 1.0], dae.n), 0.0 * unit)
    terms = np.abs(here) + np.abs(E) @ unit + np.abs(moved - here) / TRIED
    unsure = np.zeros(E.shape, dtype=bool)
    for step in SHORTER:
        other = slopes(dae, residual, t, y, here, step * unit)
        if step == SHORTER[0]:  # at which nothing but rounding is another number
            unsure = np.abs(other - E) > TORN * np.abs(E)
        if not (np.abs(other - E) * unit <= LINEAR * np.abs(E) * unit + ROUNDING * terms[:, None]).all():
            return None
        rates = step * unit * rng.uniform(-1.0, 1.0, dae.n)
        off = residual(dae, t, y, rates) - here - E @ rates
        if not (np.abs(off) <= LINEAR * (np.abs(E) @ np.abs(rates)) + ROUNDING * terms).all():
            return None
    return E, unsure
