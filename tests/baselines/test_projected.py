"""CVODE with projection: the projection is the nearest point, and nothing drifts."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import baselines
import testset
from baselines.prepared import explicit
from baselines.sundials4py_solvers import Held
from herk.core import Settings


@pytest.fixture(scope="module")
def held():
    base = explicit(testset.get("pendulum"), "ode")
    return Held(base.form, base.t_span, base.start, base.to_model_states)


def moved(held, z, error=None):
    correction = np.empty(4)
    assert held.projection(0.0, np.array(z), correction, np.zeros(4) if error is None else error)
    return z + correction


@pytest.mark.parametrize("point", [(2.0, 1.0), (0.3, -0.4), (1.0, 0.0)])
def test_projection_of_a_pendulum_at_rest_goes_along_the_radius(held, point):
    z = np.array([*point, 0.0, 0.0])
    np.testing.assert_allclose(moved(held, z), [*(z[:2] / np.linalg.norm(z[:2])), 0.0, 0.0], atol=1e-14)


def test_positions_and_velocities_end_on_both_constraints_and_the_error_along_them(held):
    error = np.array([1.0, -2.0, 0.5, 3.0])
    x, y, v, w = moved(held, np.array([0.61, 0.79, 1.0, 2.0]), error)
    assert abs(x**2 + y**2 - 1) < 1e-14
    assert abs(x * v + y * w) < 1e-13
    gradients = np.array([[x, y, 0.0, 0.0], [v, w, x, y]])
    assert np.abs(gradients @ error).max() < 1e-6  # gradients of the point before the last correction
    assert np.linalg.norm(error) > 0.1


def test_constraints_that_cannot_be_reached_are_said_to_be(held):
    assert not held.projection(0.0, np.zeros(4), np.empty(4), np.zeros(4))  # no gradient there


def test_the_constraint_that_determines_the_multiplier_is_not_needed(held):
    assert len(held.constraints[1]) == 2


def test_older_pythons_are_told_what_is_needed():
    available, why = baselines.get("cvode_projected").available()
    if sys.version_info < (3, 12):
        assert not available
        assert "Python 3.12" in why
        assert "install" in why
    else:
        assert available or "install" in why


def test_neither_positions_nor_velocities_drift_over_a_hundred_periods():
    solver, p = baselines.get("cvode_projected"), testset.get("pendulum", t_end=200.0)
    if not solver.available()[0]:
        pytest.skip(solver.available()[1])
    sol = solver.solve(solver.prepare(p, "ode"), Settings(rtol=1e-5, atol=1e-5))
    assert sol.success, sol.message
    x, y, v, w, _ = sol.y
    assert np.abs(x**2 + y**2 - 1).max() < 1e-13
    assert np.abs(x * v + y * w).max() < 1e-12


def test_ida_by_its_own_bindings_takes_the_steps_of_ida_by_others():
    own, other, p = baselines.get("ida_sundials4py_jac"), baselines.get("ida_sundae_jac"), testset.get("akzo")
    if not own.available()[0]:
        pytest.skip(own.available()[1])
    if own.version.split(".")[:2] != other.version.rsplit(" ", 1)[-1].split(".")[:2]:
        pytest.skip("the two packages bring different versions of SUNDIALS")
    sols = [rival.solve(rival.prepare(p, "index1"), Settings(rtol=1e-6, atol=1e-8)) for rival in (own, other)]
    assert sols[0].nstep == sols[1].nstep
    np.testing.assert_allclose(sols[0].y[:, -1], sols[1].y[:, -1], rtol=1e-9)
