"""The small algebra of the program of 2017, in plain Python and in machine code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from herk.integrate.callables import bound
from herk.jit.native import assembled
from herk.thesis import Settings, integrate, run
from herk.thesis.layout import OK, allocate
from herk.thesis.leading import factor_leading
from herk.thesis.loop import distance
from herk.thesis.newton import invert
from herk.thesis.newton_small import inverse
from herk.thesis.selectors import select
from herk.thesis.solvers import around, solver


def both_ways(function: Any) -> list[Any]:
    """Return a function in plain Python and in machine code."""
    return [function, assembled({"function": function})["function"]]


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_qr_with_column_pivoting_inverts(m):
    a = np.random.default_rng(m).normal(size=(m, m))
    for function in both_ways(invert):
        b, r, order = np.zeros(m * m), np.zeros(m * m), np.arange(m)
        ratio = function(a.T.ravel().copy(), r, b, order, m)
        inverse = np.empty((m, m))
        inverse[order] = b.reshape(m, m).T
        assert inverse == pytest.approx(np.linalg.inv(a), rel=1e-10)
        assert ratio >= 1 - 1e-12


def columns_of(matrix):
    """Return a matrix as compiled code stores it."""
    return np.ascontiguousarray(np.asarray(matrix, dtype=float).T).ravel()


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_few_linear_constraints_are_solved_by_one_update(seed, m):
    """With the exact Jacobian of a linear g, Newton's first update gives the solution.

    Quotients of linear functions are exact.
    """
    rng = np.random.default_rng(seed)
    a, solution, order = rng.normal(size=(m, m)), rng.normal(size=m), np.array([4, 0, 2, 1, 3])
    x, right = np.zeros(5), a @ solution

    def g(t, x, par, out):
        out[:] = a @ x[order[:m]] - right

    own = allocate(5, m, 1, 1)
    own.tol, own.delta = 1e-12, 1.0
    assert around(g, 5, m)(0.0, x, order, own) == OK
    assert x[order[:m]] == pytest.approx(solution, abs=1e-13 * np.linalg.cond(a))
    assert np.all(x[order[m:]] == 0)
    assert own.updates == 1


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_few_constraints_are_inverted_by_qr_and_their_condition_is_that_of_lapack(ratio, m):
    """The original's warning comes where |R_11 / R_mm| of QR with column pivoting exceeds 1e5."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        u, _, v = np.linalg.svd(rng.normal(size=(m, m)))
        matrix = u @ np.diag([*[1.0] * (m - 1), 1.0 / ratio]) @ v
        r = np.abs(np.diag(scipy.linalg.qr(matrix, pivoting=True)[1]))
        block, out, order = np.zeros((3, 3)), np.full(15, np.nan), np.array([3, 0, 4, 1, 2])
        block[:m, :m] = matrix
        assert inverse(m, 5, columns_of(block), order, out) == pytest.approx((r[0] / r[-1]) ** 2, rel=1e-6)
        found = out.reshape(5, 3)[:, :m]
        assert found[order[:m]] @ matrix == pytest.approx(
            np.eye(m), abs=1e-15 * ratio**2
        )  # orthogonality is lost by cond
        assert np.all(found[order[m:]] == 0)


def test_the_estimate_is_a_norm_that_neither_overflows_nor_loses_a_nan():
    """Squares of 3e-200 are zero and those of 3e200 are not finite; the norm of the original scales."""
    a, b = np.array([3.0, 1.0, -4.0]), np.array([0.0, 1.0, 0.0])
    for way in both_ways(distance):
        for size in (1e-200, 1.0, 1e200):
            assert way(a * size, b * size, 3) == pytest.approx(5 * size)
        assert math.isnan(way(np.array([1.0, math.nan]), np.zeros(2), 2))


def test_code_made_for_one_g_gives_the_points_of_the_general_code(monkeypatch):
    """The two ways differ in the roundings of the inverse.

    So they agree as far as Newton's tolerance tells the stages apart.
    """
    from herk.reproductions.thesis import systems

    system, settings = systems.PENDULUM, Settings(h0=0.01, ssc=0)
    assert solver(bound(system.dae).natives[2], system.dae.n, system.dae.m) is not None
    special = integrate(system.dae, 0.0, 2.0, system.x0, settings)
    monkeypatch.setattr(run, "solver", lambda *_: None)
    general = integrate(system.dae, 0.0, 2.0, system.x0, settings)
    assert pytest.approx(general.T, abs=0) == special.T
    assert pytest.approx(general.X, abs=1e-10) == special.X
    assert special.updates == pytest.approx(general.updates, rel=0.05)


def test_code_is_made_for_few_constraints_of_functions_written_for_it():
    import testset
    from herk.reproductions.thesis.systems import CHAIN, PENDULUM

    g = PENDULUM.dae.generated.functions["g"]
    assert solver(g, 5, 3) is solver(g, 5, 3)
    assert solver(CHAIN.dae.generated.functions["g"], 7, 5) is None
    assert solver(g, 9, 3) is None
    assert solver(bound(testset.get("pendulum").dae).natives[2], 5, 3) is None


def test_required_columns_come_first_by_descending_index_then_the_largest_entries():
    jac = np.array([[1.0, 9.0, 2.0, 3.0], [4.0, 1.0, 1.0, 5.0], [7.0, 2.0, 1.0, 1.0]])
    order = np.arange(4)
    select(jac.T.ravel().copy(), 3, 4, order, np.array([0, 2]), 2, 1e-15)
    assert order[:2].tolist() == [2, 0]
    assert set(order[:3].tolist()) >= {0, 2}


def test_free_components_are_the_zero_columns():
    rows, columns = np.arange(4), np.arange(4)
    e = np.array([[0, 2.0, 0, 1], [0, 1.0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 0]])
    assert factor_leading(e.ravel().copy(), 4, rows, columns) == 2
    assert columns[2:].tolist() == [0, 2]
