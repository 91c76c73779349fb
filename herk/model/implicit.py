"""F(t, y, y') = 0 by callables as a system in w = (y, z), where z are the parts of y' that occur in F.

y' enters F only through D^T y' (the columns of D are orthonormal: mostly unit vectors, for the components
whose derivative occurs). With z = D^T y' the system reads

    D^T y' = z,  0 = F(t, y, D z),

and [D^T 0; F_y F_y' D] is regular if and only if F(t, y, y') = 0 has index 1, whatever combinations of its
rows are free of y'. With all constraints g of a higher index given, they stand for those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herk.core import Dae, HerkError, InputError
from herk.core.dae import Array
from herk.model.evaluate import CallableError, jacobian, real

SAMPLES = 4  # points near the start at which dF/dy' is looked at
NOISE = 1e-7  # of differences, relative to the largest entry: below it, a direction does not occur
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


def written_out(dae: Dae, t_span: tuple[float, float], y0: Sequence[float | None]) -> Implicit:
    """Return the system in (y, z)."""
    n, both = dae.n, _in_both(dae)
    across, down = _occurrence(dae, both, t_span, np.array([0.0 if v is None else v for v in y0]))
    D = _directions(down)
    rows = _directions(across.T) if dae.g is not None else np.eye(n)
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
    )


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


def _occurrence(dae: Dae, both: Dae, t_span: tuple[float, float], y: Array) -> tuple[Array, Array]:
    """Return dF/dy' at points near the start, side by side and one below the other."""
    found, first = [], None
    for t, point in _points(dae.n, t_span, y):
        try:
            with np.errstate(all="ignore"):
                jac = jacobian(both, t, point)[:, dae.n :]
        except HerkError as error:
            first = error if first is None else first
            if not isinstance(error, CallableError):
                raise
            continue
        if np.isfinite(jac).all():
            found.append(jac)
    if not found:
        raise InputError(f"dF/dy' could not be evaluated near the start. {first or 'It is not finite.'}")
    return np.hstack(found), np.vstack(found)


def _points(n: int, t_span: tuple[float, float], y: Array) -> Iterator[tuple[float, Array]]:
    """Yield times and (y, y') near the start."""
    rng, (t0, t1) = np.random.default_rng(17), t_span
    for share in np.linspace(0.0, 1e-3, SAMPLES):
        moved = y + share * rng.uniform(0.5, 1.0, n) * (np.abs(y) + 1.0)
        yield float(t0 + share * (t1 - t0)), np.concatenate([moved, rng.uniform(0.3, 1.5, n)])


def _directions(stacked: Array) -> Array:
    """Return an orthonormal basis of what the columns of these matrices look at; unit vectors if possible."""
    n = stacked.shape[1]
    heights = np.abs(stacked).max(axis=1, initial=0.0)
    scaled = stacked[heights > 0] / heights[heights > 0, None]
    occurs = (np.abs(scaled) > NOISE).any(axis=0)
    part = scaled[:, occurs]
    widths = np.abs(part).max(axis=0, initial=0.0)
    _, values, basis = np.linalg.svd(part / widths, full_matrices=False)
    rank = int((values > 1e2 * NOISE * values.max(initial=0.0)).sum())
    units = np.eye(n)[:, occurs]
    if rank == units.shape[1]:
        return units
    spanned: Array = units @ np.linalg.qr((basis[:rank] * widths).T)[0]
    return spanned


def _named(dae: Dae, D: Array) -> list[str]:
    single = [np.flatnonzero(column) for column in D.T]
    return [f"{dae.names[at[0]]}'" if len(at) == 1 else f"z{k}" for k, at in enumerate(single)]
