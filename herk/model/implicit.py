"""F(t, y, y') = 0 by callables as a system in w = (y, z), where z are the parts of y' that occur in F.

y' enters F only through D^T y' (the columns of D are orthonormal: mostly unit vectors, for the components
whose derivative occurs). With z = D^T y' the system reads

    D^T y' = z,  0 = F(t, y, D z),

and [D^T 0; F_y F_y' D] is regular if and only if F(t, y, y') = 0 has index 1, whatever combinations of its
rows are free of y'. With all constraints g of a higher index given, they stand for those rows. Where other
parts of y' occur at other times there is no such D, and `moving` takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import Dae, InputError
from herk.core.dae import Array
from herk.model.evaluate import jacobian, real
from herk.model.moving import Moving, moving
from herk.model.occurrence import NOISE, columns_of, complement, looks, rows_of

CHECKED = 200  # points of a solution at which dF/dy' is looked at again
HIGHER = (
    "F(t, y, y') = 0 does not determine y' at the start: its index is above 1 there. Give all constraints,"
    " hidden ones included, as g, or write it as a herk.Model, whose hidden constraints are found."
)


@dataclass(frozen=True)
class Implicit(Dae):
    """The system in w = (y, z); `known` is the number of components of y."""

    known: int = 0
    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    row_names: tuple[str, ...] = ()
    whole: Dae | None = None  # as it was given

    def start(self, y0: Sequence[float | None], yp0: Sequence[float | None] | None) -> list[float | None]:
        """Return the start of w; z that is not given is left to be computed."""
        blank: list[float | None] = [None] * (self.n - self.known)
        if yp0 is None:
            return [*y0, *blank]
        used = [self.directions[:, k] != 0 for k in range(len(blank))]
        given = np.array([np.nan if value is None else value for value in yp0], dtype=float)
        for k, where in enumerate(used):
            value = self.directions[where, k] @ given[where]
            blank[k] = None if np.isnan(value) else float(value)
        return [*y0, *blank]


def written_out(dae: Dae, t_span: tuple[float, float], y0: Sequence[float | None], floor: Array) -> Implicit:
    """Return the system in (y, z), or in matrices; `floor` are sizes below which unknowns do not matter."""
    n, both, start = dae.n, _in_both(dae), np.array([0.0 if v is None else v for v in y0])
    other = moving(dae, _residual, t_span, start, floor)
    if other is not None:
        return _in_matrices(dae, other)
    near = looks(dae, both, t_span, start)
    D = columns_of(near)
    rows = rows_of(near) if dae.g is not None else np.eye(n)
    r, k = D.shape[1], rows.shape[1]
    E = np.zeros((n + r, n + r))
    E[:r, :n] = D.T
    names = [f"row {i} of F" for i in range(n)] if k == n else [f"part {i} of F" for i in range(k)]
    system = System(dae, both, D, rows)
    return Implicit(
        E=E,
        f=system.rate,
        g=system.residual,
        n=n + r,
        m=k + dae.m,
        jac_g=system.jacobian if dae.jac_y is not None or dae.jac_yp is not None or dae.jac_g else None,
        names=(*dae.names, *_named(dae, D)),
        known=n,
        directions=D,
        row_names=(*names, *(f"row {i} of g" for i in range(dae.m))),
        whole=dae,
    )


def _in_matrices(dae: Dae, form: Moving) -> Implicit:
    """Return the system as E y' = f with constraints."""
    single = [np.flatnonzero(row) for row in form.free]
    names = [f"row {at[0]} of F" if len(at) == 1 else f"part {k} of F" for k, at in enumerate(single)]
    m, slopes = len(form.free) + dae.m, dae.jac_g
    if dae.g is None and dae.jac_y is not None:
        slopes = form.slopes_of_constraints
    return Implicit(
        E=np.zeros((dae.n, dae.n)) if form.still else form.matrix,
        f=form.rate,
        g=form.constraints if m else None,
        n=dae.n,
        m=m,
        jac_g=slopes,
        names=dae.names,
        known=dae.n,
        directions=np.zeros((dae.n, 0)),
        row_names=(*names, *(f"row {i} of g" for i in range(dae.m))),
        whole=dae,
    )


def occurs_later(system: Implicit, t: Array, w: Array) -> float | None:
    """Return the first of these times at which F depends on a part of y' that the system leaves out."""
    dae, D, n = system.whole, system.directions, system.known
    if dae is None:
        return None
    if system.n == n:  # all of dF/dy' is there, if there is any
        form = system.f.__self__  # type: ignore[attr-defined]
        times = range(t.size if isinstance(form, Moving) and form.still else 0)
        return next((float(t[k]) for k in times if form.moves_at(t[k], w[:, k])), None)
    out, rows = complement(D), complement(rows_of_system(system))
    rng = np.random.default_rng(31)
    for k in np.unique(np.linspace(0, t.size - 1, min(t.size, CHECKED)).astype(int)):
        y, z = w[:n, k], w[n:, k]
        size = np.abs(z).max(initial=0.0) or 1.0
        inside = D @ (size * rng.uniform(0.3, 1.5, D.shape[1]))
        outside = out @ (size * rng.uniform(0.3, 1.5, out.shape[1]))
        here, seen, unseen = (_tried(dae, t[k], y, D @ z + moved) for moved in (0.0 * y, inside, outside))
        seen = seen - here
        if (np.abs(unseen - here) > NOISE * np.abs(seen)).any() or (
            np.abs(rows.T @ seen) > NOISE * (np.abs(rows.T) @ np.abs(seen))
        ).any():  # at the start that is rounding, in units that differ by many orders
            return float(t[k]) if k else None
    return None


