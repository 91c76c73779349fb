"""The hanging chain: one link is the pendulum, energy and lengths are kept, any number of links works."""

from __future__ import annotations

import math

import numpy as np
import pytest

import herk
import testset
from testset.pendulum import EXACT_G


@pytest.mark.slow
def test_one_link_is_the_pendulum():
    chain, pendulum = (
        testset.get("hanging_chain", N=1, g=EXACT_G, angle=-math.pi / 2, t_end=3.0),
        testset.get("pendulum", t_end=3.0),
    )
    np.testing.assert_allclose(chain.y0, pendulum.y0, atol=1e-15)
    y = np.array([0.6, -0.8, 1.2, 0.9, 3.0])
    np.testing.assert_allclose(chain.dae.f(0.0, y), pendulum.dae.f(0.0, y), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(chain.dae.E, pendulum.dae.E)
    solution = herk.solve_dae(chain, method="dop853", rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(solution.y[:, -1], pendulum.reference.exact(3.0), atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("N", [2, 5, 12])
def test_energy_and_lengths_are_kept(N):
    p = testset.get("hanging_chain", N=N, t_end=1.0)
    solution = herk.solve_dae(p, rtol=1e-9, atol=1e-11)
    energy, stretch = (invariant.value for invariant in p.invariants)
    assert abs(energy(1.0, solution.y[:, -1]) - energy(0.0, p.y0)) < 1e-8
    assert max(stretch(t, y) for t, y in zip(solution.t, solution.y.T, strict=True)) < 1e-15


def test_only_the_first_link_of_a_straight_chain_at_rest_begins_to_turn():
    p = testset.get("hanging_chain", N=4)
    rates = p.dae.f(0.0, p.y0)[8:16].reshape(4, 2) * 4  # accelerations: mass 1/4 each
    turn = np.diff(rates, axis=0)
    np.testing.assert_allclose(turn, 0.0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(rates[0]), 9.81 * math.sin(math.pi / 6), rtol=1e-14)


def test_stored_reference_belongs_to_its_parameters_only():
    assert testset.get("hanging_chain").reference is not None
    assert testset.get("hanging_chain", N=3).reference is None
    assert testset.get("hanging_chain", g=9.8).reference is None
