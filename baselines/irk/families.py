"""Tableaus of Gauss, Radau IA, Radau IIA, Lobatto IIIA and Lobatto IIIC for any number of stages.

Exact or to 60 digits.

Nodes are the zeros of polynomials with whole coefficients; everything else follows from the nodes by
integrals of Lagrange polynomials. Where all nodes are rational the whole tableau consists of fractions,
otherwise of decimals with DIGITS digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import zip_longest
from math import comb

import numpy as np
from scipy.special import roots_sh_jacobi

from herk.core import InputError, nearest
from herk.core.dae import Array

DIGITS, _GUARD = 60, 60  # guard digits: monomials are an ill-conditioned basis, and cost nothing here

Number = Fraction | Decimal
Row = tuple[Number, ...]
Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Implicit:
    """An implicit Runge-Kutta method; B(order), C(stage_order) and D(dual_order) hold."""

    family: str
    A: Rows
    b: Row
    c: Row
    order: int
    stage_order: int
    dual_order: int

    @property
    def stages(self) -> int:
        """Return the number of stages."""
        return len(self.b)

    @property
    def exact(self) -> bool:
        """Tell whether all coefficients are fractions."""
        return all(isinstance(value, Fraction) for value in (*self.b, *self.c))

    @property
    def explicit_first(self) -> bool:
        """Tell whether the first stage is the old value.

        Then A is singular, and only the other stages are unknown.
        """
        return not any(self.A[0])

    @property
    def stiffly_accurate(self) -> bool:
        """Tell whether the new value is the last stage."""
        return all(
            abs(a - b) < Decimal(10) ** (3 - DIGITS)
            for a, b in zip(map(_decimal, self.A[-1]), map(_decimal, self.b), strict=True)
        )

    @property
    def at_infinity(self) -> float:
        """Return R(inf), by which errors of algebraic unknowns are multiplied in each step of index 1."""
        A, b, _ = self.floats()
        if self.explicit_first:  # stiffly accurate, first stage known
            return float(-np.linalg.solve(A[1:, 1:], A[1:, 0])[-1])
        return float(1 - b @ np.linalg.solve(A, np.ones(self.stages)))

    def floats(self) -> tuple[Array, Array, Array]:
        """Return A, b, c in double precision."""
        return np.array(self.A, dtype=float), np.array(self.b, dtype=float), np.array(self.c, dtype=float)

    def decimals(self) -> tuple[Array, Array, Array]:
        """Return A, b, c as arrays of decimals, for arithmetic with many digits."""
        return tuple(
            np.vectorize(_decimal, otypes=[object])(np.array(part, dtype=object))
            for part in (self.A, self.b, self.c)
        )  # type: ignore[return-value]


def tableau(family: str, stages: int) -> Implicit:
    """Return the method of this family with this many stages."""
    if family not in FAMILIES:
        raise nearest(family, FAMILIES, "family of implicit Runge-Kutta methods")
    least = 2 if family.startswith("lobatto") else 1
    if isinstance(stages, bool) or not isinstance(stages, int) or stages < least:
        raise InputError(f"Family {family!r} has methods with {least} or more stages, not {stages!r}.")
    return _tableau(family, stages)


@cache
def _tableau(family: str, s: int) -> Implicit:
    with localcontext() as context:
        context.prec = DIGITS + _GUARD
        A, b, c, orders = FAMILIES[family](s)
    with localcontext() as context:
        context.prec = DIGITS
        return Implicit(
            family,
            tuple(tuple(+a for a in row) for row in A),
            tuple(+v for v in b),
            tuple(+v for v in c),
            *orders,
        )


def _gauss(s: int) -> tuple[Rows, Row, Row, tuple[int, int, int]]:
    c = _nodes("gauss", s)
    return *_collocation(c), c, (2 * s, s, s)


def _radau_iia(s: int) -> tuple[Rows, Row, Row, tuple[int, int, int]]:
    c = _nodes("radau_iia", s)
    return *_collocation(c), c, (2 * s - 1, s, s - 1)


def _lobatto_iiia(s: int) -> tuple[Rows, Row, Row, tuple[int, int, int]]:
    c = _nodes("lobatto_iiia", s)
    return *_collocation(c), c, (2 * s - 2, s, s - 2)


def _radau_ia(s: int) -> tuple[Rows, Row, Row, tuple[int, int, int]]:
    """Return the method fixed by D(s).

    B_i a_ij = b_j times the integral of the i-th Lagrange polynomial from c_j to 1.
    """
    c = _nodes("radau_ia", s)
    basis = _lagrange(c)
    b = tuple(_integral(p, 1) for p in basis)
    A = tuple(tuple(b[j] * (b[i] - _integral(basis[i], c[j])) / b[i] for j in range(s)) for i in range(s))
    return A, b, c, (2 * s - 1, s - 1, s)


def _lobatto_iiic(s: int) -> tuple[Rows, Row, Row, tuple[int, int, int]]:
    """Return the method fixed by a_i1 = b_1 and C(s - 1)."""
    c = _nodes("lobatto_iiic", s)
    b = tuple(_integral(p, 1) for p in _lagrange(c))
    rest = _lagrange(c[1:])
    A = tuple((b[0], *(_integral(p, x) - b[0] * p[0] for p in rest)) for x in c)
    return A, b, c, (2 * s - 2, s - 1, s - 1)


FAMILIES: dict[str, Callable[[int], tuple[Rows, Row, Row, tuple[int, int, int]]]] = {
    "gauss": _gauss,
    "radau_ia": _radau_ia,
    "radau_iia": _radau_iia,
    "lobatto_iiia": _lobatto_iiia,
    "lobatto_iiic": _lobatto_iiic,
}


def node_polynomial(family: str, s: int) -> list[int]:
    """Return the polynomial whose zeros are the nodes, whole coefficients, lowest power first."""
    left, right = _ENDS[family]
    other, sign = _legendre(s - left - right), 1 if left > right else -1
    return (
        _legendre(s)
        if not left + right
        else [a + sign * b for a, b in zip_longest(_legendre(s), other, fillvalue=0)]
    )


_ENDS = {
    "gauss": (0, 0),
    "radau_ia": (1, 0),
    "radau_iia": (0, 1),
    "lobatto_iiia": (1, 1),
    "lobatto_iiic": (1, 1),
}  # 0, 1 are nodes


def _legendre(k: int) -> list[int]:
    """Return the Legendre polynomial of degree k shifted to [0, 1]."""
    return [(-1) ** (k + i) * comb(k, i) * comb(k + i, i) for i in range(k + 1)]


def _nodes(family: str, s: int) -> Row:
    (left, right), polynomial = _ENDS[family], node_polynomial(family, s)
    inner = s - left - right
    start = roots_sh_jacobi(inner, left + right + 1, left + 1)[0] if inner else []
    roots: list[Number] = [
        *[Fraction(0)] * left,
        *(_root(polynomial, float(x)) for x in start),
        *[Fraction(1)] * right,
    ]
    return (
        tuple(roots)
        if all(isinstance(root, Fraction) for root in roots)
        else tuple(_decimal(root) for root in roots)
    )


def _root(polynomial: list[int], start: float) -> Number:
    """Return the zero near `start`: a fraction if it is one, otherwise refined by Newton's method."""
    guess = Fraction(start).limit_denominator(100)
    if abs(guess - Fraction(start)) < Fraction(1, 10**12) and _value(polynomial, guess) == 0:
        return guess
    x, slope = Decimal(start), [k * a for k, a in enumerate(polynomial)][1:]
    for _ in range(8):  # 15 digits double with every step
        x -= _value(polynomial, x) / _value(slope, x)
    return x


def _value(polynomial: Sequence[Number | int], x: Number) -> Number:
    result = x * 0
    for a in reversed(polynomial):
        result = result * x + a  # type: ignore[operator]
    return result


def _collocation(c: Row) -> tuple[Rows, Row]:
    basis = _lagrange(c)
    return tuple(tuple(_integral(p, x) for p in basis) for x in c), tuple(_integral(p, 1) for p in basis)


def _lagrange(c: Row) -> list[list[Number]]:
    """Return the Lagrange polynomials of the nodes, lowest power first."""
    result = []
    for j, own in enumerate(c):
        p: list[Number] = [own * 0 + 1]
        for x in (*c[:j], *c[j + 1 :]):
            shifted, scaled = [own * 0, *p], [*(-x * a for a in p), own * 0]
            p = [(a + b) / (own - x) for a, b in zip(shifted, scaled, strict=True)]  # type: ignore[operator]
        result.append(p)
    return result


def _integral(p: Sequence[Number], x: Number | int) -> Number:
    """Return the integral from 0 to x."""
    result = p[0] * 0
    for k in range(len(p), 0, -1):
        result = (result + p[k - 1] / k) * x  # type: ignore[operator]
    return result


def _decimal(value: Number) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS + _GUARD
        return Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else value
