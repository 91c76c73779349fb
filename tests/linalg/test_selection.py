"""Procedure 3.11: required components first, then complete pivoting; kept while it is good."""

from __future__ import annotations

import numpy as np
import pytest

import herk
from herk.linalg.selection import select
from tests.integrate.systems import PENDULUM, SELECTOR, pendulum_jac


def pendulum_jacobian(y: list[float], g: float) -> np.ndarray:
    """Thesis (2.9) with m = l = 1 and the gravity of its example."""
    x, z, v, w, lam = y
    return np.array(
        [
            [2 * x, 2 * z, 0, 0, 0],
            [2 * v, 2 * w, 2 * x, 2 * z, 0],
            [-8 * x * lam, -8 * z * lam - 2 * g, 4 * v, 4 * w, -4 * (x * x + z * z)],
        ]
    )


def test_pendulum_example_selects_multiplier_height_and_vertical_speed() -> None:
    # Example 2.13 (continued) with w0 = -(1/12)^(1/2), which its printed Jacobian belongs to (HERKOSIDAE.md
    # 2.6).
    jac = pendulum_jacobian([0.5, -np.sqrt(0.75), -0.5, -np.sqrt(1 / 12), 5.0], 11.16)
    algebraic, rank = select(jac, (4,))
    assert rank == 3
    assert algebraic[0] == 4
    assert set(algebraic) == {1, 3, 4}


def test_pendulum_at_the_bottom_selects_both_positions() -> None:
    algebraic, rank = select(pendulum_jacobian([0.0, -1.0, -np.sqrt(3.5), 0.0, 7.33], 11.16), (4,))
    assert rank == 3
    assert set(algebraic) == {0, 1, 4}


def test_without_required_components_the_multiplier_would_be_missed() -> None:
    # The thesis' reason for Procedure 3.11: plain complete pivoting selects x, y, w.
    algebraic, _ = select(pendulum_jacobian([0.5, -np.sqrt(0.75), -0.5, -np.sqrt(1 / 12), 5.0], 11.16))
    assert set(algebraic) == {0, 1, 3}


def test_linear_example_selects_the_free_and_the_first_component() -> None:
    algebraic, rank = select(np.array([[2.0, 1.0, 0.0], [1.0, 0.5, 1.0]]), (2,))  # Example 3.13
    assert rank == 2
    assert algebraic == (2, 0)


def test_required_components_may_stand_anywhere() -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        jac = generator.normal(size=(3, 5))
        required = tuple(int(i) for i in generator.choice(5, size=2, replace=False))
        algebraic, rank = select(jac, required)
        assert rank == 3
        assert set(required) == set(algebraic[:2])
        assert abs(np.linalg.det(jac[:, list(algebraic)])) > 1e-3


def test_every_pivot_is_the_largest_entry_left() -> None:
    generator = np.random.default_rng(11)
    for _ in range(20):
        left = generator.normal(size=(6, 9))
        algebraic, rank = select(left)
        assert rank == 6
        for column in algebraic:
            row, largest = np.unravel_index(np.abs(left).argmax(), left.shape)
            assert column == largest
            left = left - np.outer(left[:, column] / left[row, column], left[row])
            left[row], left[:, column] = 0.0, 0.0


def test_dependent_constraints_are_seen_as_rank() -> None:
    jac = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], [0.0, 1.0, 0.0, 0.0]])
    assert select(jac)[1] == 2


def test_cheaper_columns_win_only_within_the_threshold() -> None:
    jac = np.array([[10.0, 2.0]])
    cost = np.array([3, 1])
    assert select(jac, cost=cost, threshold=0.1)[0] == (1,)
    assert select(jac, cost=cost, threshold=0.5)[0] == (0,)
    assert select(jac, cost=cost)[0] == (0,)


@pytest.mark.parametrize("unit", 10.0 ** np.arange(-9, 10, 3))
def test_a_small_component_is_not_computed_from_large_ones_whatever_its_unit(unit: float) -> None:
    # 0 = x + 10 q with x = 1 and q = 1e-6, in other units z = q / unit: computed from x, q would lose five of
    # its digits.
    jac, y = np.array([[1.0, 10.0 * unit]]), np.array([1.0, 1e-6 / unit])
    assert select(jac, size=np.abs(y))[0] == (0,)
    assert select(jac)[0] == ((1,) if unit > 0.1 else (0,))


def test_sizes_cost_no_rank() -> None:
    # The only sound pivot belongs to a component that is tiny beside a term whose factor is at rounding
    # level.
    jac = np.array([[1.0, 1e-13]])
    assert select(jac, size=np.array([1e-20, 1.0])) == ((0,), 1)


