"""Steps in decimals: many digits are real, linear problems give the stability function.

And singular A needs no repair.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from baselines.irk.families import FAMILIES, tableau
from baselines.irk.hessenberg import DIGITS, NoStepError, System, extrapolation, march, newton_matrix, step

ONE = Decimal(1)
DECAY = System("decay", 0, {"x": (0,)}, lambda x: [-x], (ONE,), (-ONE,), 0)
PAIR = System("pair", 1, {"x": (0,), "z": (1,)}, lambda x, z: [-z, z - x], (ONE, ONE), (-ONE, -ONE), 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_on_a_linear_equation_is_the_stability_function_to_many_digits(family):
    # R(z) of two stages, from the text books: the Pade approximations (2,2), (1,2), (1,2), (1,1), (0,2) of
    # exp, here at z = -1/2
    z = Decimal(-1) / 2
    with localcontext() as context:
        context.prec = DIGITS
        pade = {
            "gauss": (1 + z / 2 + z * z / 12) / (1 - z / 2 + z * z / 12),
            "radau_ia": (1 + z / 3) / (1 - 2 * z / 3 + z * z / 6),
            "radau_iia": (1 + z / 3) / (1 - 2 * z / 3 + z * z / 6),
            "lobatto_iiia": (1 + z / 2) / (1 - z / 2),
            "lobatto_iiic": 1 / (1 - z + z * z / 2),
        }[family]
        for system in (DECAY, PAIR):  # index 1 with z = x is the same equation
            value = march(system, tableau(family, 2), 0.5, 1)[-1, 0]
            assert abs(value - pade) < Decimal(10) ** -35


def test_gauss_with_nine_stages_reaches_thirty_digits():
    end = march(DECAY, tableau("gauss", 9), 1.0, 4)[-1, 0]
    with localcontext() as context:
        context.prec = DIGITS
        assert abs(end - Decimal(-1).exp()) < Decimal(10) ** -30


def test_extrapolation_is_exact_for_polynomials_of_the_stages():
    method = tableau("radau_iia", 4)
    c = method.floats()[2]
    np.testing.assert_allclose(extrapolation(method) @ c**3, (1 + c) ** 3, rtol=1e-12)


def test_newton_matrix_is_the_derivative_of_the_residuals():
    # PAIR: rows K1 + U2 and U2 - U1 with U = z + h a K, one stage a = 1/2, h = 1/5
    matrix = newton_matrix(PAIR, np.ones((1, 2)), np.array([[0.5]]), 0.2)
    np.testing.assert_allclose(matrix, [[1.0, 0.1], [-0.1, 0.1]], rtol=1e-15)


def test_values_may_be_changed_after_each_step():
    points = march(DECAY, tableau("gauss", 2), 1.0, 4, after=lambda z: z * 0 + 1)
    assert [float(value) for value in points[:, 0]] == [1.0] * 5


def test_stage_equations_without_a_solution_are_an_error_and_the_points_reached_are_kept():
    system = System(
        "no root",
        1,
        {"x": (0,), "z": (1,)},
        lambda x, z: [x * 0 + 1, z * z + x],
        (ONE * 0, ONE * 0),
        (ONE, ONE * 0),
        1,
    )
    with pytest.raises(NoStepError, match="no root"):
        step(system, tableau("radau_iia", 2), np.array([ONE, ONE]), ONE / 10, np.zeros((2, 2)))
    assert len(march(system, tableau("radau_iia", 2), 1.0, 4)) == 1
