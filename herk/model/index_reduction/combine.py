"""The symbolic part of Procedure 2.4.

Factors z with sum_s z_s B_s = a for a row a that depends on the rows B_s.

Every entry carries its values at the consistent points, so whether it is zero is never guessed from its form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import sympy as sp

from herk.linalg.rank import CLEAN, GOOD, TINY

Tidy = Callable[[sp.Expr], sp.Expr]


class NoPivotError(ArithmeticError):
    """No entry can be divided by at all the points."""


@dataclass(frozen=True)
class Entry:
    """An expression, its values at the points (in a matrix of size one), and the sizes of its terms."""

    expr: sp.Expr
    values: tuple[Any, ...]
    sizes: tuple[Any, ...]

    @property
    def zero(self) -> bool:
        """Tell whether it vanishes at every point."""
        return all(abs(v) <= CLEAN * s for v, s in zip(self.values, self.sizes, strict=True))

    @property
    def quality(self) -> float:
        """Return how good a pivot it is at the worst point: 0 where it vanishes, or is only rounding."""
        pairs = zip(self.values, self.sizes, strict=True)
        return float(min((abs(v) if abs(v) > TINY * s else mpmath.mpf(0) for v, s in pairs), default=0.0))

    def minus(self, factor: Entry, other: Entry) -> Entry:
        """Return self - factor * other."""
        products = [a * b for a, b in zip(factor.values, other.values, strict=True)]
        values = tuple(v - p for v, p in zip(self.values, products, strict=True))
        sizes = tuple(max(s, abs(p)) for s, p in zip(self.sizes, products, strict=True))
        return Entry(self.expr - factor.expr * other.expr, values, sizes)

    def over(self, pivot: Entry, tidy: Tidy) -> Entry:
        """Return self / pivot; `tidy` is asked if there is anything to cancel."""
        values = tuple(v / p for v, p in zip(self.values, pivot.values, strict=True))
        sizes = tuple(s / abs(p) for s, p in zip(self.sizes, pivot.values, strict=True))
        plain = not self.expr.free_symbols & pivot.expr.free_symbols
        return Entry(self.expr / pivot.expr if plain else tidy(self.expr / pivot.expr), values, sizes)


def nothing(points: int) -> Entry:
    """Return the entry 0."""
    return Entry(sp.S.Zero, (mpmath.mpf(0),) * points, (mpmath.mpf(0),) * points)


def factors(
    target: Mapping[int, Entry], rows: Mapping[int, Mapping[int, Entry]], tidy: Tidy
) -> dict[int, Entry]:
    """Return z by sparse elimination over the columns: among good pivots the simplest first."""
    equations = _columns(target, rows)
    solved: list[tuple[int, dict[int, Entry], Entry]] = []
    while equations:
        k, s = min(_candidates(equations), key=lambda c: _cost(equations[c[0]], c[1]))
        coefficients, right = equations.pop(k)
        pivot = coefficients.pop(s)
        rest = {i: e.over(pivot, tidy) for i, e in coefficients.items()}
        right = right.over(pivot, tidy)
        solved.append((s, rest, right))
        equations = [eq for eq in (_eliminated(eq, s, rest, right, tidy) for eq in equations) if eq[0]]
    z: dict[int, Entry] = {}
    for s, rest, right in reversed(solved):
        for i, coefficient in rest.items():
            right = right.minus(coefficient, z[i])
        z[s] = replace(right, expr=tidy(right.expr))
    return {s: value for s, value in z.items() if not value.zero}


_Equation = tuple[dict[int, Entry], Entry]


def _columns(target: Mapping[int, Entry], rows: Mapping[int, Mapping[int, Entry]]) -> list[_Equation]:
    points = next((len(e.values) for row in rows.values() for e in row.values()), 0)
    used = sorted({j for row in rows.values() for j in row})
    equations = [
        (
            {i: row[j] for i, row in rows.items() if j in row and not row[j].zero},
            target.get(j) or nothing(points),
        )
        for j in used
    ]
    return [eq for eq in equations if eq[0]]


def _candidates(equations: Sequence[_Equation]) -> list[tuple[int, int]]:
    """Return (equation, unknown) pairs whose coefficient may be divided by.

    Well away from zero at all points.
    """
    pairs = [
        (k, s, e.quality) for k, (coefficients, _) in enumerate(equations) for s, e in coefficients.items()
    ]
    best = max(quality for _, _, quality in pairs)
    if not best:
        raise NoPivotError
    return [(k, s) for k, s, quality in pairs if quality >= min(GOOD, best)]


def _cost(equation: _Equation, s: int) -> tuple[int, int, int]:
    coefficients, right = equation
    pivot = coefficients[s].expr
    kind = 0 if pivot in (1, -1) else 1 if pivot.is_number else 2
    return len(coefficients), kind, sp.count_ops(pivot) + sp.count_ops(right.expr)


def _eliminated(equation: _Equation, s: int, rest: dict[int, Entry], right: Entry, tidy: Tidy) -> _Equation:
    coefficients, own = equation
    if s not in coefficients:
        return equation
    kept = dict(coefficients)
    factor = kept.pop(s)
    for i, e in rest.items():
        base = kept.get(i) or nothing(len(e.values))
        new = base.minus(factor, e)
        kept[i] = replace(new, expr=tidy(new.expr))
        if new.zero:
            del kept[i]
    return kept, own.minus(factor, right) if kept else own
