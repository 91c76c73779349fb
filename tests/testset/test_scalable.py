"""Problems of any size: their index, references that share nothing with us, and what physics keeps."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError
from herk.model.evaluate import linearise
from herk.model.forms.forms import rates

SMALL = {"lc_ladder": {"N": 3}, "pipe_grid": {"N": 3}, "stokes": {"N": 3}, "cloth": {"N": 2}}
LEVELS = {"lc_ladder": [2, 2], "pipe_grid": [8, 8], "stokes": [9, 8], "cloth": [6, 6, 6]}


@pytest.mark.parametrize("name", sorted(SMALL))
def test_index_and_constraints_of_every_level_are_those_of_the_theory(name):
    found = herk.regularize(testset.get(name, **SMALL[name]).model)
    assert found.index == len(LEVELS[name])
    assert [len(level) for level in found.levels] == LEVELS[name]


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_run_meets_a_reference_that_shares_nothing_with_it(name):
    p = testset.get(name, **SMALL[name], t_end=0.5)
    sol = herk.solve_dae(p, rtol=1e-9, atol=1e-11)
    assert sol.success, sol.message
    size = np.abs(p.reference.y).max()
    assert np.abs(sol.y[:, -1] - p.reference.y).max() < 1e-7 * size
    assert np.abs(p.reference.y - p.y0).max() > 1e-2 * size  # it has moved


@pytest.mark.parametrize("name", ["lc_ladder", "stokes"])
def test_exact_solution_satisfies_equations_and_hidden_constraints(name):
    p = testset.get(name, **SMALL[name])
    for t in np.linspace(*p.t_span, 4):
        y = p.reference.exact(t)
        at = linearise(p.dae, t, y)
        assert np.abs(at.g).max() < 1e-10 * np.abs(y).max()
        assert np.abs(at.E @ rates(p.dae, t, y) - at.f).max() < 1e-10 * np.abs(at.f).max()
        wrong = linearise(p.dae, t, y + 1e-6 * np.arange(len(y)))
        assert np.abs(wrong.g).max() > 1e-8


def test_cloth_of_one_mass_is_the_pendulum():
    cloth = testset.get("cloth", N=1, speed=0.0, angle=0.4, t_end=1.0)
    plane = testset.get("n_pendulum", n=1)
    y0 = [np.sin(0.4), -np.cos(0.4), 0.0, 0.0, None]
    flat = herk.solve_dae(plane.model, (0.0, 1.0), y0, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cloth.reference.y[[1, 2, 4, 5, 6]], flat.y[:, -1], atol=1e-8)


def test_energy_and_threads_of_the_cloth_are_kept_and_a_stretched_one_is_seen():
    p = testset.get("cloth", N=2)
    energy, stretch = p.invariants
    assert energy.value(0.0, p.reference.y) == pytest.approx(energy.value(0.0, p.y0), abs=1e-11)
    assert stretch.value(0.0, p.reference.y) < 1e-11
    longer = p.reference.y * 1.001
    assert stretch.value(0.0, longer) > 1e-4


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_size_that_makes_no_sense_is_refused(name):
    with pytest.raises(InputError, match=f"{name} has at least"):
        testset.get(name, N=0)
