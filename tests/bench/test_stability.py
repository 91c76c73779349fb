"""A claim of stiffness rests on a measured eigenvalue times the step.

The measurement is right, and so are the bounds of methods.
"""

from __future__ import annotations

import numpy as np
import pytest

import baselines
import herk
from herk.bench import stability
from herk.core import Dae, Problem, Reason, Solution


@pytest.mark.parametrize(
    ("method", "bound"),
    [
        ("euler", 2.0),
        ("heun", 2.0),
        ("kutta3", 2.5127),
        ("rk4", 2.7853),
        ("dopri5", 3.3066),
        ("RK45", 3.3066),
    ],
)
def test_the_bound_on_the_real_axis_is_that_of_the_books(method, bound):
    """Hairer, Wanner, Solving ODEs II, Table IV.2.1 and figures there: 2, 2, 2.51, 2.78, 3.3."""
    assert stability.bound(method) == pytest.approx(bound, abs=0.02)


def test_only_explicit_solvers_have_a_bound():
    assert stability.limit_of(baselines.get("scipy_radau")) is None
    assert stability.limit_of(baselines.get("radau5")) is None
    assert stability.limit_of(baselines.get("herk_dopri5")) == stability.limit_of(baselines.get("scipy_rk45"))


def test_an_unknown_method_has_none():
    assert stability.bound("something") is None


def circle(rate: float) -> Dae:
    """Return a point that is driven along the unit circle towards the angle 0 with this rate.

    Phi' = -rate sin(phi); lam is the force.
    """

    def f(t, y):
        x, z, lam = y
        return np.array([rate * z * z - 2 * x * lam, -rate * x * z - 2 * z * lam, 0.0])

    def g(t, y):
        return np.array([y[0] ** 2 + y[1] ** 2 - 1, y[2]])

    return Dae(E=np.diag([1.0, 1.0, 0.0]), f=f, g=g, n=3, m=2)


@pytest.mark.parametrize("rate", [1.0, 1000.0])
def test_the_decay_along_the_constraints_is_found_without_any_jacobian(rate):
    """At phi = 0 the flow phi' = -rate sin(phi) has the eigenvalue -rate.

    Nothing decays where it points outwards, at phi = pi.
    """
    assert stability.fastest_decay(circle(rate), 0.0, np.array([1.0, 0.0, 0.0])) == pytest.approx(
        rate, rel=1e-4
    )
    assert stability.fastest_decay(circle(rate), 0.0, np.array([-1.0, 0.0, 0.0])) == 0.0


def test_steps_limited_by_stability_lie_at_the_bound_and_others_far_below():
    """y' = -1000 (y - cos t): loose tolerances leave dopri5 at its bound of 3.3.

    At tight ones accuracy limits the step.
    """
    stiff = Dae(E=np.eye(1), f=lambda t, y: -1000.0 * (y - np.cos(t)), n=1, m=0)
    products = {}
    for rtol in (1e-4, 1e-13):
        solution = herk.solve_dae(stiff, (0.0, 1.0), [1.0], method="dopri5", rtol=rtol, atol=rtol)
        problem = Problem("p", "p", (0.0, 1.0), np.ones(1), "own", given_dae=stiff)
        products[rtol] = stability.measured(problem, solution)
    assert 2.0 < products[1e-4] < 5.0
    assert products[1e-13] < 1.0


def test_a_run_without_points_is_not_measured():
    problem = Problem("p", "p", (0.0, 1.0), np.ones(3), "own", given_dae=circle(1.0))
    empty = Solution(t=np.empty(0), y=np.empty((3, 0)), reason=Reason.EXCEPTION, message="")
    assert stability.measured(problem, empty) is None
