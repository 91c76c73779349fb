"""Decimal numbers mean what they say, so that what cancels on paper cancels in the analysis."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from herk.model.model import Model
from herk.model.numbers import exact, inserted, without_floats
from herk.model.regularize import regularize
from tests.fuzz.linear import make

# Random linear DAEs in decimal units. With binary numbers these had a wrong index or formulas with noise in
# them; 9056 was analysed without an end.
SEEDS = [7001, 7048, 9001, 9006, 9016, 9017, 9019, 9021, 9026, 9028, 9039, 9041, 9046, 9049, 9051, 9056]


@pytest.mark.parametrize("seed", [*SEEDS, *range(20)])
def test_index_is_that_of_the_nilpotent_block_and_the_solution_meets_all_constraints(seed: int) -> None:
    member = make(seed)
    model = member.model()
    found = regularize(model, time_limit=30.0)
    assert f"index {found.index}," in member.kind
    for t in np.linspace(*member.t_span, 5):
        y = member.truth(np.array([t]))[:, 0]
        at = {model.t: sp.Rational(t)} | dict(zip(model.states, map(sp.Rational, y), strict=True))
        for constraint in found.constraints:
            slopes = [abs(constraint.diff(s).subs(at) * at[s]) for s in (model.t, *model.states)]
            assert abs(constraint.subs(at).evalf(30)) <= 1e-12 * max(slopes).evalf(30)


def test_a_double_is_the_decimal_it_was_written_as() -> None:
    assert exact(0.1) == sp.Rational(1, 10)
    assert exact(-6.674e-11) == sp.Rational(-6674, 10**14)
    assert exact(1e22) == 10**22
    assert exact(-0.0) == 0


def test_a_double_with_all_its_digits_is_itself() -> None:
    for value in (1 / 3, 2.0**-40, np.nextafter(0.1, 1.0)):
        assert exact(float(value)) == sp.Rational(float(value))


def test_every_double_keeps_its_value() -> None:
    for word in np.random.default_rng(0).integers(0, 0x7FE0 << 48, 500, dtype=np.uint64):
        value = float(np.uint64(word).view(np.float64))
        assert exact(value).p / exact(value).q == value


def test_exponents_stay_decimal_unless_they_are_simple() -> None:
    x, gamma = sp.symbols("x gamma", positive=True)
    assert without_floats(0.1 * x**2.0 + x**0.5) == x**2 / 10 + sp.sqrt(x)
    assert without_floats(x**0.3717).exp.is_Float
    assert inserted(x**gamma, {gamma: 1.5}) == x ** sp.Rational(3, 2)
    assert inserted(x**gamma, {gamma: 4 / 3}).exp.is_Float
    assert inserted(gamma * x, {gamma: 0.1}) == x / 10


@pytest.mark.parametrize(("a", "b", "c"), [(0.1, 0.2, 0.3), (1.1, 2.2, 3.3), (1e-9, 1.0, 1.000000001)])
def test_parameters_that_cancel_as_decimals_cancel_in_the_analysis(a: float, b: float, c: float) -> None:
    # (a + b - c) z' = ... is no differential equation: z = -x, of index 1. As doubles a + b - c is no zero.
    E = [["1", "0"], ["0", "a + b - c"]]
    values = {"a": a, "b": b, "c": c}
    model = Model("sum", ["x", "z"], E, ["z", "x + z"], parameters=values, t_span=(0, 1), y0=[1, -1])
    found = regularize(model)
    assert found.index == 1
    assert found.constraints == [sp.Add(*model.states)]
