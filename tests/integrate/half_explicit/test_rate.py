"""Derivatives from E y' = f: constant, diagonal, varying, singular and mixing E."""

from __future__ import annotations

from math import cos, exp, sin

import numpy as np
import pytest

import herk
from tests.integrate.systems import PENDULUM, called_back

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}


def end(dae: herk.Dae, y0: list[float], t_end: float, **options: object) -> np.ndarray:
    sol = herk.solve_dae(dae, (0.0, t_end), y0, **(TIGHT | options))
    assert sol.success, sol.message
    assert sol.residual < 1e-11
    return sol.y[:, -1]


def test_a_full_constant_matrix_is_factored_once() -> None:
    e = np.array([[2.0, 1.0], [1.0, 3.0]])
    a = np.array([[0.0, 1.0], [-1.0, 0.0]])
    dae = herk.Dae(E=e, f=lambda t, y: e @ (a @ y), n=2)
    sol = herk.solve_dae(dae, (0.0, 1.0), [0.0, 1.0], **TIGHT)
    np.testing.assert_allclose(sol.y[:, -1], [sin(1), cos(1)], atol=1e-10)
    assert sol.nlu == 1


def test_a_callable_that_returns_the_same_matrix_is_not_factored_again() -> None:
    dae = herk.Dae(
        E=lambda t, y: np.array([[2.0, 1.0], [1.0, 3.0]]),
        f=lambda t, y: np.array([2 * y[1] - y[0], y[1] - 3 * y[0]]),
        n=2,
    )
    sol = herk.solve_dae(dae, (0.0, 1.0), [0.0, 1.0], **TIGHT)
    np.testing.assert_allclose(sol.y[:, -1], [sin(1), cos(1)], atol=1e-10)
    assert sol.nlu == 1


def test_a_state_dependent_matrix_is_solved_at_every_stage() -> None:
    # (1 + y^2) y' = 1 + y^2 times cos t, so y = sin t.
    dae = herk.Dae(
        E=lambda t, y: np.array([[1.0 + y[0] ** 2]]),
        f=lambda t, y: np.array([(1.0 + y[0] ** 2) * cos(t)]),
        n=1,
    )
    np.testing.assert_allclose(end(dae, [0.0], 3.0), [sin(3)], atol=1e-10)


def test_a_time_dependent_matrix_with_a_constraint() -> None:
    # e^t x' = -e^t x + z - sin t, 0 = z - sin t: x = e^-t, z = sin t.
    dae = herk.Dae(
        E=lambda t, y: np.array([[exp(t), 0.0], [0.0, 0.0]]),
        f=lambda t, y: np.array([-exp(t) * y[0] + y[1] - sin(t), y[1] - sin(t)]),
        g=lambda t, y: np.array([y[1] - sin(t)]),
        n=2,
        m=1,
    )
    np.testing.assert_allclose(end(dae, [1.0, 0.0], 2.0), [exp(-2), sin(2)], rtol=1e-9)


def test_a_singular_matrix_that_mixes_derivatives_needs_the_constraints() -> None:
    # x' + y' = cos t - sin t (twice, one row redundant) with 0 = x - y - sin t + cos t: x = sin t, y = cos t.
    rows = np.array([[1.0, 1.0], [1.0, 1.0]])
    dae = herk.Dae(
        E=rows,
        f=lambda t, y: np.array([cos(t) - sin(t), cos(t) - sin(t)]),
        g=lambda t, y: np.array([y[0] - y[1] - sin(t) + cos(t)]),
        n=2,
        m=1,
    )
    np.testing.assert_allclose(end(dae, [0.0, 1.0], 3.0), [sin(3), cos(3)], atol=1e-9)


def test_a_singular_state_dependent_matrix_that_mixes_derivatives() -> None:
    # y x' + x y' = 2 x y cos 2t / sin 2t ... written for x = sin t, y = cos t: (x y)' = cos 2t, with 0 = x^2
    # + y^2 - 1.
    dae = herk.Dae(
        E=lambda t, y: np.array([[y[1], y[0]], [0.0, 0.0]]),
        f=lambda t, y: np.array([cos(2 * t), y[0] ** 2 + y[1] ** 2 - 1.0]),
        g=lambda t, y: np.array([y[0] ** 2 + y[1] ** 2 - 1.0]),
        n=2,
        m=1,
    )
    np.testing.assert_allclose(
        end(dae, [0.0, 1.0], 0.6), [sin(0.6), cos(0.6)], atol=1e-8
    )  # x y has its maximum at pi/4


def test_a_matrix_whose_zeros_move_is_noticed() -> None:
    # The second column fills up at t = 1; x = y = e^-t all the way.
    dae = herk.Dae(
        E=lambda t, y: np.array([[1.0, 0.0 if t < 1.0 else t - 1.0], [0.0, 0.0]]),
        f=lambda t, y: np.array([-y[0] - (0.0 if t < 1.0 else t - 1.0) * y[1], y[0] - y[1]]),
        g=lambda t, y: np.array([y[0] - y[1]]),
        n=2,
        m=1,
    )
    np.testing.assert_allclose(end(dae, [1.0, 1.0], 2.0), [exp(-2), exp(-2)], rtol=1e-8)


