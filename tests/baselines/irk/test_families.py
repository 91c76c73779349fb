"""The tableaus are those of the families.

Simplifying assumptions in exact arithmetic or to 50 digits, printed coefficients, R(inf).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from baselines.irk.families import DIGITS, FAMILIES, node_polynomial, tableau
from herk.core import InputError

SIZES = [
    (family, s)
    for family in FAMILIES
    for s in (1, 2, 3, 4, 5, 9)
    if s > 1 or not family.startswith("lobatto")
]
F = Fraction


def zero(value) -> bool:
    return value == 0 if isinstance(value, Fraction) else abs(value) < Decimal(10) ** -(DIGITS - 10)


def fulfilled(method, kind: str, k: int) -> bool:
    """Tell whether the k-th equation of B, C or D holds."""
    A, b, c, every = method.A, method.b, method.c, range(method.stages)
    with localcontext() as context:
        context.prec = DIGITS
        power = [x ** (k - 1) if k > 1 else x * 0 + 1 for x in c]
        if kind == "B":
            return zero(sum(b[i] * power[i] for i in every) * k - 1)
        if kind == "C":
            return all(zero(sum(A[i][j] * power[j] for j in every) * k - power[i] * c[i]) for i in every)
        return all(
            zero(sum(b[i] * power[i] * A[i][j] for i in every) * k - b[j] * (1 - power[j] * c[j]))
            for j in every
        )


@pytest.mark.parametrize(("family", "s"), SIZES)
def test_simplifying_assumptions_hold_as_far_as_claimed_and_no_further(family, s):
    method = tableau(family, s)
    for kind, last in (("B", method.order), ("C", method.stage_order), ("D", method.dual_order)):
        assert all(fulfilled(method, kind, k) for k in range(1, last + 1)), kind
        assert not fulfilled(method, kind, last + 1), kind


@pytest.mark.parametrize(("family", "s"), SIZES)
def test_order_follows_from_the_simplifying_assumptions(family, s):
    # Butcher: B(p), C(q), D(r) with p <= q + r + 1 and p <= 2 q + 2 give order p
    method = tableau(family, s)
    assert method.order <= method.stage_order + method.dual_order + 1
    assert method.order <= 2 * method.stage_order + 2
    assert method.order == 2 * s - {"g": 0, "r": 1, "l": 2}[family[0]]


@pytest.mark.parametrize(("family", "s"), SIZES)
def test_node_polynomial_is_orthogonal_to_lower_powers_exactly(family, s):
    # B(s + k) of a quadrature with s nodes means: the node polynomial is orthogonal to 1, x, ..., x^(k-1)
    p = node_polynomial(family, s)
    inner = [sum(F(a, i + k + 1) for i, a in enumerate(p)) for k in range(s + 1)]
    assert inner[: tableau(family, s).order - s] == [0] * (tableau(family, s).order - s)
    assert inner[tableau(family, s).order - s] != 0


def test_fractions_are_those_of_the_text_books():
    last = (F(1, 6), F(2, 3), F(1, 6))
    printed = {
        ("gauss", 1): ((F(1, 2),),),
        ("radau_iia", 2): ((F(5, 12), F(-1, 12)), (F(3, 4), F(1, 4))),
        ("radau_ia", 2): ((F(1, 4), F(-1, 4)), (F(1, 4), F(5, 12))),
        ("lobatto_iiia", 3): ((0, 0, 0), (F(5, 24), F(1, 3), F(-1, 24)), last),
        ("lobatto_iiic", 3): ((F(1, 6), F(-1, 3), F(1, 6)), (F(1, 6), F(5, 12), F(-1, 12)), last),
    }
    for key, matrix in printed.items():
        assert matrix == tableau(*key).A
        assert tableau(*key).exact


@pytest.mark.parametrize("family", FAMILIES)
def test_thirty_stages_are_no_harder(family):
    method = tableau(family, 30)
    assert all(fulfilled(method, "B", k) for k in (1, 30, method.order))
    assert all(fulfilled(method, "C", k) for k in (1, method.stage_order))
    assert sorted(set(method.c)) == list(method.c)


def test_irrational_coefficients_are_those_of_the_text_books():
    A, b, c = tableau("gauss", 2).floats()
    np.testing.assert_allclose(A, [[1 / 4, 1 / 4 - sqrt(3) / 6], [1 / 4 + sqrt(3) / 6, 1 / 4]], rtol=1e-15)
    A, b, c = tableau("radau_iia", 3).floats()
    np.testing.assert_allclose(
        A[0], [(88 - 7 * sqrt(6)) / 360, (296 - 169 * sqrt(6)) / 1800, (-2 + 3 * sqrt(6)) / 225], rtol=1e-14
    )
    np.testing.assert_allclose(c, [(4 - sqrt(6)) / 10, (4 + sqrt(6)) / 10, 1], rtol=1e-15)
    np.testing.assert_allclose(b, [(16 - sqrt(6)) / 36, (16 + sqrt(6)) / 36, 1 / 9], rtol=1e-15)


def test_decimals_have_the_announced_digits():
    A, _, c = tableau("gauss", 2).decimals()
    with localcontext() as context:
        context.prec = DIGITS
        assert abs(c[0] - (Decimal(1) / 2 - Decimal(3).sqrt() / 6)) < Decimal(10) ** -(DIGITS - 2)
        third = tableau("radau_iia", 2).decimals()[2][0]
        assert abs(third * 3 - 1) < Decimal(10) ** -(DIGITS - 2)
    assert A.shape == (2, 2)


@pytest.mark.parametrize("s", [2, 3, 4, 5])
def test_stability_at_infinity_and_shape_are_those_of_the_families(s):
    expected = {
        "gauss": (-1.0) ** s,
        "radau_ia": 0.0,
        "radau_iia": 0.0,
        "lobatto_iiia": (-1.0) ** (s - 1),
        "lobatto_iiic": 0.0,
    }
    for family, value in expected.items():
        method = tableau(family, s)
        assert method.at_infinity == pytest.approx(value, abs=1e-10)
        assert method.stiffly_accurate == (family in ("radau_iia", "lobatto_iiia", "lobatto_iiic"))
        assert method.explicit_first == (family == "lobatto_iiia")


def test_unknown_families_and_impossible_stages_are_refused_with_the_reason():
    with pytest.raises(InputError, match="radau_iia"):
        tableau("radau_ii", 3)
    with pytest.raises(InputError, match="2 or more"):
        tableau("lobatto_iiia", 1)
    with pytest.raises(InputError, match="1 or more"):
        tableau("gauss", 0)