def test_sizes_do_not_matter_among_components_that_are_alike_or_required() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        jac, cost = rng.normal(size=(3, 7)), rng.integers(1, 4, size=7)
        assert select(jac, cost=cost, size=rng.uniform(1.0, 5.0, size=7), threshold=0.1) == select(
            jac, cost=cost, threshold=0.1
        )
        wild = np.append(np.ones(4), 10.0 ** rng.integers(-9, 10, size=3))
        assert select(jac, (4, 5, 6), size=wild) == select(jac, (4, 5, 6))


def test_components_that_begin_at_zero_are_chosen_as_if_their_size_were_that_of_others() -> None:
    jac = np.array([[1.0, 2.0, 3.0]])
    assert select(jac, size=np.array([5.0, 0.0, 0.0]))[0] == (2,)
    assert select(jac, size=np.array([5.0, 0.0, 1e-3]))[0] == (1,)


def test_selection_changes_once_on_the_problem_made_for_it() -> None:
    # 2 sin t and 2 cos t are compared: one change, at the first point from pi/4 on.
    sol = herk.solve_dae(
        SELECTOR.dae, SELECTOR.t_span, SELECTOR.y0, method="rk4", step=np.pi / 400, selection="complete"
    )
    assert [chosen for _, chosen in sol.selections] == [(1, 2), (0, 2)]
    assert sol.selections[1][0] == pytest.approx(np.pi / 4, abs=np.pi / 400 * 1.01)


def test_selection_is_kept_while_its_pivots_are_good() -> None:
    sol = herk.solve_dae(PENDULUM.dae, (0.0, 20.0), PENDULUM.y0, method="dop853", rtol=1e-8, atol=1e-8)
    assert sol.success
    assert {chosen for _, chosen in sol.selections} == {(0, 2, 4), (1, 3, 4)}
    assert len(sol.selections) == 41  # two changes per swing, four per period, and the first
    worst = min(
        abs(pendulum_jac(t, sol.y[:, np.searchsorted(sol.t, t)])[0, chosen[0]])
        for t, chosen in sol.selections
    )
    assert worst > 2 * 0.6  # a pivot of 2 sin or 2 cos of an angle never far beyond 45 degrees


def test_pure_algebraic_systems_follow_their_branch() -> None:
    dae = herk.Dae(
        E=np.zeros((2, 2)),
        f=lambda t, y: np.zeros(2),
        g=lambda t, y: np.array([y[0] ** 2 - 1.0 - t, y[0] * y[1] - 1.0]),
        n=2,
        m=2,
    )
    sol = herk.solve_dae(dae, (0.0, 3.0), [1.0, 1.0])
    assert sol.success
    assert sol.selections == ((0.0, (0, 1)),)
    np.testing.assert_allclose(sol.y[:, -1], [2.0, 0.5], rtol=1e-13)


def test_all_algebraic_components_may_be_required() -> None:
    # Both constraints are used up by the two components without derivative, wherever they stand.
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        x, a, b = order

        def f(t, y, x=x, n=3):
            out = np.zeros(n)
            out[x] = -y[x]
            return out

        def g(t, y, x=x, a=a, b=b):
            return np.array([y[a] - y[x] ** 2, y[b] - np.sin(t) * y[a]])

        start = np.zeros(3)
        start[[x, a, b]] = 1.0, 1.0, 0.0
        e = np.zeros((3, 3))
        e[x, x] = 1.0
        sol = herk.solve_dae(
            herk.Dae(E=e, f=f, g=g, n=3, m=2), (0.0, 2.0), start, method="dop853", rtol=1e-10, atol=1e-12
        )
        assert sol.selections[0][1] == tuple(sorted((a, b)))
        np.testing.assert_allclose(
            sol.y[[x, a, b], -1], [np.exp(-2), np.exp(-4), np.sin(2) * np.exp(-4)], rtol=1e-9
        )


def test_a_system_without_constraints_is_an_ordinary_differential_equation() -> None:
    dae = herk.Dae(E=np.eye(2), f=lambda t, y: np.array([y[1], -y[0]]), n=2)
    sol = herk.solve_dae(dae, (0.0, 10.0), [0.0, 1.0], method="dop853", rtol=1e-11, atol=1e-11)
    assert sol.selections == ((0.0, ()),)
    np.testing.assert_allclose(sol.y[:, -1], [np.sin(10), np.cos(10)], atol=1e-9)
