"""Further problems: index claims, references that keep what physics keeps, and no part in the standard report."""

from __future__ import annotations

import numpy as np
import pytest

import herk
import testset
from baselines import get
from herk.bench import session, study, sweeps
from herk.core import InputError, Settings
from herk.model.evaluate import linearise
from herk.model.forms.forms import rates

FURTHER = testset.names("further")


@pytest.mark.parametrize("index", [1, 2, 3, 4])
def test_index_of_a_turning_linear_dae_is_that_of_its_chain(index):
    p = testset.get("time_varying", index=index)
    found = herk.regularize(p.model)
    assert found.index == index
    assert [len(level) for level in found.levels] == [1] * index  # one constraint, differentiated
    assert {tag for tag in p.tags if tag.startswith("index")} == {f"index{index}"}


@pytest.mark.parametrize("index", [1, 2, 3, 4])
def test_turned_solution_satisfies_equations_and_hidden_constraints(index):
    p = testset.get("time_varying", index=index, omega=0.7)
    for t in np.linspace(*p.t_span, 5):
        y = p.reference.exact(t)
        at = linearise(p.dae, t, y)
        assert np.abs(at.g).max() < 1e-12
        assert np.abs(at.E @ rates(p.dae, t, y) - at.f).max() < 1e-11


@pytest.mark.parametrize(("index", "omega"), [(2, 1.0), (3, 0.5), (4, 1.0)])
def test_turning_systems_of_higher_index_are_solved_by_formulas_of_other_levels(index, omega):
    p = testset.get("time_varying", index=index, omega=omega, t_end=2.0)
    sol = herk.solve_dae(p, method="dop853", rtol=1e-10, atol=1e-12)
    assert sol.success, sol.message
    assert np.abs(sol.y[:, -1] - p.reference.y).max() < 1e-8


def test_an_index_that_is_not_offered_is_refused():
    with pytest.raises(InputError, match="1, 2, 3 or 4"):
        testset.get("time_varying", index=5)
    with pytest.raises(InputError, match="at least 1 mass"):
        testset.get("n_pendulum", n=0)


def test_pendulum_of_one_mass_is_the_simple_pendulum():
    simple = testset.get("pendulum", g=9.81, t_end=1.3)
    sol = herk.solve_dae(testset.get("n_pendulum", n=1, t_end=1.3), method="dop853", rtol=1e-11, atol=1e-13)
    mirrored = np.array([-1, 1, -1, 1, 1]) * simple.reference.exact(1.3)  # that one starts on the other side
    np.testing.assert_allclose(sol.y[:, -1], mirrored, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["n_pendulum", "four_bar"])
def test_reference_has_the_energy_of_the_start_and_keeps_every_constraint(name):
    p = testset.get(name)
    (energy,) = p.invariants
    assert energy.value(0.0, p.reference.y) == pytest.approx(energy.value(0.0, p.y0), abs=1e-12)
    assert np.abs(p.dae.g(p.t_span[1], p.reference.y)).max() < 1e-11 * (1 + np.abs(p.reference.y).max())
    assert np.abs(p.reference.y - p.y0).max() > 0.1  # it has moved
    wrong = p.reference.y + 1e-6
    assert energy.value(0.0, wrong) != pytest.approx(energy.value(0.0, p.y0), abs=1e-12)


def test_crank_of_the_linkage_turns_round():
    angle = testset.get("four_bar").reference.y[0]
    assert angle > 2 * np.pi  # a crank-rocker by Grashof's rule: shortest + longest < sum of the others


def test_rectifier_obeys_the_laws_of_its_elements_at_the_reference():
    p = testset.get("rectifier")
    t, (e1, e2, e3, current) = p.t_span[1], p.reference.y
    assert e1 - e2 + 10 * current == pytest.approx(5 * np.sin(100 * np.pi * t), abs=1e-12)
    rate = rates(p.dae, t, p.reference.y)
    diode = lambda u: 1e-6 * (np.exp(u / 0.052) - 1)
    outflow = diode(e1 - e3) + diode(e2 - e3) + 1e-6 * (rate[0] + rate[1] - 2 * rate[2])
    assert outflow == pytest.approx(e3 / 1000 + 1e-5 * rate[2], rel=1e-9)  # currents into the load
    assert 3.5 < e3 < 5.0  # charged, below the peak of the source


@pytest.mark.parametrize(
    ("name", "solver", "form"),
    [
        ("rectifier", "ida_sundae_jac", "index1"),
        ("wheatstone", "ida_sundae_jac", "index1"),
        ("n_pendulum", "solve_dae_radau", "ggl"),
        ("four_bar", "ida_sundae_jac", "ggl"),
    ],
)
def test_reference_is_reached_by_rivals_of_other_families(name, solver, form):
    p, rival = testset.get(name), get(solver)
    sol = rival.solve(rival.prepare(p, form), Settings(rtol=1e-8, atol=1e-10, time_limit=60.0))
    assert sol.success, sol.message
    places = [i for group, members in p.groups.items() if group != "multipliers" for i in members]
    assert (
        np.abs(sol.y[places, -1] - p.reference.y[places]).max() < 1e-4 * np.abs(p.reference.y[places]).max()
    )


def test_further_problems_take_part_only_where_they_are_named():
    assert set(FURTHER) >= {
        "cloth",
        "four_bar",
        "lc_ladder",
        "n_pendulum",
        "rectifier",
        "time_varying",
        "wheatstone",
    }
    standard = study.load("testset")
    run = {ladder.problem for ladder in sweeps.expand(standard)}
    assert run == set(testset.names()) - set(FURTHER)
    chosen = sweeps.Choice(problem=("rectifier",))
    assert {ladder.problem for ladder in sweeps.expand(standard, chosen)} == {"rectifier"}
    named = {ladder.problem for ladder in sweeps.expand(study.load("rivals"))}
    assert named >= {"four_bar", "rectifier"}


def test_further_problems_are_not_described_in_the_standard_report():
    every = sweeps.expand(study.load("work_precision"))
    described = {place[0] for place in session.others(every, sweeps.EVERYTHING, [])}
    assert "arevalo" in described
    assert not described & set(FURTHER)