def _tried(dae: Dae, t: float, y: Array, yp: Array) -> Array:
    """Return F(t, y, y'), not a number outside its domain."""
    try:
        with np.errstate(all="ignore"):
            return _residual(dae, t, y, yp)
    except Exception:  # noqa: BLE001 - whatever a user's function raises there
        return np.full(dae.n, np.nan)


def rows_of_system(system: Implicit) -> Array:
    """Return the combinations of rows of F that are among its constraints."""
    return system.f.__self__.rows  # type: ignore[attr-defined,no-any-return]


@dataclass(frozen=True)
class System:
    """The functions of w = (y, z)."""

    dae: Dae
    both: Dae  # F as a function of (y, y')
    D: Array
    rows: Array

    def rate(self, t: float, w: Array) -> Array:  # noqa: ARG002
        """Return the right side of D^T y' = z, and zeros."""
        n = self.dae.n
        return np.concatenate([w[n:], np.zeros(n)])

    def residual(self, t: float, w: Array) -> Array:
        """Return F(t, y, D z), or its rows that contain y' with g behind them."""
        y, yp = self._split(w)
        found = _residual(self.dae, t, y, yp)
        if self.dae.g is None:
            return found
        return np.concatenate([self.rows.T @ found, np.asarray(self.dae.g(t, y), dtype=float)])

    residual.called = "F(t, y, y')"  # type: ignore[attr-defined]  # in messages

    def jacobian(self, t: float, w: Array) -> Array:
        """Return the derivative of the residual by w; what the user does not give is a difference."""
        y, yp = self._split(w)
        n, m = self.dae.n, self.dae.m
        whole = jacobian(self.both, t, np.concatenate([y, yp]))
        top = np.hstack([whole[:, :n], whole[:, n:] @ self.D])
        if self.dae.g is None:
            return top
        plain = Dae(E=np.eye(n), f=self.rate, g=self.dae.g, n=n, m=m, jac_g=self.dae.jac_g)
        below = np.hstack([jacobian(plain, t, y), np.zeros((m, self.D.shape[1]))])
        return np.vstack([self.rows.T @ top, below])

    def _split(self, w: Array) -> tuple[Array, Array]:
        n = self.dae.n
        return w[:n], self.D @ w[n:]


def _residual(dae: Dae, t: float, y: Array, yp: Array) -> Array:
    """Return F(t, y, y'), checked."""
    assert dae.F is not None
    value = dae.F(t, y, yp)
    found: Array = np.asarray(() if value is None else real(value), dtype=float)
    if found.shape != (dae.n,):
        raise InputError(
            f"F(t, y, y') returned an array of shape {found.shape}; {dae.n} residuals are needed."
        )
    return found


def _in_both(dae: Dae) -> Dae:
    """Return F with y and y' as unknowns of one vector; derivatives that are given are used."""
    n = dae.n

    def residual(t: float, w: Array) -> Array:
        return _residual(dae, t, w[:n], w[n:])

    residual.called = System.residual.called  # type: ignore[attr-defined]
    plain = Implicit(E=np.zeros((2 * n, 2 * n)), f=residual, g=residual, n=2 * n, m=n, known=n)
    if dae.jac_y is None and dae.jac_yp is None:
        return plain

    def part(given: Callable[..., Any] | None, name: str, t: float, w: Array, columns: slice) -> Array:
        if given is None:
            return jacobian(plain, t, w)[:, columns]
        found: Array = np.asarray(given(t, w[:n], w[n:]), dtype=float)
        if found.shape != (n, n):
            raise InputError(
                f"{name}(t, y, y') returned an array of shape {found.shape}; {n} x {n} is needed."
            )
        return found

    def derivative(t: float, w: Array) -> Array:
        left = part(dae.jac_y, "jac_y", t, w, slice(0, n))
        return np.hstack([left, part(dae.jac_yp, "jac_yp", t, w, slice(n, 2 * n))])

    return Dae(E=plain.E, f=residual, g=residual, n=2 * n, m=n, jac_g=derivative)


def _named(dae: Dae, D: Array) -> list[str]:
    single = [np.flatnonzero(column) for column in D.T]
    return [f"{dae.names[at[0]]}'" if len(at) == 1 else f"z{k}" for k, at in enumerate(single)]
