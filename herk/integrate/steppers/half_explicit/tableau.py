"""What an explicit Runge-Kutta method is.

Coefficients, error estimator and dense output, checked when they are put together.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from herk.core import InputError
from herk.core.dae import Array

# Sums that must hold exactly may differ by the rounding of their terms; anything larger is a wrong
# coefficient.
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Tableau:
    """An explicit Runge-Kutta method k_i = y'(t + c_i h, y + h sum_j A_ij k_j).

    Y1 = y + h sum_j b_j k_j of order `order`.

    Stages are numbered 0..s-1; number s is the derivative at the new point. HERK computes that one in any
    case, as the first stage of the next step, so the last stage of pairs made for that reuse (dopri5, tsit5,
    bs32) is not among the s stages: dopri5 has s = 6. With constraints the new point is first completed by
    them, so stage s belongs to the completed point.

    Parameters
    ----------
    name, order, A, b, c
        What it is called, its order, and its coefficients.
    error
        Estimates err = h sum_j e_j k_j with e = b - embedded weights, of length s, or s + 1 if stage s takes
        part; none for methods of fixed step; two for dop853 (Hairer's of fifth, then of third order, which
        the controller combines).
    error_order
        Order q of the estimator: err is O(h^(q+1)), the step changes with the power 1/(q+1); 0 without one.
    dense_A, dense_c
        k further stages s+1..s+k for dense output, a row over the stages before each (k x (s+1+k)), and their
        nodes.
    dense_P
        y(t + theta h) = y + h sum_j k_j sum_d P_jd theta^(d+1), (s+1+k) x degree; None where there is no
        dense output.
    dense_order
        The order of that formula for every theta in [0, 1]; 0 without one.
    dense_B
        The same polynomials as sum_i B_ji C(d,i) theta^i (1-theta)^(d-i), (s+1+k) x (d+1); computed from
        dense_P if not given. In powers of theta large terms cancel: rounding is 4e-12 in P's weights for
        verner98, 4e-15 in B's.
    source
        Where the coefficients come from.

    Examples
    --------
    >>> import herk
    >>> midpoint = herk.Tableau("midpoint", order=2, A=[[0, 0], [0.5, 0]], b=[0, 1], c=[0, 0.5])
    >>> midpoint.stages, midpoint.adaptive
    (2, False)

    """

    name: str
    order: int
    A: Array
    b: Array
    c: Array
    error: tuple[Array, ...] = ()
    error_order: int = 0
    dense_A: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dense_c: Array = field(default_factory=lambda: np.zeros(0))
    dense_P: Array | None = None
    dense_order: int = 0
    dense_B: Array | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Freeze the arrays and check that they make an explicit, consistent method."""
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"A method needs a name, not {self.name!r}.")
        if not _whole(self.order) or self.order < 1:
            raise self._wrong(f"the order must be a whole number of at least 1, not {self.order!r}")
        self._freeze()
        self._check_stages()
        self._check_error()
        self._check_dense()

    @property
    def stages(self) -> int:
        """Return s, the number of stages of a step."""
        return len(self.b)

    @property
    def adaptive(self) -> bool:
        """Tell whether there is an error estimator."""
        return bool(self.error)

    @cached_property
    def first_term(self) -> tuple[float, int]:
        """Return c and p of the first error estimate for y' = y, +-c h^p + ...; c = 0 without one."""
        powers = np.ones(self.stages + 1)  # A^q 1, the new point being the last stage
        rows = np.vstack([np.pad(self.A, ((0, 0), (0, 1))), np.append(self.b, 0.0)])
        for weights in self.error[:1]:
            for p in range(1, self.stages + 2):
                c = float(weights @ powers[: weights.size])
                if abs(c) > SLACK:
                    return abs(c), p
                powers = rows @ powers
        return 0.0, 1

    @cached_property
    def mark(self) -> str:
        """Return a short hash of the coefficients.

        Generated code is kept by it, since names may be given twice.
        """
        arrays = (self.A, self.b, self.c, *self.error, self.dense_A, self.dense_c, self.dense_P)
        return hashlib.sha256(
            b"".join(b"" if each is None else each.tobytes() for each in arrays)
        ).hexdigest()[:8]

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild through the constructor, since a copied array forgets that it was read-only."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def _wrong(self, what: str) -> InputError:
        return InputError(f"Method {self.name!r}: {what}.")

    def _freeze(self) -> None:
        arrays: dict[str, Any] = {
            name: self._frozen(name, getattr(self, name)) for name in ("A", "b", "c", "dense_A", "dense_c")
        }
        if not arrays["dense_A"].size:
            arrays["dense_A"] = self._frozen("dense_A", np.zeros((0, arrays["b"].size + 1)))
        arrays["error"] = tuple(self._frozen("error", row) for row in self.error)
        for name in ("dense_P", "dense_B"):
            if getattr(self, name) is not None:
                arrays[name] = self._frozen(name, getattr(self, name))
        for name, value in arrays.items():
            object.__setattr__(self, name, value)

    def _frozen(self, name: str, value: object) -> Array:
        try:
            array = np.array(value, dtype=float, order="C")
        except (TypeError, ValueError):
            raise self._wrong(f"{name} is not an array of numbers") from None
        if not np.isfinite(array).all():
            raise self._wrong(f"{name} contains values that are not finite")
        array.setflags(write=False)
        return array

    def _check_stages(self) -> None:
        s = self.b.size
        if self.b.ndim != 1 or s == 0:
            raise self._wrong(f"b must be a vector of at least one weight, not of shape {self.b.shape}")
        self._check_shape("A", self.A, (s, s))
        self._check_shape("c", self.c, (s,))
        if np.triu(self.A).any():
            i, j = np.argwhere(np.triu(self.A))[0]
            raise self._wrong(f"A[{i},{j}] is not zero, but an explicit method uses earlier stages only")
        self._check_sums("row {} of A", self.A, self.c)
        self._check_sums("b", self.b[None, :], np.ones(1))

    def _check_error(self) -> None:
        s = self.stages
        if bool(self.error) != (_whole(self.error_order) and self.error_order > 0):
            raise self._wrong("error and error_order belong together: give both, or neither")
        if len(self.error) > 2:
            raise self._wrong(f"there can be one or two error estimators, not {len(self.error)}")
        for row in self.error:
            if row.shape not in ((s,), (s + 1,)):
                raise self._wrong(
                    f"an error estimator has shape {row.shape}; for {s} stages it must have {s} or {s + 1}"
                    " entries"
                )
            if not row.any():
                raise self._wrong("an error estimator of zeros alone would accept every step")
            self._check_sums("an error estimator", row[None, :], np.zeros(1))

    def _check_dense(self) -> None:
        s, k = self.stages, self.dense_c.size
        self._check_shape("dense_c", self.dense_c, (k,))
        self._check_shape("dense_A", self.dense_A, (k, s + 1 + k))
        if np.triu(self.dense_A, s + 1).any():
            raise self._wrong("dense_A uses a stage before it is computed")
        self._check_sums("row {} of dense_A", self.dense_A, self.dense_c)
        if self.dense_P is None:
            if self.dense_order or k or self.dense_B is not None:
                raise self._wrong("dense_order, dense_A and dense_B have no meaning without dense_P")
            return
        if not _whole(self.dense_order) or not 1 <= self.dense_order <= self.order:
            raise self._wrong(
                f"dense_order must lie between 1 and the order {self.order}, not {self.dense_order!r}"
            )
        if self.dense_P.ndim != 2 or self.dense_P.shape[1] < self.dense_order:
            raise self._wrong(
                f"dense_P of shape {self.dense_P.shape} is no matrix with at least {self.dense_order} powers"
                " of theta"
            )
        self._check_shape("dense_P", self.dense_P, (s + 1 + k, self.dense_P.shape[1]))
        self._check_sums("at theta = 1 row {} of dense_P", self.dense_P, np.append(self.b, np.zeros(1 + k)))
        self._check_bernstein(self.dense_P)

    def _check_bernstein(self, powers: Array) -> None:
        count, degree = powers.shape
        share = bernstein(degree)
        if self.dense_B is None:
            object.__setattr__(self, "dense_B", self._frozen("dense_B", powers @ share))
            return
        self._check_shape("dense_B", self.dense_B, (count, degree + 1))
        if (np.abs(self.dense_B - powers @ share) > SLACK * (1 + np.abs(powers) @ share)).any():
            raise self._wrong("dense_B and dense_P are different polynomials")

    def _check_shape(self, name: str, array: Array, shape: tuple[int, ...]) -> None:
        if array.shape != shape:
            raise self._wrong(f"{name} has shape {array.shape}; for {self.stages} stages it must be {shape}")

    def _check_sums(self, what: str, rows: Array, sums: Array) -> None:
        found = rows.sum(axis=1)
        for i in np.flatnonzero(np.abs(found - sums) > SLACK * (1 + np.abs(rows).sum(axis=1))):
            raise self._wrong(f"{what.format(i)} sums to {found[i]:.17g} instead of {sums[i]:.17g}")


def bernstein(degree: int) -> Array:
    """Return the matrix that takes coefficients of theta^1..theta^degree to those.

    Of the degree + 1 Bernstein polynomials.
    """
    return np.array([[comb(i, j) / comb(degree, j) for i in range(degree + 1)] for j in range(1, degree + 1)])


def _whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
