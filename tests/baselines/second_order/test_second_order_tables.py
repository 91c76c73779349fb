"""Coefficients of the second-order methods.

Printed values, simplifying assumptions and exactness, all in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from baselines.second_order.assumptions import (
    assumptions,
    classical_order,
    exact_gauss,
    exactness,
    printed_twin_d,
    twin_d,
    vanishes,
)
from baselines.second_order.tables import (
    GAUSS,
    GLM_FIRST,
    GLM_SECOND,
    METHODS,
    NODES,
    RADAU,
    collocation,
    direct_collocation,
    first_order,
    fractions,
    second_order,
)

ROOT = sp.sqrt(3)


def test_radau_is_printed_in_example_2_4():
    assert fractions("5/12 -1/12; 3/4 1/4") == RADAU.A
    assert RADAU.b == [Fraction(3, 4), Fraction(1, 4)]
    assert fractions("1/9 -1/18; 1/2 0") == RADAU.A2
    assert RADAU.b2 == [Fraction(1, 2), 0]


def test_gauss_is_printed_in_example_2_4_and_its_floats_are_right():
    exact = exact_gauss()
    A2 = [[sp.Rational(1, 24), (3 - 2 * ROOT) / 24], [(3 + 2 * ROOT) / 24, sp.Rational(1, 24)]]
    assert all(
        vanishes(a - b)
        for row, other in zip(exact.A2, A2, strict=True)
        for a, b in zip(row, other, strict=True)
    )
    assert all(vanishes(a - b) for a, b in zip(exact.b2, [(3 + ROOT) / 12, (3 - ROOT) / 12], strict=True))
    np.testing.assert_allclose(np.array(GAUSS.A2), np.array(exact.A2, dtype=float), rtol=0, atol=2e-16)


@pytest.mark.parametrize(
    ("method", "order", "claimed"),
    [(exact_gauss(), 4, (4, 2, 2)), (RADAU, 3, (3, 2, 1)), (collocation(NODES), 3, (3, 3, 0))],
    ids=["gauss", "radau", "nodes of the general linear methods"],
)
def test_simplifying_assumptions_and_their_twins_hold_as_far_as_claimed_and_no_further(
    method, order, claimed
):
    found = assumptions(method)
    assert (found["B"], found["C"], found["D"]) == claimed
    assert (found["B~"], found["C~"], found["D~"]) == (
        claimed[0],
        claimed[1],
        max(claimed[2], 1),
    )  # D~(1) asks for nothing
    assert classical_order(method) == order


def test_a_changed_coefficient_breaks_the_assumptions():
    wrong = replace(RADAU, b=[Fraction(2, 3), Fraction(1, 3)])
    assert assumptions(wrong)["B"] == 1
    assert exactness(replace(GLM_FIRST, B=fractions("1/6 1/2 1/4; 0 0 1; 0 -2 1")))["outputs"] == [2, 12, 0]


def test_floats_are_refused_where_conditions_are_exact():
    with pytest.raises(TypeError, match="exact"):
        assumptions(GAUSS)


def test_the_twin_of_d_holds_with_a_bracket_and_not_as_printed():
    gauss = exact_gauss()
    left = [sum(b * row[j] for b, row in zip(gauss.b, gauss.A2, strict=True)) for j in range(2)]
    assert all(vanishes(left[j] - twin_d(gauss.b[j], gauss.c[j], 1)) for j in range(2))
    assert not any(vanishes(left[j] - printed_twin_d(gauss.b[j], gauss.c[j], 1)) for j in range(2))


def test_example_2_11_is_the_runge_kutta_method_with_its_nodes_and_has_order_2_only_for_its_idle_third_quantity():
    method = collocation(NODES)
    assert GLM_SECOND.A == [method.A2, method.A]
    assert [method.b2, method.b, [0, 0, 0]] == GLM_SECOND.B
    assert all(row[2] == 0 for matrix in (*GLM_SECOND.U, GLM_SECOND.V[:2]) for row in matrix)
    assert exactness(GLM_SECOND) == {"stages": [3, 4], "outputs": [3, 4, 2]}


def test_method_65_has_order_and_stage_order_2():
    found = exactness(GLM_FIRST)
    assert min(*found["stages"], *found["outputs"]) == 2


@pytest.mark.parametrize(("method", "order"), [(exact_gauss(), 4), (RADAU, 3)], ids=["gauss", "radau"])
def test_runge_kutta_methods_as_general_linear_ones_keep_their_order(method, order):
    assert exactness(second_order(method, order))["outputs"] == [order, order + 1]
    assert exactness(first_order(method, order))["outputs"] == [order]


def test_collocation_of_the_second_derivative_is_exact_for_one_power_more_than_the_square_of_a():
    direct, squared, c = direct_collocation(RADAU.c)[0], RADAU.A2, RADAU.c
    for matrix, last in ((direct, 2), (squared, 1)):
        held = [
            all(
                sum(a * n ** (k - 1) for a, n in zip(row, c, strict=True)) == end ** (k + 1) / (k * (k + 1))
                for row, end in zip(matrix, c, strict=True)
            )
            for k in (1, 2, 3)
        ]
        assert held == [k <= last for k in (1, 2, 3)]


@pytest.mark.parametrize("name", METHODS)
def test_arrays_hold_the_stage_derivatives_themselves_as_the_last_kind(name):
    method = METHODS[name]
    c, A, U, B, V = method.arrays()
    assert A.shape == (method.q + 1, len(c), len(c))
    np.testing.assert_array_equal(A[-1], np.eye(len(c)))
    assert not U[-1].any()
    assert B.shape == (len(V), len(c))
