"""Every problem of the test set.

Consistent start, regular system, references that are reached, formulas that solve the equations.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import herk
import testset
from herk.core import InputError, Problem
from herk.model.evaluate import linearise
from herk.model.forms.forms import rates
from herk.model.start import inconsistency

CONTRADICTORY = "wind_pendulum_printed"
OWN_TESTS = testset.names("large")
GIVEN = (
    "fekete",
    "hanging_chain",
    "water_tube",
    "wheelset",
)  # by callables: no formulas to regularise, solved in tests of their own
SLOW = ("andrews", "nand_gate", "slider_crank", *GIVEN)
NOT_FOR_EXPLICIT = {
    *testset.names("stiff"),
    *testset.names("discontinuous"),
}  # solved in tests of their own, by others or in segments
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
    for name in testset.names()
    if name not in (CONTRADICTORY, *OWN_TESTS)
]
SMALL = [name for name in testset.names() if name not in (*SLOW, CONTRADICTORY, *OWN_TESTS)]
EXACT = testset.names("exact")
INDEX = {
    "academic": 1,
    "akzo": 1,
    "arevalo": 2,
    "car_axis": 3,
    "charge_pump": 2,
    "circular_track": 3,
    "cloth": 3,
    "cv_circuit": 2,
    "four_bar": 3,
    "knife_edge": 2,
    "lc_ladder": 2,
    "n_pendulum": 3,
    "oregonator": 0,
    "pendulum": 3,
    "pendulum_2d": 3,
    "pendulum_3d": 3,
    "pendulum_drifting": 1,
    "pendulum_unit": 3,
    "pipe_grid": 2,
    "raised_index": 4,
    "rectifier": 1,
    "rlc": 1,
    "robertson": 1,
    "selector_change": 2,
    "spring_chain": 5,
    "stokes": 2,
    "time_varying": 3,
    "transistor_amplifier": 1,
    "unit_circle": 3,
    "wheatstone": 1,
    "wind_pendulum": 3,
}
# Relative to the largest component of each group. Where it is not 1e-7: the error constant of the problem at
# rtol = 1e-10.
REACHED = {"pendulum_drifting": 1e-6, "andrews": 2e-7}
EIGHT_DIGITS = {
    "arevalo": "positions",
    "car_axis": "positions",
    "circular_track": "positions",
    "knife_edge": "positions",
    "pendulum_2d": "positions",
    "slider_crank": "positions",
    "transistor_amplifier": "voltages",
}


def error(problem: Problem, y: np.ndarray) -> float:
    """Return the largest error relative to its group, or to one if the group is small at the end."""
    assert problem.reference is not None
    groups = [list(members) for members in problem.groups.values()]
    return max(
        float(np.abs(y - problem.reference.y)[g].max() / max(1.0, np.abs(problem.reference.y[g]).max()))
        for g in groups
    )


@pytest.mark.parametrize("name", NAMES)
def test_start_is_consistent_and_the_constraints_fit_the_equations(name):
    p = testset.get(name)
    t0 = p.t_span[0]
    assert inconsistency(p.dae, t0, p.y0, 0.0, 1e-14) is None
    rounding = 1e-7 if name == "slider_crank" else 1e-8  # its multipliers change by 1e6 a second
    assert herk.check_constraints(p.dae, t0, p.y0, tolerance=rounding) == []


@pytest.mark.parametrize("name", NAMES)
def test_derivative_is_determined_at_start_and_end(name):
    p = testset.get(name)
    for t, y in zip(p.t_span, (p.y0, p.reference.y), strict=True):
        at = linearise(p.dae, t, y).dense()
        stacked = np.vstack([at.E, at.jac])
        scaled = stacked / np.maximum(np.abs(stacked).max(axis=1, keepdims=True), 1e-300)
        assert np.linalg.matrix_rank(scaled) == p.dae.n


@pytest.mark.slow  # with an empty cache every problem compiles a kernel for each of its selections
@pytest.mark.parametrize(
    "name", [name for name in testset.names() if name not in {CONTRADICTORY, *GIVEN, *NOT_FOR_EXPLICIT}]
)
def test_solver_reaches_the_reference_with_invariants_kept(name):
    p = testset.get(name)
    solution = herk.solve_dae(p, method="dop853", rtol=1e-10, atol=p.atol(1e-12))
    assert solution.success
    assert solution.t[-1] == p.reference.t
    assert error(p, solution.y[:, -1]) < REACHED.get(name, 1e-7)
    if name in EIGHT_DIGITS:
        members = list(p.groups[EIGHT_DIGITS[name]])
        assert (
            np.abs(solution.y[members, -1] - p.reference.y[members]).max()
            < 1e-8 * np.abs(p.reference.y[members]).max()
        )
    for invariant in p.invariants:
        first, last = invariant.value(p.t_span[0], p.y0), invariant.value(p.t_span[1], solution.y[:, -1])
        assert abs(last - first) < 1e-6 * max(1.0, abs(first))


@pytest.mark.parametrize("name", EXACT)
def test_exact_formula_satisfies_equations_and_hidden_constraints(name):
    p = testset.get(name)
    exact = p.reference.exact
    for t in np.linspace(*p.t_span, 7):
        y = exact(t)
        at = linearise(p.dae, t, y)
        size = np.abs(at.jac) @ (np.abs(y) + 1) + 1
        assert (np.abs(at.g) < 1e-10 * size).all()
        rate = rates(p.dae, t, y)
        assert np.abs(at.E @ rate - at.f).max() < 1e-10 * (np.abs(at.f).max() + 1)
        assert np.abs(rate - derivative(exact, t)).max() < 1e-6 * (np.abs(rate).max() + 1)


def derivative(function, t: float, h: float = 2e-4) -> np.ndarray:
    """Return the derivative of order four."""
    return (8 * (function(t + h) - function(t - h)) - (function(t + 2 * h) - function(t - 2 * h))) / (12 * h)


@pytest.mark.parametrize("name", EXACT)
def test_start_lies_on_the_exact_solution(name):
    p = testset.get(name)
    np.testing.assert_allclose(
        p.reference.exact(p.t_span[0]), p.y0, atol=4e-15 * max(1.0, np.abs(p.y0).max())
    )


@pytest.mark.parametrize("name", SMALL)
def test_tagged_index_is_the_index_found(name):
    assert herk.regularize(testset.get(name).model).index == INDEX[name]
    assert {tag for tag in testset.get(name).tags if tag.startswith("index")} == {f"index{INDEX[name]}"}
    assert name in testset.names(f"index{INDEX[name]}")


@pytest.mark.parametrize("name", testset.names())
def test_problem_says_where_it_comes_from_and_groups_every_unknown(name):
    p = testset.get(name)
    assert p.name == name
    assert len(p.source) > 30
    assert sorted(i for members in p.groups.values() for i in members) == list(range(len(p.y0)))
    assert p.reference is not None or name == CONTRADICTORY


@pytest.mark.parametrize("name", [name for name in testset.names() if name not in (*SLOW, *OWN_TESTS)])
def test_problem_survives_pickling(name):
    p = testset.get(name)
    q = pickle.loads(pickle.dumps(p))
    np.testing.assert_array_equal(q.y0, p.y0)
    np.testing.assert_array_equal(q.dae.f(p.t_span[0], q.y0), p.dae.f(p.t_span[0], p.y0))
    for i, j in zip(p.invariants, q.invariants, strict=True):
        assert i.value(0.0, p.y0) == j.value(0.0, q.y0)
    if p.reference is not None and p.reference.exact is not None:
        np.testing.assert_array_equal(q.reference.exact(1.5), p.reference.exact(1.5))


@pytest.mark.slow
def test_wind_pendulum_reaches_the_digits_of_the_polar_form():
    solution = herk.solve_dae(testset.get("wind_pendulum"), method="dop853", rtol=1e-12, atol=1e-14)
    digits = (0.0835386131, -0.4929719060, 0.2225785400, 0.0681456735, 19.1640466679)
    assert np.abs(solution.y[:, -1] - digits).max() <= 0.6e-10


def test_wind_pendulum_as_printed_is_caught_and_row_0_is_named():
    p = testset.get("wind_pendulum_printed")
    found = herk.check_constraints(p.dae, 0.0, p.y0)
    assert len(found) == 1
    assert "Row 0 of g" in found[0]
    with pytest.raises(InputError, match="Row 0 of g contradicts"):
        herk.solve_dae(p)


def test_pendulum_is_back_at_the_start_after_every_period():
    p = testset.get("pendulum")
    for periods in (1, 10, 1000):
        np.testing.assert_allclose(p.reference.exact(2.0 * periods), p.y0, atol=1e-14)
    np.testing.assert_allclose(p.reference.exact(1.0), [1, 0, 0, 0, 0], atol=1e-13)


@pytest.mark.slow
def test_changes_reach_model_span_and_reference():
    p = testset.get("pendulum", t_end=3.0, g=9.81, l=2.0, m=0.5)
    assert p.t_span == (0.0, 3.0)
    assert {s.name: value for s, value in p.model.parameters.items()} == {"m": 0.5, "l": 2.0, "g": 9.81}
    solution = herk.solve_dae(p, rtol=1e-10, atol=1e-12)
    assert error(p, solution.y[:, -1]) < 1e-8


@pytest.mark.parametrize(
    ("name", "changes"), [("akzo", {"k1": 18.0}), ("akzo", {"t_end": 10.0}), ("wind_pendulum", {"g": 9.81})]
)
def test_stored_reference_is_dropped_when_it_no_longer_holds(name, changes):
    assert testset.get(name).reference is not None
    assert testset.get(name, **changes).reference is None


@pytest.mark.slow
def test_andrews_with_another_torque_has_a_consistent_start():
    p = testset.get("andrews", mom=0.05)
    assert p.reference is None
    assert inconsistency(p.dae, 0.0, p.y0, 0.0, 1e-13) is None


def test_index_is_raised_only_if_every_derivative_becomes_an_unknown():
    assert herk.regularize(testset.get("raised_index", full=False).model).index == 3
    assert herk.regularize(testset.get("raised_index").model).index == 4


def test_start_of_the_rlc_circuit_has_the_digits_printed():
    p = testset.get("rlc")
    np.testing.assert_allclose(p.y0, [0.0627, 1, -1.0627, -0.3542], atol=5e-5)
    np.testing.assert_allclose(rates(p.dae, 0.0, p.y0)[:3], [-0.0222, -0.3542, 0.3765], atol=5e-5)


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(InputError, match="'pendulum'"):
        testset.get("pendelum")
    with pytest.raises(InputError, match="'t_end'"):
        testset.get("pendulum", tend=3.0)
    assert testset.names("no such tag") == []


def test_registered_problem_is_found_and_names_stay_unique():
    testset.register("my_own", lambda: testset.get("academic"))
    try:
        assert "my_own" in testset.names()
        assert "my_own" in testset.names("academic")
        assert testset.get("my_own").title == "Academic example"
        with pytest.raises(InputError, match="there already"):
            testset.register("pendulum", lambda: testset.get("academic"))
    finally:
        testset._registered.pop("my_own")
