"""The weights of BDF, (12) and (13), in exact arithmetic.

What the compiled ones are tested against, and when (17) has no solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from baselines.second_order.tables import Matrix, lagrange


def rate(times: Sequence[Fraction], order: int, degree: int) -> Fraction:
    """Return what (12) of this order gives for the derivative of t^degree at times[0].

    Order 0 stands for the exact derivative.
    """
    if order == 0:
        return degree * times[0] ** (degree - 1)
    nodes = [time - times[0] for time in times[: order + 1]]
    return sum((lagrange(nodes, j)[1] * times[j] ** degree for j in range(order + 1)), start=Fraction(0))


def conditions(times: Sequence[Fraction], orders: Sequence[int]) -> Matrix:
    """Return the matrix of (17) with a first row for constants, at times[0] with order orders[0].

    Row d - 1 belongs to t^d.

    Times are newest first; counted from the newest, they make the right-hand side (0, 2, 0, ...). orders[j]
    made derivative j.
    """
    shifted = [time - times[0] for time in times]
    return [
        [rate(shifted[j:], orders[j], degree) for j in range(orders[0] + 1)]
        for degree in range(1, orders[0] + 2)
    ]


def determinant(matrix: Matrix) -> Any:
    """Return the determinant, by elimination in exact numbers."""
    rows, value = [list(row) for row in matrix], Fraction(1)
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != i:
            rows[i], rows[pivot], value = rows[pivot], rows[i], -value
        value *= rows[i][i]
        for r in range(i + 1, len(rows)):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return value


def after_exact_start(k: int, step: int) -> Matrix:
    """Return the conditions in this step after k exact values, all steps equal and of order k."""
    times = [Fraction(-j) for j in range(step + k)]
    return conditions(times, [k] * step + [0] * k)
