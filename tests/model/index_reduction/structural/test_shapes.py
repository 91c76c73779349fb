"""Formulas that are the same but for their unknowns share one shape, and come back as they were."""

from __future__ import annotations

import sympy as sp

from herk.codegen.shapes import Catalogue
from herk.model.index_reduction.structural.rows import digest
from tests.model.index_reduction.structural.models import chain, pipes

t, *y = sp.symbols("t a b c d", real=True)
k, q = sp.symbols("k q", real=True)


def catalogue() -> Catalogue:
    """Return an empty one over four states and two parameters."""
    return Catalogue(t, y, (k, q))


def test_the_same_formula_in_other_unknowns_has_the_same_shape() -> None:
    known = catalogue()
    a, b, c, d = y
    first, second = known.read((a - b) ** 2 + k * sp.sin(t)), known.read((c - d) ** 2 + q * sp.sin(t))
    assert first.shape is second.shape
    assert (first.states, second.states) == ([0, 1], [2, 3]) or set(second.states) == {2, 3}


def test_an_unknown_in_two_places_is_another_shape_than_two_unknowns() -> None:
    known = catalogue()
    a, b, c, _ = y
    assert known.read(a * sp.cos(a)).shape is not known.read(b * sp.cos(c)).shape


def test_formulas_come_back_exactly() -> None:
    known = catalogue()
    a, b, c, _ = y
    written = [
        a + sp.Rational(123456789, 10**6) * b,
        sp.Piecewise((a, t < sp.Rational(1, 3)), (b**2, True)),
        sp.sqrt(a**2 + sp.Rational(1, 1000)) ** 3 / (k * c),
        sp.S.Zero,
        sp.Rational(22, 7) ** sp.Rational(1, 3) * a,
        sp.Max(a, b) + sp.Abs(c) * sp.exp(-q * t),
    ]
    for expr in written:
        assert known.written(known.read(expr)) == expr


def test_long_numbers_are_places_and_short_ones_belong_to_the_shape() -> None:
    known = catalogue()
    a, b, *_ = y
    assert known.read(sp.Rational(31, 10) * a).shape is known.read(sp.Rational(47, 10) * b).shape
    assert known.read(2 * a).shape is not known.read(3 * a).shape
    assert known.numbers == [sp.Rational(31, 10), sp.Rational(47, 10)]


def test_numbers_added_are_places() -> None:
    known = catalogue()
    a, b, *_ = y
    assert known.read((a - 2) ** 2).shape is known.read((b - sp.Rational(1, 15)) ** 2).shape
    assert known.written(known.read((a - 2) ** 2)) == (a - 2) ** 2


def test_derivatives_are_made_once_for_a_shape_and_are_right_for_each_formula() -> None:
    known = catalogue()
    a, b, c, d = y
    for u, v in ((a, b), (c, d), (d, a)):
        expr = (u - v) ** 3 * sp.sin(k * u)
        found = known.gradient(known.read(expr))
        for state, slope in found.items():
            assert sp.expand(known.written(slope) - sp.diff(expr, y[state])) == 0
    assert len(found) == 2


def test_composition_knows_which_places_coincide() -> None:
    known = catalogue()
    a, b, *_ = y
    calls = []

    def product(parts: list[sp.Expr], _: object) -> sp.Expr:
        calls.append(parts)
        return sp.Mul(*parts)

    results = [
        known.written(known.compose("product", [known.read(u - 1), known.read(v - 1)], product))
        for u, v in ((a, b), (b, a), (a, a))
    ]
    assert results == [(a - 1) * (b - 1), (a - 1) * (b - 1), (a - 1) ** 2]
    assert len(calls) == 2


def test_rows_of_a_long_chain_have_few_shapes() -> None:
    model = chain(50)
    known = Catalogue(model.t, model.states, model.parameters)
    assert len({known.read(row).shape for row in model.f}) <= 10


def test_the_digest_tells_models_apart_and_forgets_values() -> None:
    model = chain(30)
    assert model.n > 100
    assert model.structure == digest(chain(30).with_parameters(g=1.62).with_start([0.0] * model.n))
    assert (
        len({chain(30).structure, chain(31).structure, chain(30, seed=1).structure, pipes(80).structure}) == 4
    )
