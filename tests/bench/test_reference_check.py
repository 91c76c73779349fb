"""Who may confirm a reference.

Independent solvers, each to the accuracy it shows by itself, and nobody silently.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import baselines
import testset
from herk.bench import agreement, reference_check
from herk.bench.reference_check import Verdict, Vote, ballot, one, verdicts
from herk.core import Reason, Settings, Solution


def vote(solver: str, confirms: bool = True) -> Vote:
    return Vote(solver, "index1", 1e-9, 1e-9, confirms)


def test_two_votes_of_the_same_kind_or_library_confirm_nothing():
    def holds(*votes: Vote) -> bool:
        return Verdict("any", votes).holds

    assert holds(vote("ida_sundae_jac"), vote("scipy_radau"))
    assert not holds(vote("ida_sundae_jac"), vote("ida_scikits"))
    assert not holds(vote("scipy_radau"), vote("solve_dae_radau"))
    assert not holds(vote("scipy_radau"), vote("scipy_lsoda"))
    assert not holds(vote("ida_sundae_jac"), vote("scipy_radau"), vote("herk_dop853", confirms=False))
    assert not holds(vote("scipy_radau"))
    assert not holds()


def test_verdict_without_a_second_solver_says_so_and_why():
    text = Verdict(
        "any", (vote("radau5"),), ("ida_sundae_jac on index1: The time limit of 30 s was reached.",)
    ).evidence
    assert text.startswith("1 solver(s) reached it, two of different kind and library are needed")
    assert "time limit" in text
    assert "needed" not in Verdict("any", (vote("radau5"), vote("ida_sundae_jac", confirms=False))).evidence


def test_first_referees_are_independent_of_each_other_and_exist():
    for name, ((first, form), (second, other)) in reference_check.FIRST.items():
        problem = testset.get(name)
        assert reference_check.independent(first, second)
        assert baselines.get(first).supports(problem, form)[0]
        assert baselines.get(second).supports(problem, other)[0]


def test_referees_are_asked_by_form_and_explicit_ones_on_their_own_form_only():
    found = agreement.referees(reference_check.FORMS)
    assert found[:3] == [("ida_sundae_jac", "index1"), ("radau5", "index1"), ("solve_dae_radau", "index1")]
    assert [form for name, form in found if name == "herk_dop853"] == ["overdetermined"]
    assert [name for name, form in found if form == "ode"] == ["radau5", "scipy_lsoda", "scipy_radau"]


def test_ballot_states_the_accuracy_of_the_solver_itself():
    found = ballot(baselines.get("ida_sundae_jac"), "index1", testset.get("academic"))
    assert found.confirms
    assert 1e-13 < found.own < 1e-7
    assert found.error < 3 * found.own


class Scripted:
    """A solver whose end values are the reference of the problem plus an error given for each tolerance.

    What is exact is exact.
    """

    name, family, tags = "scripted", "own", frozenset()

    def __init__(self, errors: dict[float, float], nstep: int = 10, failing: tuple[float, ...] = ()) -> None:
        self.errors, self.nstep, self.failing, self.asked = errors, nstep, failing, []

    def prepare(self, problem, form):
        return problem

    def solve(self, problem, settings: Settings) -> Solution:
        self.asked.append(settings)
        away = self.errors.get(settings.rtol, 0.0)
        (start, stop), exact = problem.t_span, problem.reference.exact
        t = [start, stop] if exact is None else [start, start + 0.57 * (stop - start), stop]
        y = np.column_stack([problem.y0, *map(exact, t[1:-1]), problem.reference.y * (1 + away)])
        reason = Reason.TIME_LIMIT if settings.rtol in self.failing else Reason.FINISHED
        return Solution(t=np.array(t), y=y, reason=reason, message="too hard", nstep=self.nstep)


def scripted(errors, **more):
    solver = Scripted(errors, **more)
    return solver, ballot(solver, "index1", testset.get("academic"))


def test_solver_that_trusts_itself_and_misses_the_reference_differs():
    _, found = scripted({1e-8: 1e-6, 1e-9: 1e-6, 1e-11: 1e-6, 1e-12: 1e-6})
    assert found.own == 0.0
    assert not found.confirms


def test_solver_that_misses_by_what_it_claims_to_know_agrees():
    _, found = scripted({1e-8: 2e-6, 1e-9: 1e-6, 1e-11: 2e-9, 1e-12: 1e-9})
    assert found.confirms
    assert found.own == pytest.approx(1e-9, rel=0.1)


def test_solver_without_four_digits_of_its_own_has_no_vote():
    _, found = scripted({1e-8: 1e-2, 1e-9: 0.0, 1e-11: 1e-2, 1e-12: 0.0})
    assert isinstance(found, str)
    assert "no vote" in found


def test_looser_pair_counts_where_the_tighter_one_is_not_solved():
    _, found = scripted({1e-8: 2e-6}, failing=(1e-12,))
    assert found.own == pytest.approx(2e-6, rel=0.1)
    _, found = scripted({}, failing=(1e-9,))
    assert found == "scripted on index1, rtol 1e-08: too hard"


def test_tighter_pair_is_left_out_where_it_would_take_too_many_steps_or_show_nothing_new():
    solver, _ = scripted({1e-8: 1e-6})
    assert len(solver.asked) == 5
    solver, _ = scripted({1e-8: 1e-6}, nstep=reference_check.MANY_STEPS + 1)
    assert len(solver.asked) == 3
    solver, found = scripted({})  # both runs of the first pair give all digits
    assert len(solver.asked) == 3
    assert found.confirms


def test_least_sizes_are_those_the_problem_states():
    pump = testset.get("charge_pump")
    solver = Scripted({})
    ballot(solver, "index1", pump)
    for settings in solver.asked:
        assert max(settings.atol[5:8]) >= settings.rtol  # voltages
        assert (
            max(settings.atol[:5]) < 1e-9 * settings.rtol
        )  # charges are far smaller than a billionth of the voltages


def test_first_run_has_sizes_from_start_and_end():
    """Flows of a thousandth beside pressures of 1e5.

    With one absolute tolerance for both, no implicit solver gets through.
    """
    tube = testset.get("water_tube")
    solver = Scripted({})
    ballot(solver, "index2", tube)
    flows, pressures = (
        np.array(solver.asked[0].atol)[list(tube.groups[group])] for group in ("flows", "pressures")
    )
    assert flows.max() < 1e-2 * reference_check.ROUGH
    assert pressures.min() > 1e4 * reference_check.ROUGH


def test_verdicts_come_in_the_order_of_names_whatever_ends_first(monkeypatch):
    def slow_first(name, _):
        time.sleep(0.3 if name == "a" else 0.0)
        return None if name == "b" else Verdict(name, ())

    monkeypatch.setattr(reference_check, "one", slow_first)
    said: list[str] = []
    assert [each.problem for each in verdicts(["a", "b", "c"], said.append, jobs=2)] == ["a", "c"]
    assert sorted(said) == ["reference of a", "reference of b", "reference of c"]


def test_error_of_ours_is_not_swallowed(monkeypatch):
    def broken(*_):
        raise OSError("no process")

    monkeypatch.setattr(reference_check, "one", broken)
    with pytest.raises(OSError, match="no process"):
        list(verdicts(["academic"], lambda _: None))


def test_problem_that_takes_too_long_is_not_confirmed(monkeypatch):
    monkeypatch.setattr(reference_check, "PROBLEM_LIMIT", 0.0)
    found = one("academic")
    assert not found.holds
    assert "time allowed was used up" in found.evidence
