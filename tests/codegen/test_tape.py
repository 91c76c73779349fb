"""Values and gradients that ranks are decided with: equal to sympy's own."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from herk.codegen.gradient import gradient
from herk.codegen.groups import LONG
from herk.codegen.tape import Tape

x, y, z = sp.symbols("x y z", real=True)
FORMULAS = [
    x**2 * y - 3 * z / y,
    sp.sqrt(x + y) ** 3 / (1 + z**2) ** sp.Rational(5, 2),
    sp.sin(x * y) * sp.cos(z) ** 2 + sp.tanh(x) + sp.log(1 + y**2),
    sp.exp(-x / y) + x**y + sp.pi * z + sp.E + sp.Float("0.125", 60) * x,
    sp.Piecewise((x * y, x > z), (sp.atan2(y, x), True)),
    (x + y) ** sp.Rational(1, 3) + sp.asin(z / 10) * sp.sinh(x - y),
]


def by_sympy(expr: sp.Expr) -> mpmath.mpf:
    values = {s: sp.Rational(p, q) for s, (p, q) in zip((x, y, z), ((3, 7), (11, 9), (-2, 13)), strict=True)}
    return mpmath.mpf(str(sp.N(expr.subs(values), 45)))


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_values_agree_with_sympy_to_forty_digits(formula: sp.Expr) -> None:
    with mpmath.workdps(50):
        point = [mpmath.mpf(3) / 7, mpmath.mpf(11) / 9, mpmath.mpf(-2) / 13]
        (value,) = Tape((x, y, z), [formula])(point)
        assert abs(value - by_sympy(formula)) < mpmath.mpf(10) ** -40 * (1 + abs(value))


CASES = [((4.0, 1.0), 2.0), ((0.25, 1.0), 16.0), ((-4.0, 3.0), 2.0), ((0.25, 3.0), 12.0), ((0.0, 3.0), None)]


@pytest.mark.parametrize(("at", "value"), CASES)
def test_of_several_cases_only_the_first_that_applies_is_evaluated(at, value) -> None:
    """Others have no value there: the root of a negative number, a division by zero."""
    inside = sp.Piecewise((sp.sqrt(x), sp.Or(x > 3, sp.Not(x > 0))), (1 / x**2, True))
    formula = sp.Piecewise((inside, sp.And(y < 2, x >= 0)), (sp.sqrt(-x), x < 0), (y / x, sp.Ne(x, 0)))
    tape = Tape((x, y), [formula])
    assert tape.floats(at) == [value]
    assert tape([mpmath.mpf(number) for number in at]) == [value]


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_gradients_agree_with_sympy(formula: sp.Expr) -> None:
    found = gradient(formula)
    assert set(found) <= {x, y, z}
    for symbol in (x, y, z):
        difference = found.get(symbol, sp.S.Zero) - sp.diff(formula, symbol)
        with mpmath.workdps(50):
            assert abs(by_sympy(difference)) < mpmath.mpf(10) ** -35


def test_shared_subexpressions_are_computed_once() -> None:
    shared = sp.sin(x + y)
    assert len(Tape((x, y), [shared, shared**2, shared + 1])._operations) == len(
        Tape((x, y), [shared + 1, shared**2])._operations
    )


def test_gradients_of_functions_with_jumps_are_those_between_the_jumps() -> None:
    assert gradient(sp.floor(x) * y) == {y: sp.floor(x)}
    assert gradient(sp.ceiling(x) + sp.frac(y)) == {y: 1}
    assert gradient(sp.Mod(x, y)) == {x: 1, y: -sp.floor(x / y)}


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_long_lists_of_operations_in_doubles_agree_with_short_ones(formula: sp.Expr) -> None:
    many = [sum(formula.xreplace({x: x + k}) * k for k in range(1, 200)), formula]
    point = [3 / 7, 11 / 9, -2 / 13]
    long, short = Tape((x, y, z), many), Tape((x, y, z), [formula])
    assert len(long._operations) > LONG > len(short._operations)
    values = long.floats(point)
    with mpmath.workdps(30):
        exact = [float(v) for v in long([mpmath.mpf(v) for v in point])]
    assert values == pytest.approx(exact, rel=1e-12)
    assert short.floats(point)[0] == pytest.approx(values[1], rel=1e-14)


def test_sizes_tell_values_from_what_cancelling_terms_leave() -> None:
    formulas = [sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, (x + y) ** 2 - x**2 - 2 * x * y - y**2, x - y, 1e-40 * x]
    with mpmath.workdps(50):
        point = [mpmath.mpf(3) / 7, mpmath.mpf(11) / 9]
        ratios = [abs(value) / size for value, size in Tape((x, y), formulas).sized(point, point)]
    assert max(ratios[:2]) < 1e-40
    assert min(ratios[2:]) > 0.1
