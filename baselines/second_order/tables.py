"""The methods as data: collocation Runge-Kutta tableaus with their second-order twins.

And general linear methods in Nordsieck form.

Numbers are Fractions where the nodes are rational, floats otherwise; every function works with exact numbers
of any kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from herk.core.dae import Array

Vector = list[Any]
Matrix = list[list[Any]]


@dataclass(frozen=True)
class Tableau:
    """A Runge-Kutta method c, A, b with the twins of (28f), which act on second derivatives."""

    c: Vector
    A: Matrix
    b: Vector

    @property
    def A2(self) -> Matrix:  # noqa: N802 - a matrix
        """Return A~ = A A."""
        return product(self.A, self.A)

    @property
    def b2(self) -> Vector:
        """Return b~ = b A."""
        return product([self.b], self.A)[0]


@dataclass(frozen=True)
class GeneralLinear:
    """Quantities x^[n] = V x^[n-1] + h^q B K.

    Derivative d < q of the unknown in the stages is h^-d U[d] x^[n-1] + h^(q-d) A[d] K.

    K are derivatives of order q in the stages; row r of x^[n] stands for h^r times derivative r. `order` is
    that of the solution.
    """

    q: int
    order: int
    c: Vector
    A: list[Matrix]
    U: list[Matrix]
    B: Matrix
    V: Matrix

    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return floats for the kernels, with A[q] = 1 and U[q] = 0 added: K itself."""
        s, k = len(self.c), len(self.V)
        A = np.array([*_floats(self.A), np.eye(s)])
        U = np.array([*_floats(self.U), np.zeros((s, k))])
        return np.array(_floats(self.c)), A, U, np.array(_floats(self.B)), np.array(_floats(self.V))


def _floats(values: Any) -> Any:
    return [_floats(value) for value in values] if isinstance(values, list) else float(values)


def product(A: Matrix, B: Matrix) -> Matrix:
    """Return the matrix product."""
    return [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), start=0 * row[0])
            for column in zip(*B, strict=True)
        ]
        for row in A
    ]


def lagrange(c: Sequence[Any], j: int) -> Vector:
    """Return the coefficients, lowest first, of the Lagrange polynomial (27)."""
    coefficients: Vector = [1 + 0 * c[j]]
    for m, node in enumerate(c):
        if m != j:
            shifted, kept = [0 * node, *coefficients], [*coefficients, 0 * node]
            coefficients = [(a - node * b) / (c[j] - node) for a, b in zip(shifted, kept, strict=True)]
    return coefficients


def collocation(c: Sequence[Any]) -> Tableau:
    """Return the Runge-Kutta method with these nodes, (28c)."""
    polynomials = [lagrange(c, j) for j in range(len(c))]

    def integral(polynomial: Vector, end: Any) -> Any:
        return sum(value * end ** (m + 1) / (m + 1) for m, value in enumerate(polynomial))

    A = [[integral(polynomial, end) for polynomial in polynomials] for end in c]
    return Tableau(list(c), A, [integral(polynomial, 1 + 0 * c[0]) for polynomial in polynomials])


def direct_collocation(c: Sequence[Any]) -> tuple[Matrix, Vector]:
    """Return what collocation of y'' itself has in place of A~ and b~: integrals of (end - x) L_j(x).

    They are exact for one power more than (28f), but unstable on index 3: not used, only compared with.
    """
    polynomials = [lagrange(c, j) for j in range(len(c))]

    def integrals(end: Any) -> Vector:
        return [sum(v * end ** (m + 2) / ((m + 1) * (m + 2)) for m, v in enumerate(p)) for p in polynomials]

    return [integrals(end) for end in c], integrals(1 + 0 * c[0])


def second_order(tableau: Tableau, order: int) -> GeneralLinear:
    """Return the method (29) for second-order systems, as a general linear one (Example 2.7).

    Y and h y' are passed on.
    """
    one, zero = 1 + 0 * tableau.c[0], 0 * tableau.c[0]
    s = len(tableau.c)
    inputs = [[[one, node] for node in tableau.c], [[zero, one]] * s]
    V = [[one, one], [zero, one]]
    return GeneralLinear(2, order, tableau.c, [tableau.A2, tableau.A], inputs, [tableau.b2, tableau.b], V)


def first_order(tableau: Tableau, order: int) -> GeneralLinear:
    """Return the method for first-order systems, as a general linear one."""
    one = 1 + 0 * tableau.c[0]
    return GeneralLinear(1, order, tableau.c, [tableau.A], [[[one]] * len(tableau.c)], [tableau.b], [[one]])


def fractions(rows: str) -> Matrix:
    """Return a matrix written as text, rows ended by semicolons."""
    return [[Fraction(entry) for entry in row.split()] for row in rows.split(";")]


GAUSS = collocation([0.5 - math.sqrt(3) / 6, 0.5 + math.sqrt(3) / 6])
RADAU = collocation([Fraction(1, 3), Fraction(1)])
NODES = [Fraction(1, 4), Fraction(1, 2), Fraction(1)]

# Example 2.11, as printed but for the factor 1/h in front of the middle block, which `GeneralLinear` has by
# definition.
GLM_SECOND = GeneralLinear(
    2,
    3,
    NODES,
    [
        fractions("37/432 -41/576 29/1728; 23/108 -1/9 5/216; 13/27 -1/18 2/27"),
        fractions("4/9 -11/48 5/144; 5/9 -1/12 1/36; 4/9 1/3 2/9"),
    ],
    [fractions("1 1/4 0; 1 1/2 0; 1 1 0"), fractions("0 1 0; 0 1 0; 0 1 0")],
    fractions("13/27 -1/18 2/27; 4/9 1/3 2/9; 0 0 0"),
    fractions("1 1 0; 0 1 0; 0 0 1"),
)

# (65), the first-order method of the same order by W. Wright.
GLM_FIRST = GeneralLinear(
    1,
    2,
    NODES,
    [fractions("1/4 0 0; 1/6 1/4 0; 1/6 1/2 1/4")],
    [fractions("1 0 -1/32; 1 1/12 -1/24; 1 1/12 -1/24")],
    fractions("1/6 1/2 1/4; 0 0 1; 0 -2 2"),
    fractions("1 1/12 -1/24; 0 0 0; 0 0 0"),
)

METHODS = {
    "gauss": second_order(GAUSS, 4),
    "radau": second_order(RADAU, 3),
    "radau_first": first_order(RADAU, 3),
    "glm": GLM_SECOND,
    "glm_first": GLM_FIRST,
}
