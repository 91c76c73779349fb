"""Simplifying assumptions of Runge-Kutta methods, their second-order twins.

Exactness of general linear methods: in exact arithmetic.

Coefficients are Fractions or sympy numbers; nothing is rounded, so that a condition holds or it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count, takewhile
from math import perm
from typing import Any

from baselines.second_order.tables import GeneralLinear, Tableau, collocation, product

MOST = 12  # no method here gets that far


def exact_gauss() -> Tableau:
    """Return the Gauss method of two stages with the nodes as algebraic numbers."""
    import sympy as sp

    return collocation([sp.Rational(1, 2) - sp.sqrt(3) / 6, sp.Rational(1, 2) + sp.sqrt(3) / 6])


def vanishes(value: Any) -> bool:
    """Tell whether an exact number is zero; floats are refused, they never are."""
    if isinstance(value, (int, Fraction)):
        return value == 0
    if isinstance(value, float):
        raise TypeError("Conditions are checked in exact arithmetic; give Fractions or sympy numbers.")
    return bool(value.expand() == 0)


def _highest(holds: Callable[[int], bool]) -> int:
    """Return the largest k <= MOST such that the condition holds for 1, ..., k."""
    return sum(1 for _ in takewhile(lambda k: k <= MOST and holds(k), count(1)))


def _sum(weights: Any, nodes: Any, power: int) -> Any:
    return sum(w * c**power for w, c in zip(weights, nodes, strict=True))


def assumptions(m: Tableau) -> dict[str, int]:
    """Return the highest p, q, xi with B(p), C(q), D(xi).

    And those of the twins, which the paper counts one higher than their last k.
    """
    c, b, b2, stages = m.c, m.b, m.b2, range(len(m.c))

    def d(A: Any, right: Callable[[Any, int], Any]) -> Callable[[int], bool]:
        columns = [[row[j] for row in A] for j in stages]
        return lambda k: all(
            vanishes(
                sum(w * n ** (k - 1) * a for w, n, a in zip(b, c, columns[j], strict=True)) - right(j, k)
            )
            for j in stages
        )

    return {
        "B": _highest(lambda k: vanishes(_sum(b, c, k - 1) - Fraction(1, k))),
        "C": _highest(lambda k: all(vanishes(_sum(m.A[i], c, k - 1) - c[i] ** k / k) for i in stages)),
        "D": _highest(d(m.A, lambda j, k: b[j] * (1 - c[j] ** k) / k)),
        "B~": 1 + _highest(lambda k: vanishes(_sum(b2, c, k - 1) - Fraction(1, k * (k + 1)))),
        "C~": 1
        + _highest(
            lambda k: all(vanishes(_sum(m.A2[i], c, k - 1) - c[i] ** (k + 1) / (k * (k + 1))) for i in stages)
        ),
        "D~": 1 + _highest(d(m.A2, lambda j, k: twin_d(b[j], c[j], k))),
    }


def twin_d(b: Any, c: Any, k: int) -> Any:
    """Return the right-hand side of D~ as it must read: b_j times all three terms, with c_j."""
    return b * (c ** (k + 1) / (k * (k + 1)) - c / k + Fraction(1, k + 1))


def printed_twin_d(b: Any, c: Any, k: int) -> Any:
    """Return the right-hand side of D~ as printed, b_j times the first term only, its c_i read as c_j."""
    return b * c ** (k + 1) / (k * (k + 1)) - c / k + Fraction(1, k + 1)


def classical_order(m: Tableau) -> int:
    """Return Butcher's bound: B(p), C(q), D(xi) give order min(p, q + xi + 1, 2 q + 2)."""
    found = assumptions(m)
    return min(found["B"], found["C"] + found["D"] + 1, 2 * found["C"] + 2)


def exactness(m: GeneralLinear) -> dict[str, list[int]]:
    """Return the highest degree of polynomials for which stages (each derivative).

    And outputs (each row) are exact, input exact.

    A method of order p in the sense of Definition 2.8 has p in every entry; exact stages of degree p are
    stage order p.
    """
    stages = [_highest(lambda degree, d=d: _stage_holds(m, d, degree)) for d in range(m.q)]  # type: ignore[misc]
    outputs = [_highest(lambda degree, r=r: _output_holds(m, r, degree)) for r in range(len(m.V))]  # type: ignore[misc]
    return {"stages": stages, "outputs": outputs}


def _derivative(degree: int, d: int, at: Any) -> Any:
    """Return derivative d of t^degree."""
    return perm(degree, d) * at ** (degree - d) if d <= degree else 0 * at


def _made(m: GeneralLinear, inputs: Any, matrix: Any, degree: int) -> list[Any]:
    """Return what the method makes of t^degree with step 1."""
    passed = [[Fraction(perm(degree, degree) if r == degree else 0)] for r in range(len(m.V))]
    K = [[_derivative(degree, m.q, node)] for node in m.c]
    return [a[0] + b[0] for a, b in zip(product(inputs, passed), product(matrix, K), strict=True)]


def _stage_holds(m: GeneralLinear, d: int, degree: int) -> bool:
    made = _made(m, m.U[d], m.A[d], degree)
    return all(vanishes(value - _derivative(degree, d, node)) for value, node in zip(made, m.c, strict=True))


def _output_holds(m: GeneralLinear, r: int, degree: int) -> bool:
    return vanishes(_made(m, m.V, m.B, degree)[r] - _derivative(degree, r, Fraction(1)))
