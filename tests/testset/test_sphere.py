"""Fekete points: what the source says of start and end.

For the published number of particles and for others.
"""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from testset import fekete


@pytest.mark.parametrize("N", [6, 20])
def test_multipliers_at_rest_follow_from_the_number_of_particles(N):
    p = testset.get("fekete", N=N)
    np.testing.assert_allclose(p.dae.g(0.0, p.y0), 0.0, atol=1e-13)
    np.testing.assert_allclose(p.y0[6 * N : 7 * N], -(N - 1) / 4)


def test_start_of_the_source_is_on_the_sphere_with_its_four_rings():
    p = fekete.points(20)
    np.testing.assert_allclose(np.linalg.norm(p, axis=1), 1.0, rtol=1e-15)
    heights = np.sin(np.pi * np.array([3 / 8] * 3 + [1 / 8] * 7 + [-2 / 15] * 6 + [-3 / 10] * 4))
    np.testing.assert_allclose(p[:, 2], heights, rtol=1e-14)


def test_reference_is_a_rest_point_with_forces_normal_to_the_sphere():
    y = np.array(testset.get("fekete").reference.y)
    np.testing.assert_allclose(fekete.f(0.0, y), 0.0, atol=2e-14)


@pytest.mark.slow
def test_six_particles_end_as_an_octahedron():
    p = testset.get("fekete", N=6, t_end=200.0)
    assert p.reference is None
    solution = herk.solve_dae(p, rtol=1e-8, atol=1e-10)
    end = solution.y[:18, -1].reshape(6, 3)
    cosines = np.sort((end @ end.T)[np.triu_indices(6, 1)])
    np.testing.assert_allclose(cosines, [-1.0] * 3 + [0.0] * 12, atol=1e-7)
    assert p.invariants[0].value(200.0, solution.y[:, -1]) < 1e-8