@pytest.mark.parametrize("written", [True, False])
def test_a_column_of_e_that_is_zero_at_the_start_is_no_algebraic_component(written: bool) -> None:
    """x = z (1 - sin(t)), z = exp(-t): solved for z from it, the run would end at t = pi/2."""
    E = [["1", "sin(t)"], ["0", "0"]]
    f = ["-z - cos(t)*z", "x - z*(1 - sin(t))"]
    system: herk.Model | herk.Dae = herk.Model("chance", ["x", "z"], E, f, t_span=(0, 3), y0=[1, 1])
    if not written:
        system = herk.Dae(
            E=lambda t, y: np.array([[1.0, np.sin(t)], [0.0, 0.0]]),
            f=lambda t, y: np.array([-y[1] - np.cos(t) * y[1], y[0] - y[1] * (1 - np.sin(t))]),
            g=lambda t, y: np.array([y[0] - y[1] * (1 - np.sin(t))]),
            n=2,
            m=1,
        )
    sol = herk.solve_dae(system, (0.0, 3.0), [1.0, 1.0], rtol=1e-8, atol=1e-8)
    assert sol.success
    np.testing.assert_allclose(sol.y[1], np.exp(-sol.t), atol=1e-6)


@pytest.mark.parametrize("how", [{}, {"generate": False}], ids=["written out", "of any size"])
@pytest.mark.parametrize("seed", range(6))
def test_units_do_not_decide_which_rows_of_e_derivatives_follow_from(seed: int, how: dict[str, bool]) -> None:
    """(1 - cos t) x' + 2 y' is nothing to divide by for x'; in some units its first number is the largest."""
    rng = np.random.default_rng(seed)
    u, v, p, q = (10.0 ** rng.uniform(-12, 12, 4)).tolist()
    w = float(10.0 ** rng.uniform(-6, 6))
    s = f"({w!r}*t)"  # x = cos s, y = sin s in units u, v; rows in units p, q
    rows = [
        [f"{p / u / w!r}*(1 - cos({s}/1000))", f"{2 * p / v / w!r}"],
        [f"{q / u / w!r}", f"{q / v / w!r}"],
    ]
    f = [f"{p!r}*(2*cos({s}) - (1 - cos({s}/1000))*y/{v!r})", f"{q!r}*(x/{u!r} - y/{v!r})"]
    model = herk.Model("rows", ["x", "y"], rows, f, t_span=(0.0, 2.0 / w), y0=[u, 0.0])
    sol = herk.solve_dae(
        model, method="dop853", rtol=1e-10, atol=[1e-10 * u, 1e-10 * v], max_steps=1000, **how
    )
    assert sol.success, sol.message
    np.testing.assert_allclose(sol.y[0] / u, np.cos(w * sol.t), atol=1e-8)
    np.testing.assert_allclose(sol.y[1] / v, np.sin(w * sol.t), atol=1e-8)


@pytest.mark.parametrize("python", [False, True])
def test_constraints_that_do_not_exist_before_the_start_need_no_derivative_in_time(python: bool) -> None:
    # x' + y' = 0 (twice) with 0 = x - y - t^(5/2): x = (1 + t^(5/2))/2, y = 1 - x; a difference quotient
    # cannot look to t < 0.
    rows = np.array([[1.0, 1.0], [1.0, 1.0]])
    dae = herk.Dae(
        E=rows, f=lambda t, y: np.zeros(2), g=lambda t, y: np.array([y[0] - y[1] - t**2.5]), n=2, m=1
    )
    options = {"rtol": 1e-7, "atol": 1e-8}
    np.testing.assert_allclose(
        end(called_back(dae, python), [0.5, 0.5], 1.0, **options), [1.0, 0.0], atol=1e-6
    )  # ten times rtol


def test_finite_differences_stand_in_for_missing_derivatives() -> None:
    given = PENDULUM.dae
    bare = herk.Dae(E=given.E, f=given.f, g=given.g, n=5, m=3)
    with_jacobian = herk.solve_dae(given, (0.0, 2.0), PENDULUM.y0, **TIGHT)
    without = herk.solve_dae(bare, (0.0, 2.0), PENDULUM.y0, **TIGHT)
    np.testing.assert_allclose(without.y[:, -1], PENDULUM.exact(2.0), atol=1e-8)
    assert without.nstep == pytest.approx(with_jacobian.nstep, rel=0.02)
    assert without.residual < 1e-12


@pytest.mark.parametrize("newton", ["simplified", "full"])
def test_both_newton_variants_keep_the_constraints(newton: str) -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 4.0), PENDULUM.y0, newton=newton, **TIGHT)
    assert sol.residual < 1e-12
    np.testing.assert_allclose(sol.y[:, -1], PENDULUM.exact(4.0), atol=1e-8)


def test_simplified_newton_keeps_its_factorisation() -> None:
    simplified = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, **TIGHT)
    full = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, newton="full", **TIGHT)
    assert simplified.nlu < full.nlu / 4
    assert simplified.nlu < simplified.nit / 10
