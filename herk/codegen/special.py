"""Functions that derivatives bring and no library of C has, by elementary ones: polygamma, from gamma."""

from __future__ import annotations

import sympy as sp

_BEGIN = 10  # where the asymptotic series has all digits of a double
_SHIFT = 16  # steps of the recurrence that lead there
_TERMS = 8  # of the series


def elementary(expr: sp.Expr) -> sp.Expr:
    """Return the expression without polygamma."""
    return expr.replace(sp.polygamma, _polygamma) if expr.has(sp.polygamma) else expr


def _polygamma(order: sp.Expr, x: sp.Expr) -> sp.Expr:
    """Return the derivative of this order of psi(x): x + 1 leads to x, and far to the left 1 - x does."""
    if not order.is_Integer:
        return sp.polygamma(order, x)
    n, y = int(order), sp.Dummy(real=True)
    cotangent = sp.diff(sp.pi * sp.cot(sp.pi * y), y, n).xreplace({y: x})
    beyond = (-1) ** n * _right(n, 1 - x) - cotangent
    return sp.Piecewise((_right(n, x), x > _BEGIN - _SHIFT), (beyond, True))


def _right(n: int, x: sp.Expr) -> sp.Expr:
    y = sp.Dummy(positive=True)
    series = sp.log(y) - 1 / (2 * y)
    series -= sum(sp.bernoulli(2 * k) / (2 * k * y ** (2 * k)) for k in range(1, _TERMS))
    steps = sum((x + k) ** (-n - 1) for k in range(_SHIFT))
    return sp.diff(series, y, n).xreplace({y: x + _SHIFT}) - (-1) ** n * sp.factorial(n) * steps
