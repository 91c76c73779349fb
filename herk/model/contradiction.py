"""Do the constraints fit the equations.

Rows of E y' = f fit each other, and g differentiated along them stays zero, to rounding, in any units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from herk.core import Dae
from herk.core.dae import Array
from herk.linalg.balance import factors
from herk.linalg.differences import STEP
from herk.linalg.independent import independent
from herk.model.evaluate import Linearisation, linearise, located, slopes
from herk.model.large import drifting

SLOW = 1e-3  # relative to the fastest unknown
ROUNDING = 1e-13  # of its terms, below which a sum is zero


def check_constraints(
    system: Any, t: float | None = None, y: Sequence[float] | Array | None = None, tolerance: float = 1e-6
) -> list[str]:
    """Differentiate g along E y' = f; return a sentence for every row that does not stay zero.

    And for rows of E y' = f that exclude each other.

    Parameters
    ----------
    system : Dae, Model or Problem
        What is on trial.
    t, y : optional
        Another point than its own start.
    tolerance : float, optional
        What counts as zero, relative to the terms of a row.

    Examples
    --------
    >>> import herk
    >>> wrong = herk.Dae(E=[[1.0]], f=lambda t, y: [1.0], g=lambda t, y: [y[0] - 2 * t], n=1, m=1)
    >>> herk.check_constraints(wrong, 0.0, [0.0])
    ["Row 0 of g contradicts E y' = f: along the flow its derivative is -1 instead of 0 (t = 0.0)."]

    """
    from herk.model.start import completed_start

    dae, at, start = located(system, t, y, "check_constraints")
    span = getattr(system, "t_span", None)
    here = linearise(dae, at, completed_start(dae, at, start), None if span is None else span[1])
    return contradictions(here, at, tolerance)


def contradictions(here: Linearisation, t: float, tolerance: float = 1e-6) -> list[str]:
    """Return what check_constraints finds, from values at hand."""
    if not len(here.g):
        return []
    if here.sparse:
        return [contrary(i, value, t) for i, value in drifting(here, tolerance, SLOW)]
    used = here.E.any(axis=1)  # a row without derivatives is a constraint, and on trial itself
    E, f = here.E[used], here.f[used]
    f_size = here.f_size[used]
    rows, columns = factors(np.vstack([E, here.jac]))
    top, bottom = rows[: len(E)], rows[len(E) :]
    E, jac = E * top[:, None] * columns, here.jac * bottom[:, None] * columns
    y_size = here.y_size
    speeds = _Speeds.of(E, top * f, top * f_size, y_size / columns)
    off, terms = speeds.left(E, top * f, top * f_size)
    apart = [int(i) for i in np.flatnonzero(used)[~(np.abs(off) <= tolerance * terms)]]
    if apart:
        return [excluding(apart, t)]
    drift, size = _drift(speeds, jac, bottom * here.g_t)
    return [
        contrary(i, drift[i] / bottom[i], t)
        for i in range(len(drift))
        if not abs(drift[i]) <= tolerance * size[i]
    ]


def in_other_steps(dae: Dae, t: float, y: Array, here: Linearisation, floor: Array) -> Linearisation | None:
    """Return the same with dg/dy by steps that fit sizes of tolerances; None if it is given.

    What unknowns far below the others and their constraints show together may be misread.
    """
    if dae.jac_g is not None or dae.large or not dae.m:
        return None
    return replace(here, jac=slopes(dae, t, y, STEP * (np.abs(y) + floor)))


def excluding(rows: list[int], t: float) -> str:
    """Say that no y' satisfies these rows of E y' = f."""
    listed = ", ".join(map(str, rows))
    return f"Rows {listed} of E y' = f contradict each other: no y' satisfies all of them (t = {t!r})."


def contrary(row: int, slope: float, t: float) -> str:
    """Say that a constraint does not stay zero."""
    return (
        f"Row {row} of g contradicts E y' = f: along the flow its derivative is {slope:.3g}"
        f" instead of 0 (t = {t!r})."
    )


@dataclass(frozen=True)
class _Speeds:
    """A y' that satisfies E y' = f as well as any, how large its terms are, and what E leaves open."""

    rate: Array
    size: Array
    y_size: Array
    kernel: Array

    @classmethod
    def of(cls, E: Array, f: Array, f_size: Array, y_size: Array) -> _Speeds:
        inverse, kernel = _inverse(E)
        rate = inverse @ f
        for _ in range(2):  # refined, so that small rates beside large ones are right too
            rate += inverse @ (f - E @ rate)
        return cls(rate, np.abs(inverse) @ f_size, y_size, kernel)

    def left(self, E: Array, f: Array, f_size: Array) -> tuple[Array, Array]:
        """Return what y' leaves of E y' = f, and the size of its terms."""
        return f - E @ self.rate, f_size + np.abs(E) @ self.size

    def in_row(self, jac: Array) -> Array:
        """Return the size of the terms of a constraint that is differentiated.

        A small part of what the constraint would change if all unknowns moved as fast as the fastest of them
        counts as size, too: entries and rates that are zero but for rounding have no size of their own.
        """
        fastest = np.max(self.size / self.y_size, initial=0.0)
        found: Array = np.abs(jac) @ (self.size + SLOW * fastest * self.y_size)
        return found


def at_fault(sentences: list[str]) -> str:
    """Return what these sentences ask to correct."""
    return "E or f" if any(" contradict each other" in each for each in sentences) else "g"


def _drift(speeds: _Speeds, jac: Array, g_t: Array) -> tuple[Array, Array]:
    """Return dg/dt along the flow and the size of its terms; zeros where what E leaves open makes it zero."""
    drift, size = jac @ speeds.rate + g_t, speeds.in_row(jac) + np.abs(g_t)
    free, terms = jac @ speeds.kernel, np.abs(jac) @ np.abs(speeds.kernel)
    return _eliminated(np.where(np.abs(free) > ROUNDING * terms, free, 0.0), drift, size)


def _eliminated(free: Array, drift: Array, size: Array) -> tuple[Array, Array]:
    """Return drift + free @ x and the size of its terms, zero in as many rows as x can make so.

    By elimination, not in least squares, where rows of large units decide for all.
    """
    free, drift, size = free.copy(), drift.copy(), size.copy()
    for _ in range(min(free.shape)):
        row, column = np.unravel_index(int(np.argmax(np.abs(free))), free.shape)
        if free[row, column] == 0.0:
            break
        factor = free[:, column] / free[row, column]
        factor[row] = 0.0
        drift, size = drift - factor * drift[row], size + np.abs(factor) * size[row]
        reached, free = np.abs(free) + np.abs(np.outer(factor, free[row])), free - np.outer(factor, free[row])
        free = np.where(np.abs(free) > ROUNDING * reached, free, 0.0)
        free[:, column], free[row], drift[row], size[row] = 0.0, 0.0, 0.0, 0.0
    return drift, size


def _inverse(E: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of a matrix with entries near one, and a basis of its kernel.

    The basis is one by elimination: what E leaves open in one unknown is not mixed with that in another one,
    whose rate may be larger by any order.
    """
    if not len(E):
        return np.zeros((E.shape[1], 0)), np.eye(E.shape[1])
    u, sizes, v = np.linalg.svd(E)
    k = int(np.sum(sizes > 1e-12 * sizes.max(initial=0.0)))
    return v[:k].T @ (u[:, :k].T / sizes[:k, None]), independent(E.T)[1].T
