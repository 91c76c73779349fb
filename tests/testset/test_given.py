"""Problems given by callables.

Derivatives, starts, forms for rivals, and references reached by solvers of different families.
"""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest

import baselines
import herk
import testset
from herk.core import Problem, Settings, Solution
from herk.model.forms import callable_forms

NAMES = ("fekete", "hanging_chain", "water_tube", "wheelset")
FORMS = {
    "fekete": {"index1", "index2"},
    "hanging_chain": {"index1", "index2", "index3", "baumgarte"},
    "water_tube": {"index1", "index2"},
    "wheelset": {"index1", "index2"},
}
ATOL = {"water_tube": [1e-3] * 18 + [1.0] * 18 + [1e3] * 13}  # flows are small, pressures large


@cache
def get(name: str) -> Problem:
    return testset.get(name)


@pytest.fixture
def interpreted(request, monkeypatch) -> Problem:
    """Return the problem with forms around its compiled functions as they are written.

    Their formulas are looked at here; compiled, which takes seconds for each, solvers prove them.
    """
    monkeypatch.setattr(callable_forms, "_compile", lambda function, *parts: function)
    return testset.get(request.param)


def inside(problem: Problem) -> np.ndarray:
    """Return a state like the end of the run, where no unknown vanishes by chance."""
    return np.array(problem.reference.y) * (1 + 1e-3 * np.sin(np.arange(len(problem.y0)))) + 1e-6


def differences(function, y: np.ndarray) -> np.ndarray:
    columns = []
    for j in range(len(y)):
        shift = np.zeros(len(y))
        shift[j] = 1e-5 * max(abs(y[j]), 1e-5)
        columns.append((function(100.0, y + shift) - function(100.0, y - shift)) / (2 * shift[j]))
    return np.array(columns).T


def solved(name: str, solver: str, form: str, tolerance: float) -> Solution:
    """Return what a solver finds; ours is asked directly, for the bench it would solve three times."""
    least = tolerance / 100
    atol = tuple(least * value for value in ATOL[name]) if name in ATOL else least
    if solver.startswith("herk_"):
        method = solver.removeprefix("herk_")
        return herk.solve_dae(get(name), method=method, rtol=tolerance, atol=atol, time_limit=120.0)
    chosen = baselines.get(solver)
    available, reason = chosen.available()
    if not available:
        pytest.skip(reason)
    prepared = chosen.prepare(get(name), form)
    return chosen.solve(prepared, Settings(rtol=tolerance, atol=atol, time_limit=120.0))


def error(name: str, y: np.ndarray, group: str) -> float:
    """Return the largest error in a group, relative to its largest member."""
    members, end = list(get(name).groups[group]), get(name).reference.y
    return float(np.abs(y - end)[members].max() / np.abs(end[members]).max())


@pytest.mark.parametrize("interpreted", NAMES, indirect=True)
def test_jacobians_are_the_derivatives(interpreted):
    p = interpreted
    y, stated = inside(p), p.form("index2")
    for exact, function in ((p.dae.jac_g(100.0, y), p.dae.g), (stated.jac_f(100.0, y), stated.f)):
        close = differences(function, y)
        assert (np.abs(exact - close).max(axis=1) <= 1e-5 * np.abs(close).max(axis=1) + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_constraints_stay_zero_along_the_equations_at_start_and_end(name):
    p = get(name)
    end = herk.consistent_start(p.dae, p.t_span[1], p.reference.y, fixed=range(5))
    for t, y in ((p.t_span[0], p.y0), (p.t_span[1], end)):
        assert herk.check_constraints(p.dae, t, y, tolerance=1e-7) == []


@pytest.mark.parametrize("interpreted", NAMES, indirect=True)
def test_forms_have_as_many_rows_as_unknowns_and_vanish_at_the_start(interpreted):
    p = interpreted
    assert set(p.given_forms) == FORMS[p.name]
    for form in p.given_forms.values():
        z, zp = form.start()
        size = np.abs(form.residual_jacobian(0.0, z, zp, 1.0)) @ (np.abs(z) + np.abs(zp)) + 1e-12
        assert (np.abs(form.residual(p.t_span[0], z, zp)) <= 1e-10 * size).all()
        stiffness = form.residual_jacobian(p.t_span[0], z, zp, 1e3 / p.t_span[1])
        assert np.linalg.matrix_rank(stiffness / np.abs(stiffness).max(axis=1, keepdims=True)) == p.dae.n


@pytest.mark.parametrize("interpreted", NAMES, indirect=True)
def test_problem_and_its_forms_survive_pickling(interpreted):
    p = interpreted
    q = pickle.loads(pickle.dumps(p))
    y = inside(p)
    np.testing.assert_array_equal(q.dae.g(1.0, y), p.dae.g(1.0, y))
    for form in p.given_forms:
        np.testing.assert_array_equal(q.form(form).f(1.0, y), p.form(form).f(1.0, y))


REACHED = [
    ("fekete", "herk_dop853", "overdetermined", 1e-9, "positions", 1e-8),
    ("fekete", "ida_sundae_jac", "index2", 1e-9, "positions", 1e-6),
    ("hanging_chain", "herk_dop853", "overdetermined", 1e-10, "positions", 1e-8),
    ("hanging_chain", "herk_dopri5", "overdetermined", 1e-10, "positions", 1e-8),
    ("hanging_chain", "ida_sundae_jac", "index2", 1e-9, "positions", 1e-6),
    ("water_tube", "herk_dop853", "overdetermined", 1e-9, "flows", 1e-7),
    ("water_tube", "solve_dae_radau", "index2", 1e-9, "flows", 1e-6),
    ("wheelset", "ida_sundae_jac", "index2", 1e-8, "positions", 2e-6),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "solver", "form", "tolerance", "group", "limit"), REACHED)
def test_references_are_reached_by_solvers_of_different_families(name, solver, form, tolerance, group, limit):
    solution = solved(name, solver, form, tolerance)
    assert solution.success, solution.message
    assert solution.t[-1] == get(name).t_span[1]
    assert error(name, solution.y[:, -1], group) < limit


def test_missing_form_is_refused_with_those_there_are():
    p = get("fekete")
    supported, reason = baselines.get("ida_sundae").supports(p, "index3")
    assert not supported
    assert "overdetermined, index1, index2" in reason
    assert not baselines.get("casadi_idas").supports(p, "index1")[0]
