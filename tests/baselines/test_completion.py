"""Algebraic unknowns are eliminated in numbers.

Also where their constraints are not linear in them and say nothing at zero.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

import baselines
from baselines.completion import Completion
from baselines.prepared import explicit
from herk.core import Dae, Problem, Settings
from herk.jit import compiled as jit
from herk.model.forms.callable_forms import given_form

pytestmark = pytest.mark.slow  # callables of a test are compiled every time

compiled = partial(jit.compiled, cache=False, _nrt=True)


@compiled()
def f(t, y):
    out = np.zeros(2)
    out[0] = -y[1]
    return out


@compiled()
def jac_f(t, y):
    out = np.zeros((2, 2))
    out[0, 1] = -1.0
    return out


@compiled()
def g(t, y):
    out = np.zeros(1)
    out[0] = y[1] * y[1] - y[0]
    return out


@compiled()
def jac_g(t, y):
    out = np.zeros((1, 2))
    out[0, 0], out[0, 1] = -1.0, 2 * y[1]
    return out


@compiled()
def g_t(t, y):
    return np.zeros(1)


@cache
def root() -> Problem:
    """Return y' = -z, z^2 = y from (1, 1): the Jacobian of the constraint vanishes where z does.

    The solution is z = 1 - t/2.
    """
    y0, span = (1.0, 1.0), (0.0, 1.0)
    dae = Dae(E=np.diag([1.0, 0.0]), f=f, g=g, n=2, m=1, jac_g=jac_g, g_t=g_t)
    form = given_form(dae, "index1", 1, (1, 1), [[0]], (1.0,), jac_f, span, y0)
    return Problem("root", "Root", span, np.array(y0), "own", given_dae=dae, given_forms={"index1": form})


def test_unknown_of_a_nonlinear_constraint_is_found_from_the_start_and_is_no_number_where_there_is_none():
    y = np.array([[4.0, 0.0], [1e-4, 0.0], [-1.0, 0.0], [9.0, 0.0]])
    Completion(root().form("index1"), (1,))(np.zeros(4), y)
    np.testing.assert_allclose(y[:, 1], [2.0, 0.01, np.nan, 3.0], rtol=1e-14)


def test_derivative_of_the_rate_follows_the_eliminated_unknown():
    ode = explicit(root(), "ode")
    assert ode.rate(0.0, np.array([4.0])) == pytest.approx([-2.0], rel=1e-14)
    assert float(ode.rate_jacobian(0.0, np.array([4.0]))[0, 0]) == pytest.approx(
        -1 / 4, rel=1e-13
    )  # z = y^(1/2)


@pytest.mark.parametrize("name", ["scipy_lsoda", "scipy_radau", "radau5"])
def test_ode_of_callables_with_a_nonlinear_constraint_is_solved(name):
    solver = baselines.get(name)
    solution = solver.solve(solver.prepare(root(), "ode"), Settings(rtol=1e-8, atol=1e-10))
    assert solution.success, solution.message
    z = 1 - solution.t / 2
    np.testing.assert_allclose(solution.y, [z**2, z], atol=1e-6)
