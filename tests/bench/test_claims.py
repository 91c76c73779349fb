"""Claims hold as things are, and fail when what they say is broken on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import baselines
import herk
import testset
from herk.bench import claims, record
from herk.bench.claims import check, drift, orders, references, studied, work_precision
from herk.bench.store import NAME, Store
from herk.core import InputError, Problem
from herk.integrate.steppers.half_explicit.tableau import Tableau


def silent(_: str) -> None:
    pass


def test_every_method_has_the_order_it_claims():
    found = list(orders(herk.METHODS))
    assert len(found) == len(herk.METHODS)
    assert [claim.text for claim in found if not claim.holds] == []


def test_tampered_coefficient_breaks_the_order_claim():
    rk4 = herk.METHODS["rk4"]
    weights = rk4.b + np.array([0.01, -0.01, 0.0, 0.0])  # still consistent, but no longer of order 2
    [claim] = orders({"rk4": Tableau(name="rk4", order=4, A=rk4.A, b=weights, c=rk4.c)})
    assert not claim.holds
    assert "observed 1.0" in claim.evidence


class Careless:
    """A solver that loses the constraints a little more with every point."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def prepare(self, problem, form):
        return self.inner.prepare(problem, form)

    def solve(self, prepared, settings):
        solution = self.inner.solve(prepared, settings)
        away = np.zeros_like(solution.y)
        away[0] = 1e-9 * solution.t / solution.t[-1]
        return replace(solution, y=solution.y + away)


def test_drifted_points_break_the_claim_whatever_the_solver_says_about_itself(monkeypatch):
    monkeypatch.setattr(claims, "DRIFTS", ())
    [honest] = drift(5, silent)
    assert honest.holds
    [careless] = drift(5, silent, lambda name: Careless(baselines.get(name)))
    assert not careless.holds
    assert "largest residual" in careless.evidence


@pytest.mark.slow
def test_reduced_forms_drift_visibly(monkeypatch):
    monkeypatch.setattr(claims, "KEEPS", ())
    found = list(drift(100, silent))
    assert len(found) == 2
    assert [claim.evidence for claim in found if not claim.holds] == []


def with_wrong_digit(name: str) -> Problem:
    """Return a problem whose reference is wrong in its seventh digit."""
    problem = testset.get(name)
    wrong = np.array(problem.reference.y)
    wrong[0] *= 1 + 3e-7
    return replace(problem, reference=replace(problem.reference, y=wrong, exact=None))


def test_reference_is_confirmed_by_two_independent_solvers():
    [claim] = references(["cv_circuit"], silent)
    assert claim.holds, claim.evidence
    assert claim.evidence.count("agrees") == 2


def test_wrong_digit_of_a_reference_is_found():
    [claim] = references(["cv_circuit"], silent, with_wrong_digit)
    assert not claim.holds
    assert "differs" in claim.evidence


def test_problem_without_reference_claims_nothing():
    assert list(references(["wind_pendulum_printed"], silent)) == []


def test_claims_of_studies_are_passed_on_as_recorded():
    records = [
        record.make("claim", study="thesis", text=text, holds=text == "good", evidence="seen")
        for text in ("good", "bad")
    ]
    assert [(claim.text, claim.holds) for claim in studied(records, silent)] == [
        ("thesis: good", True),
        ("thesis: bad", False),
    ]


def run(solver: str, rtol: float, error: float, seconds: float):
    form = "overdetermined" if solver.startswith("herk_") else "ode"
    return record.make(
        "run",
        study="work_precision",
        problem="pendulum",
        changes="{}",
        form=form,
        solver=solver,
        solver_version="",
        rtol=rtol,
        atol=rtol,
        step=None,
        options="{}",
        status="ok",
        error_end=error,
        cpu_min=seconds,
    )


@pytest.mark.parametrize(("foreign", "holds"), [(0.1, True), (0.001, False)])
def test_claim_about_time_follows_the_records(foreign, holds):
    runs = [
        run("herk_dop853", 1e-9, 1e-9, 0.01),
        run("scipy_lsoda", 1e-9, 1e-9, foreign),
        run("scipy_lsoda", 1e-3, 1e-4, 1e-6),
    ]
    [claim] = work_precision(runs, silent)
    assert claim.holds is holds
    assert "scipy_lsoda" in claim.evidence
    assert list(work_precision(runs[:1], silent)) == []


def test_a_solver_of_any_foreign_family_counts_and_our_radau5_does_not():
    rival = {"kind": "solver", "solver": "newcomer", "family": "newcomers"}
    runs = [run("herk_dop853", 1e-9, 1e-9, 0.01), run("newcomer", 1e-9, 1e-9, 0.005)]
    [claim] = work_precision([rival, *runs], silent)
    assert not claim.holds
    ours = run("radau5", 1e-9, 1e-9, 0.005)
    assert list(work_precision([runs[0], ours], silent)) == []


def test_the_control_without_constraints_does_not_stand_for_the_half_explicit_method():
    runs = [
        run("herk_dop853", 1e-9, 1e-9, 0.01),
        run("scipy_lsoda", 1e-9, 1e-9, 0.005),
        {**run("herk_dop853", 1e-9, 1e-9, 1e-4), "form": "ode"},
    ]
    [claim] = work_precision(runs, silent)
    assert not claim.holds


def test_check_of_chosen_problems_looks_at_their_references_only(tmp_path):
    said: list[str] = []
    [claim] = check(tmp_path, said.append, problems="acad*")
    assert claim.holds, claim.evidence
    assert said == ["reference of academic"]
    with pytest.raises(InputError, match="No problem fits"):
        check(tmp_path, silent, problems="none*")


@pytest.mark.slow
def test_quick_check_collects_every_kind_of_claim(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "QUICK", ("academic",))
    Store(tmp_path / NAME).append(
        [record.make("claim", study="thesis", text="kept", holds=True, evidence="")]
    )
    found = check(tmp_path, silent, quick=True)
    texts = " | ".join(claim.text for claim in found)
    for words in (
        "dopri5 has order 5",
        "keeps all constraints",
        "drifts visibly",
        "reference of academic",
        "thesis: kept",
    ):
        assert words in texts
    assert [claim for claim in found if not claim.holds] == []


def test_references_of_large_problems_are_checked_where_they_are_named():
    assert not set(claims.chosen("*")) & set(testset.names("large"))
    assert claims.chosen("two_bit_adder") == ["two_bit_adder"]
