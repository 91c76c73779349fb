"""Combinations of rows whose factors divide by what vanishes on the way."""

from __future__ import annotations

import math

import pytest
import sympy as sp

import herk
from herk.model.index_reduction.division import below, common, without_multiples
from tests.fuzz import linear

t, x, y = herk.t, *sp.symbols("x y")
S, C = sp.sin(t), sp.cos(t)


def test_a_denominator_that_another_one_contains_is_not_multiplied_by_twice() -> None:
    # cos^2 - sin^2 = (cos - sin)(cos + sin): times both, what has simple poles would seem to vanish there
    assert common([1 / (C - S), 3 / (2 * C**2 - 1)], {t}) == {2 * C**2 - 1}
    assert common([x / C, 1 / C**2], {t}) == {C**2}
    assert common([1 / C, 1 / S], {t}) == {C, S}


def test_quotients_that_vanish_where_constraints_hold_are_left_out() -> None:
    constraint = x * S + y * C - sp.exp(-t)
    plain = x * C - y * S + t
    written = sp.expand(plain + sp.tan(2 * t).rewrite(sp.cos) * constraint)
    assert below([written], {t})
    assert sp.expand(without_multiples(written, [constraint], {x, y}, {t, x, y}) - plain) == 0


@pytest.mark.parametrize("seed", [11000118, 12000101])
def test_hidden_constraints_of_turning_rows_do_not_divide_by_what_vanishes_on_the_way(seed: int) -> None:
    model = linear.make(seed).model()
    assert below(herk.regularize(model).constraints, {herk.t}) == set()


@pytest.mark.parametrize("end", [1.9, math.nextafter(2.0, 0.0), 2.0])
def test_hidden_constraints_are_no_multiples_of_what_vanishes_at_the_end_or_soon_after_it(end: float) -> None:
    # w = y' once x + z = sin(t) is inserted; times t/2 - 1 its constraint says nothing at t = 2
    equations = ["x' = -x", "x + z = sin(t)", "y = cos(t)", "(t/2 - 1)*y' = (t/2 - 1)*w + x + z - sin(t)"]
    start = {"x": 1, "z": -1, "y": 1, "w": 0}
    model = herk.Model.from_equations("last", equations, start=start, t_span=(0, end))
    (hidden,) = [c for c in herk.regularize(model).constraints if c.has(sp.Symbol("w", real=True))]
    assert hidden.diff(sp.Symbol("w", real=True)).is_number
    for method in ("dopri5", "radau5"):
        sol = herk.solve_dae(model, method=method)
        assert sol.success
        assert sol.y[sol.names.index("w"), -1] == pytest.approx(-math.sin(end), abs=1e-12)
